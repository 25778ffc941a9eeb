// The requests of administrators about one object: a client, provider, resource, rule or row.
import { get, useData, withQuery } from '../api.js';
import { html } from '../html.js';
import { to } from '../route.js';
import { Text } from '../text.js';
import { When } from '../time.js';
import { Outcome, words } from './flow.js';
import { Empty, Of } from './states.js';
import { Table } from './table.js';

const FEW = 20;
const WRITES = /^(?!get|list|search|export|show)/;

// A step of the search may end without rows and with `next`; it is followed ten times.
async function load(object, signal) {
  const rows = [];
  let after;
  for (let steps = 0; steps < 10 && rows.length < FEW; steps++) {
    const { content, next } = await get(withQuery('audit-logs/search', { object, view: 'summary', size: FEW, after }), { signal });
    rows.push(...content.filter(row => WRITES.test(row.requestSummary?.operation ?? '')));
    after = next;
    if (!next) break;
  }
  return { rows: rows.slice(0, FEW), more: Boolean(after) || rows.length > FEW };
}

const COLUMNS = [
  { title: 'Change', cell: row => html`<a href=${to(['decisions'], { open: row.id })}>${words(row.requestSummary?.operation ?? row.endpoint)}</a>` },
  { title: 'By', cell: row => html`<${Text} of=${row.subjectId ?? row.clientId ?? '–'} />` }, { title: 'Time', cell: row => html`<${When} at=${row.createdAt} />` }, { title: 'Outcome', cell: row => html`<${Outcome} of=${row.outcome} />` },
];

export function Changes({ object }) {
  const from = useData(signal => load(object, signal), [object]);
  return html`<section class="panel"><header><h2>Changes</h2><a class="end" href=${to(['decisions'], { object })}>All</a></header><${Of} from=${from} what="The changes cannot be read">${({ rows, more }) => (rows.length
    ? html`<${Table} label="Changes" columns=${COLUMNS} rows=${rows} key=${row => row.id} />`
    : html`<${Empty} title=${more ? 'No change was found in what was looked at.' : 'No change is in the audit log.'}>Each write of an administrator about it stands here, with who did it.<//>`)}<//></section>`;
}
