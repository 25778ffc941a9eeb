// System: is the service ready, what the policy engines said last, and the settings in force with their origin.
import { get, useData } from '../api.js';
import { html, useRef } from '../html.js';
import { Empty, Of } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { changed, go } from '../route.js';
import { Text, number } from '../text.js';
import { When } from '../time.js';

async function ready(signal) {
  const answer = await fetch('../health/ready', { signal, cache: 'no-store' });
  return answer.json();
}

const State = ({ of }) => html`<span class=${`state ${{ UP: 'ok', DEGRADED: 'warn' }[of] ?? 'no'}`}>${of}</span>`;

const ENGINE = [
  { title: 'Engine', cell: row => html`<${Text} of=${row.instance} />` },
  { title: 'State', cell: row => (row.code ? html`<span class="state no"><${Text} of=${row.code} /></span>` : html`<span class=${row.present ? 'state ok' : 'state off'}>${row.present ? 'present' : 'not seen'}</span>`) },
  { title: 'Revision', cell: row => html`<code>${row.activeRevision?.slice(0, 12) ?? '–'}</code>${row.message && html`<span class="second"><${Text} of=${row.message} /></span>`}` },
  { title: 'Last report', cell: row => html`<${When} at=${row.reportedAt} />` },
];
const CHECK = [{ title: 'Check', cell: row => row.name.replaceAll('_', ' ') }, { title: 'State', cell: row => html`<${State} of=${row.status} />${row.detail && html`<span class="second"><${Text} of=${row.detail} /></span>`}` }];

// The newest checkpoint of the log over all audit rows: origin, rows, root hash.
function Log() {
  const from = useData(signal => get('audit/checkpoint', { signal }).catch(fault => { if (fault.status === 404) return ''; throw fault; }), []);
  return html`<section class="panel"><header><h2>Audit log</h2></header><${Of} from=${from} what="The checkpoint cannot be read">${note => {
    const [origin, rows, root] = String(note).split('\n');
    return note ? html`<dl class="in facts"><dt>Log</dt><dd><${Text} of=${origin} /></dd><dt>Sealed rows</dt><dd>${number(Number(rows))}</dd><dt>Root</dt><dd><code>${root}</code></dd></dl>` : html`<${Empty} title="No checkpoint yet.">Housekeeping seals the rows once a minute.<//>`;
  }}<//></section>`;
}

const SETTING = [
  { title: 'Setting', cell: row => html`<code>${row.name}</code><span class="second"><${Text} of=${row.help} whole /></span>` },
  { title: 'Value', cell: row => (row.secret ? html`<span class=${`state ${row.set ? 'ok' : 'off'}`}>${row.set ? 'set' : 'not set'}</span>` : row.set ? html`<code><${Text} of=${row.value} /></code>` : html`<span class="state off">not set</span>`) },
  { title: 'Origin', cell: row => (row.origin === 'default' ? html`<span class="quiet">default</span>` : html`<span class="origin"><${Text} of=${row.origin} /></span>`) },
];

// The settings in force, in the order of doc/reference/settings.md.
function Settings({ place }) {
  const from = useData(signal => get('settings', { signal }), []);
  const field = useRef();
  const q = place.query.get('q') ?? '', own = place.query.get('set') !== 'all';
  const fits = row => (!own || !['default', 'unset'].includes(row.origin)) && [row.name, row.help].some(text => text.toLowerCase().includes(q.toLowerCase()));
  return html`<section class="panel" aria-labelledby="settings"><header><h2 id="settings">Settings in force</h2>${from.data && html`<span class="small">version ${from.data.version} · another value needs a restart</span>`}</header>
    <form class="in pills" role="search" aria-label="Settings" onSubmit=${event => { event.preventDefault(); go(changed(place, { q: field.current.value.trim() || undefined })); }}><input type="search" ref=${field} aria-label="Name or words" placeholder="Name or words" defaultValue=${q} /><button>Filter</button>
      <span class="pick" role="group" aria-label="Which"><a href=${changed(place, { set: undefined })} aria-current=${own ? 'true' : undefined}>not the default</a><a href=${changed(place, { set: 'all' })} aria-current=${own ? undefined : 'true'}>all</a></span></form>
    <${Of} from=${from} what="The settings cannot be read">${({ settings }) => { const rows = settings.filter(fits); return rows.length ? html`<${Table} label="Settings" columns=${SETTING} rows=${rows} key=${row => row.name} />` : html`<${Empty} title="No setting matches."><a href=${changed(place, { q: undefined, set: 'all' })}>Show all of them</a><//>`; }}<//></section>`;
}

export default function System({ place }) {
  const health = useData(ready, []);
  const engines = useData(signal => get('engines', { signal }), []);
  return html`<div class="head"><h1 tabindex="-1">System</h1><div class="acts"><button type="button" onClick=${() => { health.again(); engines.again(); }}>Look again</button></div></div>
    <div class="cols half"><section class="panel"><header><h2>Readiness</h2></header><${Of} from=${health} what="Readiness cannot be read">${data => html`<div class="in"><p>The service is <${State} of=${data.status} /></p></div><${Table} label="Checks" columns=${CHECK} rows=${data.checks} />`}<//></section>
    <div><section class="panel"><header><h2>Policy engines</h2></header><${Of} from=${engines} what="The engines cannot be read">${data => (data.length ? html`<${Table} label="Policy engines" columns=${ENGINE} rows=${data} />` : html`<${Empty} title="No engine has asked for the policy.">Start OPA with the bundle key: it confirms every change of policy.<//>`)}<//></section><${Log} /></div></div><p></p><${Settings} place=${place} />`;
}
