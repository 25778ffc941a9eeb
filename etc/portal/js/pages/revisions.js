// Revisions: the timeline; #/revisions/{id} is one, with its difference from another and the way back to it.
import { get, request, useData, withQuery } from '../api.js';
import { html, useRef, useState } from '../html.js';
import { impactOf } from '../parts/check.js';
import { Confirm } from '../parts/confirm.js';
import { Diff, compare, unified } from '../parts/diff.js';
import { Elsewhere } from '../parts/elsewhere.js';
import { Impact } from '../parts/impact.js';
import { Pager, SIZE, pageOf, usePage } from '../parts/pages.js';
import { Refusal } from '../parts/refusal.js';
import { Shadow } from '../parts/shadow.js';
import { Empty, Of } from '../parts/states.js';
import { Filters, Table } from '../parts/table.js';
import { changed, go, to } from '../route.js';
import { may } from '../session.js';
import { Text, curl, number, plural } from '../text.js';
import { When } from '../time.js';

const WORD = { 'policy-data': 'a data row', 'policy-rule': 'a rule', deploy: 'a deploy', shipped: 'the shipped policy', rollback: 'a rollback', connector: 'a connector' };
const what = row => row.message || `Saved by ${WORD[row.triggerSource] ?? row.triggerSource}`;

const changes = (added, changed, deleted) => `${number(added)} added, ${number(changed)} changed, ${number(deleted)} deleted`;
const FILTERS = [['triggeredBy', 'By'], ['rulePath', 'With rule'], ['dataKey', 'With row'], ['revision', 'Policy']];

// The policy at a moment, which is typed in UTC.
function At() {
  const field = useRef();
  const [fault, setFault] = useState('');
  const submit = async event => {
    event.preventDefault();
    if (!field.current.value) return;
    try { go(to(['revisions', String((await get(withQuery('bundle-audit/at', { timestamp: `${field.current.value}:00Z` }))).id)])); } catch (error) { setFault(error.status === 404 ? 'No revision was active then.' : error.message); }
  };
  return html`<form onSubmit=${submit}><label class="row">Active at <input type="datetime-local" ref=${field} aria-label="Active at, UTC" /></label><button>Open</button></form><span class="small" role="status">${fault}</span>`;
}

function List({ place }) {
  const page = pageOf(place);
  const query = Object.fromEntries(FILTERS.map(([name]) => [name, place.query.get(name)]));
  const from = usePage('bundle-audit', { ...query, page, size: SIZE });
  const columns = [
    { title: 'Revision', cell: row => html`<a class="strong" href=${to(['revisions', String(row.id)])}>${number(row.id)}</a>` },
    { title: 'Change', cell: row => html`<${Text} of=${what(row)} /><span class="second"><${Text} of=${row.triggeredBy ?? ''} /> · <${When} at=${row.createdAt} /></span>` },
    { title: 'By', cell: row => html`<${Text} of=${WORD[row.triggerSource] ?? row.triggerSource} />` }, { title: 'Holds', cell: row => `${plural(row.ruleCount, 'rule')}, ${plural(row.dataKeys.length, 'row')}` },
    { title: 'Policy', cell: row => html`<code>${row.revision.slice(0, 12)}</code>` },
  ];
  return html`<div class="head"><div><h1 tabindex="-1">Revisions</h1><p>Each save of policy, newest first. A rollback is a save of its own.</p></div></div>
    <${Shadow} /><${Filters} place=${place} filters=${FILTERS} drop=${['page']}><${At} /><//>
    <section class="panel" aria-label="List"><${Of} from=${from} what="The revisions cannot be read">${({ rows, total }) => (rows.length
      ? html`<${Table} label="Revisions" columns=${columns} rows=${rows} key=${row => row.id} /><${Pager} place=${place} page=${page} shown=${rows.length} total=${total} />`
      : FILTERS.some(([name]) => query[name]) ? html`<${Empty} title="No revision matches."><a href="#/revisions">Remove the filters</a><//>`
      : html`<${Empty} title="No revision yet.">The first save of a rule or a row makes one.<//>`)}<//></section>`;
}

// Return the files that differ: [name, lines]. Whole texts come from the content of the revision.
async function difference(before, id, signal) {
  const [diff, now] = await Promise.all([get(withQuery('bundle-audit/diff', { from: before, to: id }), { signal }), get(`bundle-audit/${id}/content`, { signal })]);
  const old = diff.rules.removed.length || diff.data.removed.length ? await get(`bundle-audit/${before}/content`, { signal }) : undefined;
  const rule = (content, path) => content?.rules.find(one => one.path === path)?.content ?? '';
  const row = (content, key) => { const one = content?.data.find(each => each.dataKey === key); return one ? JSON.stringify(typeof one.payload === 'string' ? JSON.parse(one.payload) : one.payload, null, 2) : ''; };
  return [
    ...diff.rules.added.map(path => [path, compare('', rule(now, path))]), ...diff.rules.removed.map(path => [path, compare(rule(old, path), '')]), ...diff.rules.changed.map(one => [one.path, unified(one.diff)]),
    ...diff.data.added.map(key => [`data row ${key}`, compare('', row(now, key))]), ...diff.data.removed.map(key => [`data row ${key}`, compare(row(old, key), '')]), ...diff.data.changed.map(one => [`data row ${one.dataKey}`, unified(one.diff)]),
  ];
}

function Difference({ place, id, list }) {
  const older = list.filter(row => row.id < id);
  const against = Number(place.query.get('against')) || older[0]?.id;
  const from = useData(signal => (against ? difference(against, id, signal) : []), [id, against]);
  return html`<section class="panel"><header><h2>What it changed</h2>${older.length > 0 && html`<span class="end"><label>against <select value=${against} onChange=${event => go(changed(place, { against: event.target.value }))}>${older.map(row => html`<option value=${row.id}>${row.id}</option>`)}</select></label></span>`}</header>
    <${Of} from=${from} what="The difference cannot be read">${files => (files.length ? files.map(([name, lines]) => html`<${Diff} key=${name} name=${name} lines=${lines} />`) : html`<p class="in quiet">${against ? 'Nothing differs.' : 'It is the oldest that is kept.'}</p>`)}<//></section>`;
}

function RollBack({ row, active, failed }) {
  const [asks, ask] = useState(false);
  const [state, set] = useState();
  const [counts, setCounts] = useState();
  const rehearse = async () => { try { setCounts((await request('POST', withQuery(`bundle-audit/${row.id}/rollback`, { mode: 'dry-run' }))).data); } catch (error) { setCounts({ error }); } };
  const look = async () => { ask(true); rehearse(); set({ busy: true }); try { set({ impact: await impactOf({ rollback: row.id, since: '168h', examples: 3 }) }); } catch (error) { set({ error }); } };
  const field = useRef();
  const act = async () => {
    try { await request('POST', withQuery(`bundle-audit/${row.id}/rollback`, { message: field.current.value.trim() || `Back to ${row.id}` })); } catch (error) { if (error.status === 422) failed(error); throw error; }
    const now = await get('bundle-audit/latest');
    go(to(['revisions', String(now.id)], { saved: 1 }));
  };
  if (!may('operator') || row.id === active.id) return null;
  return html`<button type="button" onClick=${look}>Roll back to ${row.id}…</button>
    ${asks && html`<${Confirm} title=${`Roll back to revision ${row.id}?`} type=${String(row.id)} verb="Roll back" act=${act} close=${() => ask(false)}>
      <p>All rules and rows become those of revision ${row.id}, as a new revision. Revision ${active.id} stays in the history.</p>
      <p role="status">${counts?.error ? html`It would be refused: <${Text} of=${counts.error.message} />` : counts ? `Rules: ${changes(counts.rulesAdded, counts.rulesChanged, counts.rulesDeleted)}. Rows: ${changes(counts.dataAdded, counts.dataChanged, counts.dataDeleted)}.` : ''}</p>
      <label>Reason, for the history <input ref=${field} maxlength="500" defaultValue=${`Back to ${row.id}`} /></label><div class="box"><${Impact} state=${state} days=${7} /></div><//>`}`;
}

function One({ place, id }) {
  const [error, setError] = useState();
  const from = useData(async signal => {
    const [row, list] = await Promise.all([get(`bundle-audit/${id}`, { signal }), get(withQuery('bundle-audit', { page: 0, size: 200 }), { signal })]);
    return { row, list };
  }, [id]);
  return html`<${Of} from=${from} what="The revision cannot be read" whole>${({ row, list }) => {
    const active = list[0];
    const facts = [['Saved', `${row.createdAt.replace('T', ' ').slice(0, 19)} UTC`], ['By', html`<${Text} of=${row.triggeredBy ?? ''} />`], ['Through', html`<${Text} of=${WORD[row.triggerSource] ?? row.triggerSource} />`], ['Holds', `${plural(row.ruleCount, 'rule')}, ${plural(row.dataKeys.length, 'row')}, ${number(row.bundleSizeBytes)} octets`], ['Policy', html`<code>${row.revision}</code>`]];
    return html`<div class="head"><div><a class="back" href="#/revisions">Revisions</a><h1 tabindex="-1">Revision ${row.id}</h1><p><${Text} of=${what(row)} /> ${row.id === active.id && html`· <span class="state ok">active</span>`}</p></div>
        <div class="acts"><${RollBack} row=${row} active=${active} failed=${setError} /><${Elsewhere} label="As curl" title="This revision, in a shell" text=${() => curl('GET', `bundle-audit/${row.id}/content`)} /></div></div>
      ${place.query.get('saved') && row.id === active.id && html`<p class="done" role="status">Revision ${row.id} is active.</p>`}
      ${error && html`<${Refusal} error=${error} active=${active} />`}
      <div class="cols wide"><div><${Difference} place=${place} id=${row.id} list=${list} /></div><section class="panel"><header><h2>Facts</h2></header><dl class="in facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></section></div>`;
  }}<//>`;
}

export default function Revisions({ place }) {
  return place.path[1] ? html`<${One} key=${place.path[1]} place=${place} id=${place.path[1]} />` : html`<${List} place=${place} />`;
}
