// Controls: what each part of the shipped policy decides, and how often it denied today. #/controls/{id} has its settings, reasons
// and lines.
import { get, useData, withQuery } from '../api.js';
import { html } from '../html.js';
import { Of } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { to } from '../route.js';
import { Text, number } from '../text.js';
import { isoDay } from '../time.js';

// Denials of today by reason, from the report, which names the most frequent ones alone and counts whole days of UTC.
const MOST = 20;
const useDenials = () => {
  const { data } = useData(signal => get(withQuery('governance/report', { from: isoDay(), to: isoDay() }), { signal }), []);
  return data && { by: new Map(data.denialReasons.map(one => [one.reason, one.count])), whole: data.denialReasons.length < MOST };
};
// Return the number as a link to the decisions, or – if it is not known.
const Denied = ({ denials, codes, only }) => {
  const count = denials && codes.reduce((sum, code) => sum + (denials.by.get(code) ?? 0), 0);
  if (!denials || (count === 0 && !denials.whole)) return html`<span class="quiet">–</span>`;
  return count > 0 && only ? html`<a href=${to(['decisions'], { outcome: 'denied', reason: only })}>${number(count)}</a>` : number(count);
};
const codesOf = (row, rows, denials) => (row.id === 'custom' && denials
  ? [...denials.by.keys()].filter(code => !rows.some(one => one.id !== 'custom' && one.reasons?.some(reason => reason.code === code)))
  : (row.reasons ?? []).map(reason => reason.code));

const columns = (rows, denials) => [
  { title: 'Control', cell: row => html`<a class="strong" href=${to(['controls', row.id])}>${row.title ?? row.id}</a><span class="second"><code>${row.id}</code></span>` },
  { title: 'Decides', cell: row => row.decides }, { title: 'Asked by', cell: row => row.entrypoints.join(', ') },
  { title: 'Denied today', num: true, cell: row => html`<${Denied} denials=${denials} codes=${codesOf(row, rows, denials)} />` },
];

const List = () => {
  const from = useData(signal => get('controls', { signal }), []);
  const denials = useDenials();
  return html`<div class="head"><div><h1 tabindex="-1">Controls</h1><p>The parts of the shipped policy, and what each of them decides.</p></div></div>
    <section class="panel" aria-label="List"><${Of} from=${from} what="The controls cannot be read">${rows => html`<${Table} label="Controls" columns=${columns(rows, denials)} rows=${rows} key=${row => row.id} />`}<//></section>`;
};

const line = site => html`<a href=${to(['rules', site.file], { line: site.line })}><code>${site.file}</code>, line ${site.line}</a>`;

function One({ id }) {
  const denials = useDenials();
  const from = useData(signal => get(`controls/${encodeURIComponent(id)}`, { signal }), [id]);
  return html`<${Of} from=${from} what="The control cannot be read" whole>${control => {
    const reasons = [
      { title: 'Reason', cell: row => html`<a href=${to(['decisions'], { reason: row.code })}><code>${row.code}</code></a><span class="second">${row.category}</span>` }, { title: 'Says', cell: row => html`<${Text} of=${row.message ?? ''} />` },
      { title: 'Denied today', num: true, cell: row => html`<${Denied} denials=${denials} codes=${[row.code]} only=${row.code} />` },
      { title: 'Where', cell: row => control.sites.filter(site => site.code === row.code).map(site => html`<div>${line(site)}</div>`) },
    ];
    const settings = [{ title: 'Setting', cell: row => html`<code>${row.name}</code>` }, { title: 'Meaning', cell: row => html`<${Text} of=${row.description ?? ''} whole />` }];
    return html`<div class="head"><div><a class="back" href="#/controls">Controls</a><h1 tabindex="-1">${control.title ?? control.id}</h1><p>${control.decides}</p></div></div>
      <div class="cols wide"><div><section class="panel"><header><h2>Reasons</h2></header>${control.reasons.length ? html`<${Table} label="Reasons" columns=${reasons} rows=${control.reasons} />` : html`<p class="in quiet">It denies nothing by itself.</p>`}</section>
        ${control.rows.map(row => html`<section class="panel"><header><h2>Settings</h2><a class="end" href=${to(['data', row.key])}><code>${row.key}</code></a></header><${Table} label=${`Settings of ${row.key}`} columns=${settings} rows=${Object.entries(row.schema?.properties ?? {}).map(([name, one]) => ({ name, ...one }))} /></section>`)}</div>
      <section class="panel"><header><h2>Facts</h2></header><dl class="in facts"><dt>Asked by</dt><dd>${control.entrypoints.map(name => html`<span class="chip">${name}</span>`)}</dd><dt>Reads</dt><dd>${control.inputs.map(name => html`<span class="chip">${name}</span>`)}</dd><dt>Answers</dt><dd>${control.outputs.map(name => html`<span class="chip">${name}</span>`)}</dd><dt>Written in</dt><dd>${control.sites.filter(site => !site.code).map(site => html`<div>${line(site)}</div>`)}</dd></dl></section></div>`;
  }}<//>`;
}

export default function Controls({ place }) {
  return place.path[1] ? html`<${One} key=${place.path[1]} id=${place.path[1]} />` : html`<${List} />`;
}
