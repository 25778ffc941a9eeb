// Decisions: the rows of the audit log, and the opened one beside them.
import { get, useData, withQuery } from '../api.js';
import { html } from '../html.js';
import { useKeys } from '../keys.js';
import { Decision } from '../parts/decision.js';
import { Elsewhere } from '../parts/elsewhere.js';
import { Asked, Outcome, resourceOf, whyOf } from '../parts/flow.js';
import { Live } from '../parts/live.js';
import { Who, useNames } from '../parts/names.js';
import { Empty, Of } from '../parts/states.js';
import { Filters, Table } from '../parts/table.js';
import { changed, go } from '../route.js';
import { Text, curl, number } from '../text.js';
import { before, seconds, When } from '../time.js';

const SIZE = 50;
const FILTERS = [
  ['outcome', 'outcome', ['allowed', 'denied', 'rejected', 'error']], ['reason', 'reason'], ['clientId', 'client'], ['subjectId', 'person'],
  ['resource', 'resource'], ['tool', 'tool'], ['endpoint', 'endpoint'], ['flowId', 'flow'], ['requestId', 'request'], ['ip', 'address'], ['object', 'object'],
];
const PERIODS = [['1', '1 hour'], ['24', '24 hours'], ['168', '7 days'], ['720', '30 days']];
const NAMES = FILTERS.map(([name]) => name);

// Return the query of the API for a place; hours become an instant, so that they are no part of the address.
function queryOf(place) {
  const own = Object.fromEntries(NAMES.map(name => [name, place.query.get(name)]));
  const hours = place.query.get('hours');
  return { ...own, fromInstant: hours ? before(Number(hours)) : place.query.get('from'), toInstant: place.query.get('to'), after: place.query.get('after') };
}

// A step of the search may end without rows and with `next`: it looked at as many as it may. Follow it, at most ten times.
async function load(place, signal) {
  const query = { view: 'summary', size: SIZE, ...queryOf(place) };
  const rows = [];
  for (let steps = 0; steps < 10; steps++) {
    const { content, next } = await get(withQuery('audit-logs/search', { ...query, size: SIZE - rows.length }), { signal });
    rows.push(...content);
    query.after = next;
    if (!next || rows.length >= SIZE) break;
  }
  return { rows, next: query.after };
}

function NoMatch({ place, next }) {
  const set = FILTERS.filter(([name]) => place.query.get(name));
  if (next) return html`<${Empty} title="No row yet.">The search has looked at as many rows as it may in one step. <a href=${changed(place, { after: next })}>Look further back</a><//>`;
  if (!set.length) return html`<${Empty} title="No decision yet.">Each request to policy, and each write of an administrator, leaves a row here. The usual first one is a client that asks for a token: <a href="#/clients">make a client</a>.<//>`;
  return html`<${Empty} title="No decision matches.">
    ${set.map(([name, word]) => html`<p>${word} <b><${Text} of=${place.query.get(name)} /></b> <a href=${changed(place, { [name]: undefined, after: undefined })}>remove it</a></p>`)}
    ${place.query.get('hours') && html`<p><a href=${changed(place, { hours: undefined })}>of any time</a></p>`}<//>`;
}

// Beside an open decision the list is narrow: what the other columns have stands below.
function List({ data, place, open }) {
  const names = useNames();
  const asked = row => html`<a href=${changed(place, { open: row.id, tab: undefined })}><${Asked} row=${row} /></a>`;
  const columns = [
    { title: 'Time', when: true, cell: row => html`<${When} at=${row.createdAt} form=${seconds} />` },
    { title: 'Outcome', cell: row => html`<${Outcome} of=${row.outcome} />` },
    ...(open ? [{ title: 'Asked', cell: row => html`${asked(row)}<span class="second"><${Who} row=${row} names=${names} bare /></span><span class="second"><${Text} of=${whyOf(row)} /></span>` }] : [
      { title: 'Asked', cell: asked }, { title: 'Who', name: true, cell: row => html`<${Who} row=${row} names=${names} />` }, { title: 'Resource', cell: row => html`<${Text} of=${resourceOf(row) || '–'} />` },
      { title: 'Why', cell: row => html`<${Text} of=${whyOf(row)} />` }]),
  ];
  if (!data.rows.length) return html`<${NoMatch} place=${place} next=${data.next} />`;
  return html`<${Table} label="Decisions" columns=${columns} rows=${data.rows} key=${row => row.id} current=${row => String(row.id) === open} />
    <footer class="between"><span>${number(data.rows.length)} ${data.rows.length === 1 ? 'row' : 'rows'}${place.query.get('after') ? ', older' : ', newest first'}</span>
      <span class="acts">${place.query.get('after') && html`<a class="button" href=${changed(place, { after: undefined })}>Newest</a>`}${data.next && html`<a class="button" href=${changed(place, { after: data.next, open: undefined })}>Older</a>`}</span></footer>`;
}

export default function Decisions({ place }) {
  const open = place.query.get('open');
  const wants = [...NAMES, 'hours', 'from', 'to', 'after'].map(name => place.query.get(name) ?? '');
  const list = useData(signal => load(place, signal), wants);
  const rows = list.data?.rows ?? [];
  const step = by => () => {
    const at = rows.findIndex(row => String(row.id) === open);
    const next = rows[open ? at + by : 0];
    if (next) go(changed(place, { open: next.id }));
  };
  useKeys({ '[': step(-1), ']': step(1), Escape: open ? () => go(changed(place, { open: undefined, tab: undefined })) : undefined });
  const { after: _, ...query } = queryOf(place);
  // At most a page of new rows is counted.
  const newer = async signal => {
    const { content } = await get(withQuery('audit-logs/search', { view: 'summary', size: SIZE, ...query }), { signal });
    return content.filter(row => row.id > (rows[0]?.id ?? 0)).length;
  };
  return html`<div class="head"><h1 tabindex="-1">Decisions</h1><div class="acts">
      <${Live} count=${newer} show=${() => (place.query.get('after') ? go(changed(place, { after: undefined })) : list.again())} wants=${[...wants, rows[0]?.id]} />
      <button type="button" onClick=${list.again}>Look again</button>
      <a class="button" download href=${`../admin/api/${withQuery('audit-logs/export', { ...query, format: 'csv' })}`}>Export</a>
      <${Elsewhere} label="As curl" title="This list, in a shell" text=${() => curl('GET', withQuery('audit-logs/search', { ...query, view: 'summary', size: SIZE }))} />
    </div></div>
    <${Filters} place=${place} filters=${FILTERS} drop=${['after', 'open', 'tab']}>
      <span class="pick" role="group" aria-label="Period"><a href=${changed(place, { hours: undefined, after: undefined })} aria-current=${place.query.get('hours') ? undefined : 'true'}>any time</a>${PERIODS.map(([hours, label]) => html`<a href=${changed(place, { hours, after: undefined })} aria-current=${place.query.get('hours') === hours ? 'true' : undefined}>${label}</a>`)}</span>
    <//>
    <div class=${open ? 'cols list' : ''}>
      <section class=${open ? 'panel behind' : 'panel'} aria-label="List"><${Of} from=${list} what="The list cannot be read">${data => html`<${List} data=${data} place=${place} open=${open} />`}<//></section>
      ${open && html`<div><p class="only-narrow"><a href=${changed(place, { open: undefined, tab: undefined })}>‹ the list</a></p>
        <${Decision} id=${open} place=${place} choose=${tab => go(changed(place, { tab: tab || undefined }))} /></div>`}
    </div>`;
}
