// Rules: the tree, the editor, and what a check says. #/rules/{path}?line=10 is one rule, #/rules?new=1 a new one.
import { get, useData } from '../api.js';
import { discard, put, remove, useDraft } from '../draft.js';
import { html, useEffect, useRef, useState } from '../html.js';
import { useKeys } from '../keys.js';
import { check, faultsOf } from '../parts/check.js';
import { Refusal } from '../parts/refusal.js';
import { RuleTree } from '../parts/rule_tree.js';
import { MayNot, Of } from '../parts/states.js';
import { go, to } from '../route.js';
import { may } from '../session.js';
import { Text, plural } from '../text.js';
import { When } from '../time.js';

const START = {
  rego: path => `# Say what the rule denies, and why.\npackage ${path.split('/').slice(0, -1).join('.')}\n\ndeny contains {\n\t"code": "not_allowed", "category": "resource",\n\t"message": "say what the caller may do instead",\n} if {\n\tfalse\n}\n`,
  cedar: () => '// Say what the rule forbids, and why.\nforbid (principal, action, resource)\nwhen { false };\n',
};
const languageOf = path => (path.endsWith('.cedar') ? 'cedar' : 'rego');

async function load(signal) {
  const [rules, latest] = await Promise.all([get('policy-rules', { signal }), get('bundle-audit/latest', { signal })]);
  return { rules, latest };
}

function New({ revision }) {
  const field = useRef();
  const [fault, setFault] = useState('');
  const submit = event => {
    event.preventDefault();
    const path = field.current.value.trim();
    if (!/^custom\/[\w/-]+\.(rego|cedar)$/.test(path)) { setFault('A path begins with custom/ and ends with .rego or .cedar: custom/issue/hours.rego'); field.current.focus(); return; }
    put('rules', path, START[languageOf(path)](path), revision);
    go(to(['rules', path]));
  };
  return html`<form class="panel" onSubmit=${submit}><header><h2>New rule</h2></header><div class="in"><div class="field"><label for="new-path">Path</label>
    <input id="new-path" ref=${field} placeholder="custom/issue/hours.rego" autocomplete="off" spellcheck=${false} aria-describedby="new-help new-fault" />
    <p class="help" id="new-help">The folder is the hook: custom/issue, custom/introspect, custom/gateway, custom/authzen, custom/register.</p><p class="fault" id="new-fault" role="alert">${fault}</p></div>
    <button class="main">Write it</button></div></form>`;
}

// The editor, loaded when a rule is opened first.
export function Code(props) {
  const [Editor, set] = useState();
  useEffect(() => { import('../code/editor.js').then(module => set(() => module.default)); }, []);
  return Editor ? html`<${Editor} ...${props} />` : html`<div class="in quiet" role="status">Loading the editor</div>`;
}

function Rule({ path, rule, latest, draft, place, faults, jump }) {
  const shipped = path.startsWith('svc/');
  const stored = rule?.content ?? '';
  const text = draft.rules[path] ?? stored;
  const readOnly = shipped || !may('operator');
  const line = Number(place.query.get('line')) || undefined;
  const change = now => put('rules', path, now === stored ? undefined : now, latest.revision);
  const at = jump?.path === path ? jump : line && { line };
  const own = useStable(faults.filter(one => one.path === path)), place_ = useStable(at);
  return html`<section class="panel" aria-label=${`Text of ${path}`}><header><h2>Text</h2>
      <span class="quiet">${own.length ? html`<span class="state no">${plural(own.length, 'fault')}</span> · line ${own[0].line}` : shipped ? 'shipped: an upgrade replaces it' : path in draft.rules ? 'changed in your draft' : ''}</span>
      ${path in draft.rules && html`<button type="button" class="plain end" onClick=${() => put('rules', path, undefined)}>Undo the change</button>`}</header>
    <${Code} key=${path} label=${path} language=${languageOf(path)} value=${text} change=${readOnly ? undefined : change} readOnly=${readOnly} list=${own} at=${place_} />
    <footer><span><kbd>Tab</kbd> indents · <kbd>Esc</kbd> then <kbd>Tab</kbd> leaves the editor · <kbd>F8</kbd> next error</span><span>${plural(text.split('\n').length, 'line')}</span></footer></section>`;
}

// Return the first of equal values, so that effects do not run for each rendering.
function useStable(value) {
  const kept = useRef(value);
  if (JSON.stringify(kept.current) !== JSON.stringify(value)) kept.current = value;
  return kept.current;
}

export default function Rules({ place }) {
  const path = place.path.slice(1).join('/') || undefined;
  const from = useData(load, []);
  const draft = useDraft();
  const [outcome, setOutcome] = useState({});
  const [jump, setJump] = useState();
  const latest = from.data?.latest;
  const changed = Object.keys(draft.rules).length + draft.deleteRules.length + Object.keys(draft.data).length > 0;
  const faults = outcome.error ? faultsOf(outcome.error) : [];
  const show = fault => { if (fault.path !== path) return false; setJump({ ...fault, focus: true, n: Math.random() }); return true; };
  const ask = async () => {
    if (!changed || outcome.busy) return;
    setOutcome({ busy: true });
    try { await check(); setOutcome({ good: true }); } catch (error) { setOutcome({ error }); }
  };
  const review = () => go('#/review');
  const next = useRef(0);
  useKeys({
    'Ctrl+s': may('operator') ? ask : undefined, 'Ctrl+Enter': changed ? review : undefined, n: may('operator') ? () => go(to(['rules'], { new: 1 })) : undefined,
    F8: faults.length ? () => { const fault = faults[next.current++ % faults.length]; if (!show(fault)) go(to(['rules', fault.path], { line: fault.line })); } : undefined,
  });
  return html`<${Of} from=${from} what="The rules cannot be read" whole>${({ rules }) => {
    const rule = rules.find(one => one.path === path);
    const known = rule || (path && path in draft.rules);
    return html`<div class="head"><div>${path && html`<a class="back" href="#/rules">Rules</a>`}<h1 tabindex="-1">${path ? html`<${Text} of=${path.split('/').at(-1)} />` : 'Rules'}</h1>
        <p>${path ? html`<${Text} of=${path} />${rule && html` · version ${rule.version} · written <${When} at=${rule.createdAt} />`}` : 'What policy decides by. A change becomes active by a save of the draft, and not before.'}</p></div>
      ${may('operator') && html`<div class="acts">
        ${rule && !path.startsWith('svc/') && html`<button type="button" class="danger" onClick=${() => { remove('rules', path, latest.revision); }}>Delete</button>`}
        ${changed && html`<button type="button" onClick=${() => { discard(); setOutcome({}); }}>Discard draft</button>`}
        <button type="button" onClick=${ask} disabled=${!changed || outcome.busy}>Check <kbd aria-hidden="true">Ctrl S</kbd></button>
        ${changed && html`<a class="button main" href="#/review">Review draft <kbd aria-hidden="true">Ctrl ⏎</kbd></a>`}</div>`}</div>
    <${MayNot} role="operator" />
    <div role="status">${outcome.busy && html`<p class="quiet">The service compiles the draft</p>`}${outcome.good && html`<p class="done">The draft compiles, and its hooks and rows fit. Nothing is saved yet.</p>`}</div>
    ${outcome.error && html`<${Refusal} error=${outcome.error} active=${latest} go=${show} />`}
    <div class="cols rules"><section class="panel" aria-label="Files"><header><h2>Rules</h2>${may('operator') && html`<a class="end" href="#/rules?new=1">New</a>`}</header><${RuleTree} rules=${rules} draft=${draft} current=${path} /></section>
      <div>${place.query.get('new') ? html`<${New} revision=${latest.revision} />`
        : known ? html`<${Rule} path=${path} rule=${rule} latest=${latest} draft=${draft} place=${place} faults=${faults} jump=${jump} />`
          : html`<section class="panel"><div class="in">${path ? html`<p class="strong">No rule has this path.</p>` : html`<p class="strong">Choose a rule, or write a new one.</p><p class="quiet">Rules of your own stand below custom/. They may deny more than the shipped ones, and say more to the caller.</p>`}</div></section>`}</div></div>`;
  }}<//>`;
}
