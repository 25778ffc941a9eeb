// Report: a period with its chart, as CSV and for the printer.
import { get, useData, withQuery } from '../api.js';
import { html, useRef } from '../html.js';
import { Chart } from '../parts/chart.js';
import { Elsewhere } from '../parts/elsewhere.js';
import { Empty, Of } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { changed, go, to } from '../route.js';
import { Text, curl, number, percent, plural } from '../text.js';
import { isoDay, When } from '../time.js';

// A cell that a spreadsheet would read as a formula gets an apostrophe.
const cell = value => `"${String(value ?? '').replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
export const csv = rows => rows.map(row => row.map(cell).join(',')).join('\r\n');
const daysOf = data => [['day', 'allowed', 'denied', 'errors'], ...data.trendLabels.map((label, at) => [label, data.trendAllowed[at], data.trendDenied[at], data.trendErrors[at]])];

function save(name, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

const share = { title: 'Share', num: true, cell: row => `${row.pct} %` };
const count = name => ({ title: 'Decisions', num: true, cell: row => number(row[name]) });
const refused = [{ title: 'Denied', num: true, cell: row => number(row.denied) }, { title: 'Errors', num: true, cell: row => number(row.errors) }];
// The denials with a reason at each point of the trend.
const Spark = ({ counts }) => { const most = Math.max(1, ...counts), step = 80 / Math.max(1, counts.length - 1); return html`<svg width="84" height="20" viewBox="-2 -2 84 20" aria-hidden="true"><polyline fill="none" stroke="currentColor" points=${counts.map((one, at) => `${(at * step).toFixed(1)},${(16 - (16 * one) / most).toFixed(1)}`).join(' ')} /></svg>`; };
const CLIENT = [{ title: 'Client', cell: row => html`<a href=${to(['clients', row.clientId])}><${Text} of=${row.clientName || row.clientId} bare /></a>` }, count('decisions'), ...refused, share];
const ENDPOINT = [{ title: 'Endpoint', cell: row => html`<a href=${to(['decisions'], { endpoint: row.endpoint })}><code><${Text} of=${row.endpoint} bare /></code></a>` }, count('decisions'), ...refused, share];
const REASON = [{ title: 'Reason', cell: row => html`<a href=${to(['decisions'], { outcome: 'denied', reason: row.reason })}><code><${Text} of=${row.reason} bare /></code></a>` }, { ...count('count'), title: 'Denied' }, { title: 'Period before', num: true, cell: row => (row.before ? number(row.before) : html`<span class="state warn">new</span>`) }, { title: 'Over time', cell: row => html`<${Spark} counts=${row.counts} />` }, share];

const CHANGE = [{ title: 'Revision', cell: row => html`<a href=${to(['revisions', String(row.id)])}>${row.id}</a>` }, { title: 'Change', cell: row => html`<${Text} of=${row.message || row.action} /><span class="second"><${Text} of=${row.who ?? ''} /> · <${When} at=${row.timestamp} /></span>` },
  { title: 'Effect', cell: row => (row.effect?.looked ? `${plural(row.effect.newlyDenied ?? 0, 'newly denied', 'newly denied')}, ${number(row.effect.newlyAllowed ?? 0)} newly allowed` : 'not measured') }];

const Part = ({ title, columns, rows }) => html`<section class="panel"><header><h2>${title}</h2></header>${rows.length ? html`<${Table} label=${title} columns=${columns} rows=${rows} />` : html`<${Empty} title="None in this period." />`}</section>`;

export default function Report({ place }) {
  const fields = { from: useRef(), to: useRef() };
  const period = { from: place.query.get('from') ?? isoDay(29), to: place.query.get('to') ?? isoDay() };
  const path = withQuery('governance/report', period);
  const from = useData(signal => get(path, { signal }), [path]);
  const submit = event => { event.preventDefault(); go(changed(place, { from: fields.from.current.value, to: fields.to.current.value })); };
  return html`<div class="head"><div><h1 tabindex="-1">Report</h1><p>${period.from} to ${period.to}, days of UTC</p></div>
      <div class="acts">${from.data && html`<button type="button" onClick=${() => save(`authz-${period.from}-${period.to}.csv`, csv(daysOf(from.data)))}>CSV</button>`}<button type="button" onClick=${() => print()}>Print</button>
        <${Elsewhere} label="As curl" title="This report, in a shell" text=${() => curl('GET', path)} /></div></div>
    <form class="pills" onSubmit=${submit}><label>From <input type="date" ref=${fields.from} defaultValue=${period.from} /></label><label>to <input type="date" ref=${fields.to} defaultValue=${period.to} /></label><button>Show</button></form>
    <${Of} from=${from} what="The report cannot be read">${data => html`<section class="panel" aria-label="Figures"><div class="figures">
        ${[['Decisions', data.totalDecisions, ''], ['Allowed', data.allowed, `${data.allowedPct} %`], ['Denied', data.denied, `${data.deniedPct} %; ${percent(data.before.denied, data.before.totalDecisions)} before`], ['Errors', data.errors, `${data.errorsPct} %`]].map(([label, value, part]) => html`<div><span class="label">${label}</span><span class="big">${number(value)} <span class="quiet">${part}</span></span></div>`)}</div></section>
      ${data.byHour.length > 1 && html`<section class="panel"><header><h2>Decisions an hour</h2><span class="end quiet">of the last 8 days, UTC</span></header><div class="in"><${Chart} unit="hour" labels=${data.byHour.map(one => one.hour.slice(5, 16).replace('T', ' '))} allowed=${data.byHour.map(one => one.allowed)} denied=${data.byHour.map(one => one.denied)} errors=${data.byHour.map(one => one.errors)} /></div></section>`}
      <section class="panel"><header><h2>Decisions a day</h2></header><div class="in"><${Chart} labels=${data.trendLabels} allowed=${data.trendAllowed} denied=${data.trendDenied} errors=${data.trendErrors} /></div></section><p></p>
      <div class="cols half"><div><${Part} title="By client" columns=${CLIENT} rows=${data.byClient} /><${Part} title="By endpoint" columns=${ENDPOINT} rows=${data.byEndpoint} /></div>
        <div><${Part} title="Denied, by reason" columns=${REASON} rows=${data.denialReasons.map((row, at) => ({ ...row, counts: data.reasonTrend[at].counts }))} /><${Part} title="Policy changes" columns=${CHANGE} rows=${data.recentPolicyChanges} /><section class="panel"><header><h2>Facts</h2></header><dl class="in facts"><dt>Rules</dt><dd>${number(data.activeRules)} active of ${number(data.totalRules)}</dd><dt>Data rows</dt><dd>${number(data.dataKeys)}</dd><dt>Providers</dt><dd>${number(data.identityProviderCount)}</dd><dt>Resources</dt><dd>${number(data.protectedResourceCount)}</dd><dt>Made</dt><dd><${When} at=${data.generatedAt} /></dd></dl></section></div></div>`}<//>`;
}
