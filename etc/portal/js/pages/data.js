// Data: the rows of policy data, as a form of their schema or as JSON; changes go into the draft.
import { get, useData, withQuery } from '../api.js';
import { put, remove, useDraft } from '../draft.js';
import { html, useState } from '../html.js';
import { useKeys } from '../keys.js';
import { Changes } from '../parts/changes.js';
import { check, faultsOf } from '../parts/check.js';
import { Refusal } from '../parts/refusal.js';
import { SchemaForm } from '../parts/schema_form.js';
import { MayNot, Of } from '../parts/states.js';
import { Table, Tabs } from '../parts/table.js';
import { changed, go, to } from '../route.js';
import { may } from '../session.js';
import { Text, plural } from '../text.js';
import { When } from '../time.js';
import { Code } from './rules.js';

const pretty = payload => JSON.stringify(typeof payload === 'string' ? JSON.parse(payload) : payload, null, 2);

function List() {
  const from = useData(signal => get('policy-data', { signal }), []);
  const draft = useDraft();
  const columns = [
    { title: 'Row', cell: row => html`<a class="strong" href=${to(['data', row.dataKey])}><code><${Text} of=${row.dataKey} bare /></code></a>` },
    { title: 'Draft', cell: row => (draft.deleteData.includes(row.dataKey) ? html`<span class="state warn">deleted</span>` : row.dataKey in draft.data ? html`<span class="state warn">changed</span>` : '') },
    { title: 'Version', num: true, cell: row => row.version }, { title: 'Written', when: true, cell: row => html`<${When} at=${row.updatedAt} />` },
  ];
  return html`<div class="head"><div><h1 tabindex="-1">Data</h1><p>The rows that rules read: rights of clients, settings of controls, and rows of your own.</p></div></div>
    <section class="panel" aria-label="List"><${Of} from=${from} what="The rows cannot be read">${rows => html`<${Table} label="Rows" columns=${columns} rows=${[...rows].sort((a, b) => (a.dataKey < b.dataKey ? -1 : 1))} key=${row => row.dataKey} />`}<//></section>`;
}

// "/scopes/0" as the form names it: scopes[0].
const atField = pointer => pointer.split('/').slice(1).map(part => part.replaceAll('~1', '/').replaceAll('~0', '~')).reduce((at, part) => (/^\d+$/.test(part) ? `${at}[${part}]` : at ? `${at}.${part}` : part), '');

// The value of a row in a form made of its schema. It keeps the members that the schema does not name.
function RowForm({ schema, value, change, failures, readOnly }) {
  const fields = {};
  for (const one of failures) fields[atField(one.pointer ?? '')] = one.message;
  return html`<div class="in" id="row-form"><${SchemaForm} schema=${schema} value=${value} set=${change} error=${{ fields }} readOnly=${readOnly} /></div>`;
}

// Return the object of a text, or undefined.
function objectOf(text) {
  try { const value = JSON.parse(text); return value && typeof value === 'object' && !Array.isArray(value) ? value : undefined; } catch { return undefined; }
}

// The members of a schema with their meaning.
function Members({ schema }) {
  const members = Object.entries(schema?.properties ?? {});
  if (!members.length) return html`<p class="in quiet">The row has no schema: it holds any JSON.</p>`;
  return html`<dl class="in">${members.map(([name, one]) => html`<dt><code><${Text} of=${name} /></code> <span class="quiet">${[].concat(one.type ?? '').join(' or ')}</span></dt><dd class="small"><${Text} of=${one.description ?? ''} />${one.enum && html` One of <${Text} of=${one.enum.join(', ')} />.`}</dd>`)}</dl>`;
}

// The rules that name the row, and the revisions that have it.
function Readers({ id }) {
  const from = useData(signal => get('policy-rules', { signal }), []);
  const named = new RegExp(`\\bdata\\.${id.replace(/[^\w]/g, '\\$&')}(?!\\w)`);
  return html`<section class="panel"><header><h2>Who reads it</h2><a class="end" href=${to(['revisions'], { dataKey: id })}>Revisions with it</a></header><${Of} from=${from} what="The rules cannot be read">${rules => {
    const found = rules.filter(rule => named.test(rule.content));
    return found.length ? html`<ul class="tree">${found.map(rule => html`<li><a href=${to(['rules', rule.path])}><code><${Text} of=${rule.path} bare /></code>${rule.enabled === false && html` <span class="quiet">off</span>`}</a></li>`)}</ul>` : html`<p class="in quiet">No rule names it by its whole key.</p>`;
  }}<//></section>`;
}

async function load(key, signal) {
  const [row, latest, schema] = await Promise.all([
    get(withQuery('policy-data/by-key', { dataKey: key }), { signal }), get('bundle-audit/latest', { signal }),
    get(withQuery('policy-data/schema', { dataKey: key }), { signal }).catch(fault => { if (fault.status === 404) return undefined; throw fault; }),
  ]);
  return { row, latest, schema };
}

function One({ id, place }) {
  const from = useData(signal => load(id, signal), [id]);
  const draft = useDraft();
  const [outcome, setOutcome] = useState({});
  const ask = async () => { setOutcome({ busy: true }); try { await check(); setOutcome({ good: true }); } catch (error) { setOutcome({ error }); } };
  useKeys({ 'Ctrl+s': id in draft.data ? ask : undefined, 'Ctrl+Enter': () => { location.hash = '#/review'; } });
  const failures = outcome.error ? faultsOf(outcome.error).filter(one => one.dataKey === id) : [];
  return html`<${Of} from=${from} what="The row cannot be read" whole>${({ row, latest, schema }) => {
    const before = pretty(row.payload), text = draft.data[id] ?? before, readOnly = !may('operator');
    const value = objectOf(text), hasForm = schema?.properties && Object.keys(schema.properties).length > 0;
    const tab = hasForm && value ? place.query.get('as') ?? 'form' : 'json';
    const change = now => put('data', id, now === before ? undefined : now, latest.revision);
    return html`<div class="head"><div><a class="back" href="#/data">Data</a><h1 tabindex="-1"><${Text} of=${schema?.title ?? id} /></h1><p><code><${Text} of=${id} /></code> · version ${row.version} · written <${When} at=${row.updatedAt} /></p></div>
        ${may('operator') && html`<div class="acts">${!id.startsWith('svc.') && html`<button type="button" class="danger" onClick=${() => remove('data', id, latest.revision)}>Delete</button>`}
          <button type="button" onClick=${ask} disabled=${!(id in draft.data) || outcome.busy}>Check <kbd aria-hidden="true">Ctrl S</kbd></button>${id in draft.data && html`<a class="button main" href="#/review">Review draft</a>`}</div>`}</div>
      <${MayNot} role="operator" /><div role="status">${outcome.good && html`<p class="done">The draft is valid. Nothing is saved yet.</p>`}</div>
      ${outcome.error && (outcome.error.status ? html`<${Refusal} error=${outcome.error} active=${latest} />` : html`<p class="refused" role="alert"><${Text} of=${outcome.error.message} /></p>`)}
      <div class="cols wide"><section class="panel" aria-label="Value"><header><h2>Value</h2>${failures.length > 0 && html`<span class="state no">${plural(failures.length, 'fault')}</span>`}${id in draft.data && html`<button type="button" class="plain end" onClick=${() => put('data', id, undefined)}>Undo the change</button>`}</header>
          ${hasForm && html`<${Tabs} label="Ways to change it" tabs=${[['form', 'Form'], ['json', 'JSON']]} chosen=${tab} choose=${name => go(changed(place, { as: name === 'form' ? undefined : name }))} />`}
          ${tab === 'form'
            ? html`<${RowForm} schema=${schema} value=${value} failures=${failures} readOnly=${readOnly} change=${now => change(JSON.stringify(now, null, 2))} />`
            : html`<${Code} key=${id} label=${id} language="json" value=${text} change=${readOnly ? undefined : change} readOnly=${readOnly} />`}</section>
        <div><section class="panel"><header><h2>What it may hold</h2></header>${schema?.description && html`<p class="in quiet"><${Text} of=${schema.description} whole /></p>`}<${Members} schema=${schema} /></section><${Readers} id=${id} /><${Changes} object=${id} /></div></div>`;
  }}<//>`;
}

export default function Data({ place }) {
  return place.path[1] ? html`<${One} key=${place.path[1]} id=${place.path[1]} place=${place} />` : html`<${List} />`;
}
