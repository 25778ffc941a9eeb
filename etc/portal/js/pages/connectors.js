// Connectors: cards of the catalogue; #/connectors/{id} is one, with the form of its install and what holds an uninstall back.
import { get, request, useData } from '../api.js';
import { html, useRef, useState } from '../html.js';
import { Confirm } from '../parts/confirm.js';
import { nearest, notJson } from '../parts/fields.js';
import { Same, fileName } from '../parts/same.js';
import { SchemaForm, secretsOf } from '../parts/schema_form.js';
import { Empty, Failed, MayNot, Of, Refused } from '../parts/states.js';
import { Json } from '../parts/tree.js';
import { changed, go, to } from '../route.js';
import { may } from '../session.js';
import { Text, brief, plural, shell } from '../text.js';
import { When } from '../time.js';

async function load(signal) {
  const [available, installed] = await Promise.all([get('connectors/available', { signal }), get('connectors', { signal })]);
  const known = new Set(installed.map(one => one.id));
  return [...installed, ...available.filter(one => !known.has(one.id))].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const Card = ({ of }) => html`<li class="panel card"><h2><a href=${to(['connectors', of.id])}><${Text} of=${of.name} bare /></a></h2><p class="small">${of.category} · ${of.version}${of.installed && html` · <span class="state ok">installed</span>`}</p><p><${Text} of=${of.description} /></p></li>`;

function List({ place }) {
  const field = useRef();
  const from = useData(load, []);
  const q = place.query.get('q') ?? '';
  const fits = one => [one.id, one.name, one.category, one.description].some(text => text.toLowerCase().includes(q.toLowerCase()));
  return html`<div class="head"><div><h1 tabindex="-1">Connectors</h1><p>Resources that are made ready: upstream, routes, tools and scopes. Your settings and a credential complete one.</p></div></div>
    <form class="pills" role="search" aria-label="Connectors" onSubmit=${event => { event.preventDefault(); go(changed(place, { q: field.current.value.trim() || undefined })); }}><input type="search" ref=${field} aria-label="Name or words" placeholder="Name or words" defaultValue=${q} /><button>Filter</button></form>
    <${Of} from=${from} what="The connectors cannot be read">${all => {
      const rows = all.filter(fits);
      return rows.length ? html`<ul class="cards">${rows.map(one => html`<${Card} key=${one.id} of=${one} />`)}</ul>` : html`<section class="panel"><${Empty} title="No connector matches.">${q && html`<p>words <b><${Text} of=${q} /></b> <a href="#/connectors">remove it</a></p>`}<//></section>`;
    }}<//>`;
}

// Where an object that uses the connector can be changed.
const PLACES = {
  managed_resource: one => [to(['resources', one.id]), `resource ${one.name ?? one.id}`], policy_rule: one => [to(['rules', one.name]), `rule ${one.name}`],
  user_connection: one => [to(['resources', one.id], { tab: 'connections' }), `${plural(one.count ?? 0, 'connected account')} of ${one.id}`],
  client_entitlement: one => (one.name === 'clients' ? [to(['clients', one.id], { tab: 'rights' }), `rights of the client ${one.id}`] : [to(['data', 'svc.entitlements.bindings']), `rights of ${one.name} ${one.id}`]),
};

function Blockers({ list }) {
  return html`<div class="refused" role="alert"><b>Not uninstalled: ${plural(list.length, 'object uses', 'objects use')} it.</b><ul>${list.map(one => {
    const [href, words] = PLACES[one.type]?.(one) ?? ['#/connectors', `${one.type} ${one.id}`];
    return html`<li><a href=${href}>${brief(words)}</a></li>`;
  })}</ul></div>`;
}

function Install({ connector, done }) {
  const { manifest } = connector, schema = { type: 'object', properties: {}, ...manifest.settings };
  const [settings, set] = useState({});
  const [name, setName] = useState(connector.id);
  const [error, setError] = useState();
  const [busy, setBusy] = useState(false);
  const path = `connectors/${encodeURIComponent(connector.id)}/install`;
  const body = { settings, createResources: true, ...(name && name !== connector.id ? { name } : {}) };
  const secrets = secretsOf(schema, schema).map(one => `settings.${one}`);
  const submit = async event => {
    event.preventDefault();
    if (busy || notJson(event.target)) return;
    setBusy(true);
    try { await request('POST', path, { body }); setError(); done(); } catch (fault) { setError(fault); }
    setBusy(false);
  };
  const readOnly = !may('operator');
  const inner = { type: 'object', required: ['settings'], properties: { name: { type: 'string', title: 'Name of the resource', description: 'Its paths begin with /gateway/ and this name' }, settings: { ...schema, title: 'Settings' } } };
  return html`<div class="cols wide"><div><${MayNot} role="operator" />${error && html`<${Refused} error=${error} fieldId=${nearest} />`}
      <form class="panel" onSubmit=${submit} noValidate><header><h2>Install</h2></header><div class="in">
        <${SchemaForm} schema=${inner} value=${{ name, settings }} set=${next => { setName(next.name ?? ''); set(next.settings ?? {}); }} error=${error} readOnly=${readOnly} />
        <div class="acts">${!readOnly && html`<button class="main" disabled=${busy}>Install, and make its resource</button>`}<a class="button" href="#/connectors">Cancel</a></div></div></form></div>
    <${Same} file=${{ path: `connectors/${fileName(connector.id)}.json`, value: { settings } }} authzctl=${`authzctl connector install --create${body.name ? ` --name ${shell(body.name)}` : ''} ${shell(connector.id)}`} method="POST" path=${path} body=${body} secrets=${secrets} /></div>`;
}

function Installed({ connector, again }) {
  const [asks, ask] = useState(false);
  const [said, say] = useState({});
  const path = `connectors/${encodeURIComponent(connector.id)}`;
  const sync = async () => { say({ busy: true }); try { say({ report: (await request('POST', `${path}/sync`)).data }); again(); } catch (error) { say({ error }); } };
  const uninstall = async () => {
    try { await request('DELETE', path); again(); } catch (error) { if (error.code !== 'connector_in_use') throw error; say({ blockers: error.body.blockers }); }
  };
  return html`${said.blockers && html`<${Blockers} list=${said.blockers} />`}${said.error && html`<section class="panel"><${Failed} what="The sync failed" error=${said.error} /></section><p></p>`}
    <div role="status">${said.report && html`<div class="done"><b>Synced with the catalogue.</b><${Json} of=${said.report} /></div>`}</div>
    ${may('operator') && html`<div class="acts"><button type="button" onClick=${sync} disabled=${said.busy}>Sync with the catalogue</button><button type="button" class="danger" onClick=${() => ask(true)}>Uninstall…</button></div><p></p>`}
    ${asks && html`<${Confirm} title=${`Uninstall ${connector.id}?`} type=${connector.id} verb="Uninstall it" act=${uninstall} close=${() => ask(false)}><p>${plural((connector.manifest.scopes ?? []).length, 'scope')} and ${plural((connector.manifest.policyData ?? []).length, 'row of policy data', 'rows of policy data')} go with it. Nothing happens while a resource, a rule or a client uses it.</p><//>`}`;
}

function One({ id }) {
  const from = useData(signal => get(`connectors/${encodeURIComponent(id)}`, { signal }), [id]);
  return html`<${Of} from=${from} what="The connector cannot be read" whole>${connector => {
    const { manifest } = connector, scopes = manifest.scopes ?? [], egress = manifest.egress ?? [];
    return html`<div class="head"><div><a class="back" href="#/connectors">Connectors</a><h1 tabindex="-1"><${Text} of=${connector.name} /></h1>
        <p><code><${Text} of=${connector.id} /></code> · ${connector.version} · <span class=${`state ${connector.installed ? 'ok' : 'off'}`}>${connector.installed ? 'installed' : 'not installed'}</span>${connector.installedAt ? html` since <${When} at=${connector.installedAt} />` : ''}</p><p><${Text} of=${connector.description} /></p></div></div>
      ${connector.installed ? html`<${Installed} connector=${connector} again=${from.again} />` : html`<${Install} connector=${connector} done=${from.again} />`}
      <p></p><div class="cols half"><section class="panel"><header><h2>Scopes</h2></header>${scopes.length ? html`<dl class="in facts">${scopes.map(scope => html`<dt><code><${Text} of=${scope.name} /></code></dt><dd><${Text} of=${scope.description ?? ''} />${scope.implies?.length > 0 && html`<span class="small"> with <${Text} of=${scope.implies.join(', ')} /></span>`}</dd>`)}</dl>` : html`<p class="in quiet">Its settings name them.</p>`}
          ${egress.length > 0 && html`<footer><span>Reaches <${Text} of=${egress.join(', ')} /></span></footer>`}</section>
        <section class="panel"><header><h2>Manifest</h2></header><details class="in"><summary>As JSON</summary><${Json} of=${manifest} /></details></section></div>`;
  }}<//>`;
}

export default function Connectors({ place }) {
  return place.path[1] !== undefined ? html`<${One} key=${place.path[1]} id=${place.path[1]} />` : html`<${List} place=${place} />`;
}
