// The frame: the bar above, the rail, the page of the place.
import { get } from './api.js';
import { count, useDraft } from './draft.js';
import { Find } from './find.js';
import { html, render, useEffect, useErrorBoundary, useRef, useState } from './html.js';
import { KEYS, isOff, keepFocus, turn, useKeys } from './keys.js';
import { Mark, SignIn, SignInByLink, SignedOut } from './parts/signin.js';
import { Loading } from './parts/states.js';
import { go, to, usePlace } from './route.js';
import { hasLink, onSession, read, session, signOut } from './session.js';
import { brief, number, plural } from './text.js';

// The pages in the order of the rail: [name, title, module, key after g]. A group begins with its title alone.
const PAGES = [
  ['', 'Overview', 'overview', 'o'], ['decisions', 'Decisions', 'decisions', 'd'],
  ['Access'], ['clients', 'Clients', 'clients', 'c'], ['people', 'People', 'people', 'p'], ['providers', 'Identity providers', 'providers', 'i'],
  ['Gateway'], ['resources', 'Resources', 'resources', 'm'], ['connectors', 'Connectors', 'connectors', 'n'],
  ['Policy'], ['rules', 'Rules', 'rules', 'r'], ['data', 'Data', 'data'], ['controls', 'Controls', 'controls'], ['try', 'Try', 'try', 't'], ['revisions', 'Revisions', 'revisions', 'v'],
  ['Service'], ['report', 'Report', 'report'], ['keys', 'Keys', 'keys', 'k'], ['system', 'System', 'system', 's'],
];
// Pages that the rail does not show.
const OTHERS = { review: 'review', why: 'why' };
const moduleOf = name => PAGES.find(page => page[2] && page[0] === name)?.[2] ?? OTHERS[name];

const THEME = 'authz.theme';
const theme = value => {
  if (value) document.documentElement.dataset.theme = value;
  else delete document.documentElement.dataset.theme;
};
theme(localStorage.getItem(THEME));

function Menu({ close }) {
  const [chosen, choose] = useState(localStorage.getItem(THEME) ?? '');
  const [off, setOff] = useState(isOff());
  const [fault, tell] = useState();
  const box = useRef();
  useEffect(() => {
    box.current.querySelector('input').focus();
    const outside = event => { if (!box.current?.parentElement.contains(event.target)) close(); };
    addEventListener('click', outside);
    return () => removeEventListener('click', outside);
  }, []);
  const pick = value => {
    if (value) localStorage.setItem(THEME, value);
    else localStorage.removeItem(THEME);
    theme(value);
    choose(value);
  };
  return html`<div class="menu" ref=${box} onKeyDown=${event => { if (event.key === 'Escape') { event.preventDefault(); close(true); } }} onFocusOut=${event => { if (event.relatedTarget && !box.current?.parentElement.contains(event.relatedTarget)) close(); }}>
    <fieldset><legend>Colours</legend>
      ${[['', 'As the system'], ['light', 'Light'], ['dark', 'Dark']].map(([value, label]) => html`<label><input type="radio" name="theme" checked=${chosen === value} onChange=${() => pick(value)} />${label}</label>`)}
    </fieldset>
    <fieldset><legend>Keyboard</legend><label><input type="checkbox" checked=${off} onChange=${event => { turn(event.target.checked); setOff(event.target.checked); }} />No single keys</label></fieldset>
    <button type="button" onClick=${async () => tell(await signOut())}>Sign out</button>
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}
  </div>`;
}

function Who({ who }) {
  const [open, setOpen] = useState(false);
  const button = useRef();
  const close = focus => { setOpen(false); if (focus === true) button.current.focus(); };
  return html`<div class="who">
    <button type="button" ref=${button} aria-expanded=${open} onClick=${() => setOpen(!open)}><b>${brief(who.label)} ·</b> ${who.role}</button>
    ${open && html`<${Menu} close=${close} />`}
  </div>`;
}

// Revision 214 ● on 2 of 2 engines.
function Revision({ place }) {
  const [shown, show] = useState();
  useEffect(() => {
    let gone = false;
    Promise.all([get('bundle-audit/latest'), get('engines')]).then(
      ([latest, engines]) => !gone && show({ latest, present: engines.filter(one => one.present) }), () => !gone && show());
    return () => { gone = true; };
  }, [place.path[0]]);
  if (!shown?.latest) return null;
  const { latest, present } = shown;
  const on = present.filter(one => one.activeRevision === latest.revision).length;
  return html`<span class="revision">Revision <a href=${to(['revisions', String(latest.id)])}>${latest.id}</a> <span class=${`state ${on === present.length ? 'ok' : 'warn'}`}>on ${on} of ${plural(present.length, 'engine')}</span></span>`;
}

function Rail({ current, open }) {
  const [waiting, setWaiting] = useState(0);
  useEffect(() => {
    let gone = false;
    get('attention').then(list => !gone && setWaiting(list.filter(one => one.kind === 'tools_waiting').reduce((sum, one) => sum + one.count, 0)), () => {});
    return () => { gone = true; };
  }, [current === 'resources']);
  const groups = [[]];
  for (const page of PAGES) {
    if (page.length === 1) groups.push([page[0]]);
    else groups.at(-1).push(page);
  }
  const item = ([name, title]) => html`<li><a href=${to(name ? [name] : [])} aria-current=${current === name ? 'page' : undefined}>${title}${name === 'resources' && waiting > 0 && html` <span class="count">${number(waiting)}<span class="hide"> ${waiting === 1 ? 'tool waits' : 'tools wait'}</span></span>`}</a></li>`;
  return html`<nav class=${open ? 'rail open' : 'rail'} id="rail" aria-label="Pages">
    ${groups.map(group => (typeof group[0] === 'string' ? html`<h2>${group[0]}</h2><ul>${group.slice(1).map(item)}</ul>` : html`<ul>${group.map(item)}</ul>`))}
  </nav>`;
}

function KeyList({ close }) {
  const box = useRef();
  useEffect(() => { box.current.showModal(); }, []);
  return html`<dialog ref=${box} onClose=${close} aria-labelledby="keys"><h2 id="keys">Keys</h2>
    <dl class="keys">${KEYS.map(([key, text]) => html`<dt><kbd>${key}</kbd></dt><dd>${text}</dd>`)}</dl>
    <button type="button" onClick=${() => box.current.close()}>Close</button></dialog>`;
}

// Call act with the h1 of the page once it is there, because some pages show theirs after their data. Return what ends the wait.
function onHeading(act) {
  const main = document.querySelector('main');
  const look = () => {
    const heading = main.querySelector('h1');
    if (heading) { watch.disconnect(); act(heading); }
  };
  const watch = new MutationObserver(look);
  watch.observe(main, { childList: true, subtree: true });
  look();
  return () => watch.disconnect();
}

// The module of a page, loaded when the page is opened first. After a change of place h1 has the focus and the title follows.
function Page({ place }) {
  const name = place.path[0] ?? '';
  const [loaded, load] = useState({});
  const [fault, resetFault] = useErrorBoundary();
  const places = place.path.join('/');
  useEffect(() => {
    const file = moduleOf(name);
    resetFault();
    if (!file) { load({ name, Shown: NotThere }); return; }
    import(`./pages/${file}.js`).then(module => load({ name, Shown: module.default }), error => load({ name, Shown: () => html`<p class="refused" role="alert">This page cannot be loaded: ${error.message}. Reload it; an upgrade may have replaced it.</p>` }));
  }, [name]);
  useEffect(() => onHeading(heading => {
    document.title = `${heading.textContent} · Console`;
    if (!document.activeElement?.closest('dialog')) heading.focus();
  }), [places, loaded]);
  if (fault) return html`<div class="refused" role="alert"><h1 tabindex="-1">This page failed</h1><p>${fault.message}</p><button type="button" onClick=${resetFault}>Try again</button></div>`;
  return loaded.name === name ? html`<${loaded.Shown} place=${place} />` : html`<${Loading} slow=${false} />`;
}

const NotThere = () => html`<h1 tabindex="-1">No such page</h1><p><a href="#/">Overview</a></p>`;

function Frame({ who }) {
  const place = usePlace();
  const draft = useDraft();
  const [open, setOpen] = useState(false);
  const [keys, setKeys] = useState(false);
  const jumps = PAGES.filter(page => page[3]).map(([name, , , key]) => [`g ${key}`, () => go(to(name ? [name] : []))]);
  useKeys({ ...Object.fromEntries(jumps), '?': () => setKeys(true) });
  useEffect(() => setOpen(false), [place.path.join('/')]);
  const changes = count(draft);
  return html`<a class="skip" href="#page" onClick=${event => { event.preventDefault(); document.querySelector('main h1')?.focus(); }}>To the page</a>
    <header class="top">
      <a class="brand" href="#/" aria-label=${`${location.host}, Overview`}><${Mark} /><span>${location.host}</span></a>
      <${Find} />
      <div class="rest">
        ${changes > 0 && html`<a class="button" href="#/review">Draft<span class="wide">, ${plural(changes, 'change')}</span></a>`}
        <${Revision} place=${place} />
        <${Who} who=${who} />
        <button type="button" id="menu-button" aria-expanded=${open} aria-controls="rail" onClick=${() => setOpen(!open)}>Menu</button>
      </div>
    </header>
    <div class="body"><${Rail} current=${place.path[0] === 'review' ? 'rules' : place.path[0] ?? ''} open=${open} /><main id="page"><${Page} place=${place} /></main></div>
    ${keys && html`<${KeyList} close=${() => setKeys(false)} />`}
    ${who.ended && html`<${SignedOut} />`}`;
}

function App() {
  const [who, set] = useState(session());
  const [off, setOff] = useState(false);
  const [, again] = useState({});
  useEffect(() => onSession(value => { set(value); again({}); }), []);
  useEffect(() => { read().catch(fault => { setOff(Boolean(fault.off)); set(null); }); }, []);
  if (who === undefined) return null;
  if (hasLink() && !off) return html`<${SignInByLink} who=${who} />`;
  return who ? html`<${Frame} who=${who} />` : html`<${SignIn} off=${off} />`;
}

render(html`<${App} />`, document.getElementById('app'));
keepFocus(document.getElementById('app'));
