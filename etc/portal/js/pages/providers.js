// Identity providers: the list; #/providers/{idpId} is one, with its warnings at their fields, #/providers?new=1 a new one.
import { get, request, useData } from '../api.js';
import { html, useEffect, useRef, useState } from '../html.js';
import { useKeys } from '../keys.js';
import { Changes } from '../parts/changes.js';
import { Confirm } from '../parts/confirm.js';
import { Copy } from '../parts/elsewhere.js';
import { LostAccounts, LostSessions, LostTokens } from '../parts/lost.js';
import { ObjectForm, schemaOf } from '../parts/object_form.js';
import { Empty, Of } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { changed, go, to } from '../route.js';
import { may } from '../session.js';
import { Text, plural } from '../text.js';

const KIND = { path: 'identity-providers', key: 'idpId', folder: 'providers', authzctl: 'idp', noun: 'identity provider' };
const FIRST = ['idpId', 'name', 'issuer', 'clientId', 'clientSecret', 'scopes', 'enabled'];
const TITLES = { idpId: 'Id', jwksUri: 'Address of its keys', enabled: 'People can sign in there', claims: 'Claims that are kept', clientSecretExpiresAt: 'End of the secret', discoveryUrl: 'Address of its metadata', issuerAliases: 'Other texts of its issuer', tokenAuthMethod: 'Our authentication there', backchannelNotificationEndpoint: 'Address for CIBA requests', authorizeParams: 'More parameters of the sign-in', sendsAuthTime: 'It tells when the person signed in' };
const HOME = 'its people keep their sub as their name';

const State = ({ of }) => html`<span class=${`state ${of.enabled ? 'ok' : 'off'}`}>${of.enabled ? 'enabled' : 'disabled'}</span>`;

const COLUMNS = [
  { title: 'Provider', cell: row => html`<a class="strong" href=${to(['providers', row.idpId])}><${Text} of=${row.name || row.idpId} bare /></a><span class="second"><code><${Text} of=${row.idpId} /></code></span>` },
  { title: 'State', cell: row => html`<${State} of=${row} />` }, { title: 'Issuer', cell: row => html`<code><${Text} of=${row.issuer} /></code>` },
  { title: 'Our client there', cell: row => html`<code><${Text} of=${row.clientId ?? '–'} /></code>` }, { title: 'Scopes', cell: row => html`<${Text} of=${(row.scopes ?? []).join(' ')} />` },
];

function List({ place }) {
  const from = useData(signal => get('identity-providers', { signal }), []);
  const fresh = changed(place, { new: 1 });
  useKeys({ n: may('operator') ? () => go(fresh) : undefined });
  const button = may('operator') && html`<a class="button main" href=${fresh}>New provider <kbd aria-hidden="true">n</kbd></a>`;
  return html`<div class="head"><div><h1 tabindex="-1">Identity providers</h1><p>Where people sign in. Policy sees which one a person came from.</p></div><div class="acts">${button}</div></div>
    <section class="panel" aria-label="List"><${Of} from=${from} what="The providers cannot be read">${rows => (rows.length ? html`<${Table} label="Identity providers" columns=${COLUMNS} rows=${rows} key=${row => row.idpId} />`
      : html`<${Empty} title="No identity provider yet.">No person can sign in until there is one; programs need none. The usual first one is the OpenID Connect provider of your organisation. <p></p>${button}<//>`)}<//></section>`;
}

// "tokenEndpoint: is an http URL" stands at its field.
function atFields(warnings) {
  const found = {};
  for (const text of warnings ?? []) {
    const [, name, words] = /^(\w+): (.*)$/s.exec(text) ?? [undefined, 'issuer', text];
    found[name] = found[name] ? `${found[name]}; ${words}` : words;
  }
  return found;
}

// The issuer that the service says; the console can be on a host of its own.
async function issuerOf(signal) {
  const answer = await fetch('../.well-known/openid-configuration', { signal });
  return answer.ok ? (await answer.json()).issuer : new URL('..', location.href).href.replace(/\/$/, '');
}

function Register({ provider }) {
  const from = useData(issuerOf, []);
  return html`<section class="panel"><header><h2>To register at the provider</h2></header><${Of} from=${from} what="The issuer cannot be read">${issuer => html`<dl class="in uris">
    ${[['Redirect URI', `${issuer}/authorize/callback/${encodeURIComponent(provider.idpId)}`], ...(provider.backchannelNotificationEndpoint ? [['Where it sends the answers of people (CIBA)', `${issuer}/bc-authorize/callback`]] : [])].map(([name, uri]) => html`<dt>${name}</dt><dd><code class="uri"><${Text} of=${uri} whole /></code> <${Copy} text=${uri} label=${`Copy ${name.split(' ')[0] === 'Redirect' ? 'redirect URI' : 'address'}`} /></dd>`)}
    </dl>`}<//></section>`;
}

const SOURCE = { setting: 'SVC_SUBJECT_HOME_ISSUER names it', stored: 'It is stored', oldest: 'It is that of the oldest provider, as long as none is stored', none: 'There is none' };

// Whose people keep their sub as their name.
function Home({ provider }) {
  const from = useData(signal => get('home-issuer', { signal }), []);
  const [asks, ask] = useState(false);
  const [told, tell] = useState([]);
  const act = async () => { tell((await request('PUT', 'home-issuer', { body: { idpId: provider.idpId } })).data.consequences ?? []); from.again(); };
  return html`<section class="panel"><header><h2>Home issuer</h2></header><${Of} from=${from} what="The home issuer cannot be read">${home => html`<div class="in"><p>${home.issuer === provider.issuer ? html`<span class="state ok">It is this one</span>: ${HOME}` : home.issuer ? html`It is <code><${Text} of=${home.issuer} /></code>; people of this provider are named <code><${Text} of=${provider.idpId} />|sub</code>` : `People of this provider are named ${provider.idpId}|sub`}. <span class="quiet">${SOURCE[home.source]}.</span></p>
      <div role="status">${told.map(one => html`<p><${Text} of=${one} />.</p>`)}</div>
      ${may('operator') && home.issuer !== provider.issuer && home.source !== 'setting' && provider.enabled && html`<button type="button" onClick=${() => ask(true)}>Make it the home issuer…</button>`}</div>`}<//></section>
    ${asks && html`<${Confirm} title=${`Make ${provider.issuer} the home issuer?`} type=${provider.idpId} verb="Make it the home issuer" act=${act} close=${() => ask(false)}><p>New people of this provider get their sub as their name, so what rules, rows and delegations say of such a name holds for them. Names that people have stay.</p><//>`}<p></p>`;
}

function Asks({ asks, provider, path, save, close }) {
  const gone = async () => { await request('DELETE', path); go('#/providers'); };
  const name = provider.idpId;
  return {
    disable: () => html`<${Confirm} title=${`Disable ${name}?`} verb="Disable it" act=${() => save({ enabled: false })} close=${close}><p>No person can sign in there, and consoles of its people end.</p><//>`,
    enable: () => html`<${Confirm} title=${`Enable ${name}?`} verb="Enable it" act=${() => save({ enabled: true })} close=${close}><p>People can sign in there.</p><//>`,
    delete: () => html`<${Confirm} title=${`Delete ${name}?`} type=${name} verb="Delete it" act=${gone} close=${close}><p><${LostSessions} of=${{ idpId: name }} />, <${LostTokens} of=${{ idpId: name }} /> and <${LostAccounts} of=${{ idpId: name }} /> of its people go with it, and what they delegated. The people and their audit rows stay.</p><//>`,
  }[asks]?.();
}

function One({ id }) {
  const path = `identity-providers/${encodeURIComponent(id)}`;
  const from = useData(async signal => {
    const [{ data, headers }, schema] = await Promise.all([request('GET', path, { signal }), schemaOf('IdentityProviderDto', signal)]);
    return { stored: { value: data, etag: headers.get('ETag') }, schema };
  }, [id]);
  const [said, say] = useState();
  const [asks, ask] = useState();
  useEffect(() => say(), [id]);
  const saved = data => { say(data); from.again(); };
  const save = async change => {
    const { warnings: _, home: __, id: ___, ...rest } = from.data.stored.value;
    saved((await request('PUT', path, { body: { ...rest, ...change }, headers: from.data.stored.etag ? { 'If-Match': from.data.stored.etag } : {} })).data);
  };
  return html`<${Of} from=${from} what="The provider cannot be read" whole>${({ stored, schema }) => {
    const provider = stored.value, warnings = said?.warnings ?? provider.warnings;
    return html`<div class="head"><div><a class="back" href="#/providers">Identity providers</a><h1 tabindex="-1"><${Text} of=${provider.name || provider.idpId} /></h1>
        <p><code><${Text} of=${provider.idpId} /></code> · <code><${Text} of=${provider.issuer} /></code> · <${State} of=${provider} />${said?.home ? ` · ${HOME}` : ''}</p></div>
      <div class="acts">${provider.enabled && html`<a class="button" target="_blank" rel="noopener noreferrer" href=${`../account?idp_hint=${encodeURIComponent(provider.idpId)}`}>Try sign-in</a>`}
        ${may('operator') && html`<button type="button" onClick=${() => ask(provider.enabled ? 'disable' : 'enable')}>${provider.enabled ? 'Disable…' : 'Enable…'}</button><button type="button" class="danger" onClick=${() => ask('delete')}>Delete…</button>`}</div></div>
      <div role="status">${said && html`<p class=${said.warnings?.length ? 'note' : 'done'}>The provider is saved.${said.warnings?.length ? ` ${plural(said.warnings.length, 'warning')}: at ${Object.keys(atFields(said.warnings)).join(', ')}.` : ''}</p>`}</div>
      ${provider.faults?.map(one => html`<p class="note">Sign-ins end with <code><${Text} of=${one.code} bare /></code> since <${Text} of=${one.firstAt} />, last <${Text} of=${one.lastAt} />: doc/errors.md has cause and cure.</p>`)}
      <p class="small">Try sign-in opens the account page in a new tab; a browser in which a person is signed in shows that person, so use a private window.</p>
      <${Register} provider=${provider} /><p></p><${Home} provider=${provider} />${may('operator') && html`<${Ask} issuer=${provider.issuer} provider=${provider} />`}
      <${ObjectForm} key=${stored.etag} kind=${KIND} schema=${schema} stored=${stored} first=${FIRST} titles=${TITLES} warningsOf=${() => atFields(warnings)} saved=${saved} />
      <p></p><${Changes} object=${provider.idpId} />
      ${asks && Asks({ asks, provider, path, save, close: () => ask() })}`;
  }}<//>`;
}

// Ask a provider before it is stored, or again: its metadata and keys.
function Ask({ issuer, provider = {} }) {
  const field = useRef();
  const [state, set] = useState();
  const act = async event => {
    event.preventDefault();
    set({ busy: true });
    const { warnings: _, home: __, id: ___, ...rest } = provider;
    try { set({ data: (await request('POST', 'identity-providers/check', { body: { ...rest, issuer: field.current.value.trim() } })).data }); } catch (error) { set({ error }); }
  };
  return html`<section class="panel"><header><h2>Ask the provider</h2></header><form class="in" onSubmit=${act}><label>Issuer <input ref=${field} defaultValue=${issuer ?? ''} /></label> <button disabled=${state?.busy}>Ask it</button> <span class="small">Nothing is stored.</span>
    <div role="status">${state?.error && html`<p class="state no"><${Text} of=${Object.values(state.error.fields)[0] ? `issuer ${Object.values(state.error.fields)[0]}` : state.error.message} /></p>`}
      ${state?.data && html`<p class=${`state ${state.data.ok ? 'ok' : 'warn'}`}>${state.data.ok ? `It answers, with ${plural(state.data.keys, 'key')}` : plural(state.data.warnings.length, 'warning')}</p>${state.data.warnings.map(one => html`<p><${Text} of=${one} /></p>`)}`}</div></form></section><p></p>`;
}

function New() {
  const from = useData(signal => schemaOf('IdentityProviderDto', signal), []);
  return html`<div class="head"><div><a class="back" href="#/providers">Identity providers</a><h1 tabindex="-1">New identity provider</h1><p>Its endpoints come from the metadata of the issuer.</p></div></div>
    ${may('operator') && html`<${Ask} />`}
    <${Of} from=${from} what="The form cannot be made">${schema => html`<${ObjectForm} kind=${KIND} schema=${schema} start=${{ enabled: true, sendsAuthTime: true, scopes: ['openid', 'email', 'profile'] }} first=${FIRST} titles=${TITLES} cancel="#/providers" saved=${data => go(to(['providers', data.idpId]))} />`}<//>`;
}

export default function Providers({ place }) {
  if (place.path[1] !== undefined) return html`<${One} key=${place.path[1]} id=${place.path[1]} />`;
  return place.query.get('new') ? html`<${New} />` : html`<${List} place=${place} />`;
}
