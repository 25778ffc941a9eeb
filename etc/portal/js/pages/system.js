// System: is the service ready, and what the policy engines said last.
import { get, useData } from '../api.js';
import { html } from '../html.js';
import { Empty, Of } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Text } from '../text.js';
import { short } from '../time.js';

async function ready(signal) {
  const answer = await fetch('../health/ready', { signal, cache: 'no-store' });
  return answer.json();
}

const State = ({ of }) => html`<span class=${`state ${{ UP: 'ok', DEGRADED: 'warn' }[of] ?? 'no'}`}>${of}</span>`;

const ENGINE = [
  { title: 'Engine', cell: row => html`<${Text} of=${row.instance} />` },
  { title: 'State', cell: row => (row.code ? html`<span class="state no"><${Text} of=${row.code} /></span>` : html`<span class=${row.present ? 'state ok' : 'state off'}>${row.present ? 'present' : 'not seen'}</span>`) },
  { title: 'Revision', cell: row => html`<code>${row.activeRevision?.slice(0, 12) ?? '–'}</code>${row.message && html`<span class="second"><${Text} of=${row.message} /></span>`}` },
  { title: 'Last report', cell: row => short(row.reportedAt) },
];
const CHECK = [{ title: 'Check', cell: row => row.name.replaceAll('_', ' ') }, { title: 'State', cell: row => html`<${State} of=${row.status} />${row.detail && html`<span class="second"><${Text} of=${row.detail} /></span>`}` }];

export default function System() {
  const health = useData(ready, []);
  const engines = useData(signal => get('engines', { signal }), []);
  return html`<div class="head"><h1 tabindex="-1">System</h1><div class="acts"><button type="button" onClick=${() => { health.again(); engines.again(); }}>Look again</button></div></div>
    <div class="cols half"><section class="panel"><header><h2>Readiness</h2></header><${Of} from=${health} what="Readiness cannot be read">${data => html`<div class="in"><p>The service is <${State} of=${data.status} /></p></div><${Table} label="Checks" columns=${CHECK} rows=${data.checks} />`}<//></section>
    <div><section class="panel"><header><h2>Policy engines</h2></header><${Of} from=${engines} what="The engines cannot be read">${data => (data.length ? html`<${Table} label="Policy engines" columns=${ENGINE} rows=${data} />` : html`<${Empty} title="No engine has asked for the policy.">Start OPA with the bundle key, or set SVC_POLICY_ENGINE to embedded.<//>`)}<//></section></div></div>`;
}
