// Overview: what fails and what needs attention, how much is denied against the period before, reasons, 30 days, the last revisions.
import { get, request, useData, withQuery } from '../api.js';
import { html } from '../html.js';
import { Chart } from '../parts/chart.js';
import { Empty, Of } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { changed, to } from '../route.js';
import { Text, brief, number, percent, plural } from '../text.js';
import { exact, isoDay, short, When } from '../time.js';

const PERIODS = [['1', '24 hours'], ['7', '7 days'], ['30', '30 days']];
const report = (from, to, signal) => get(withQuery('governance/report', { from, to }), { signal });

// The report counts whole days of UTC, so "24 hours" is today.
async function load(days, signal) {
  const [now, month, revisions, engines, resources, waits] = await Promise.all([
    report(isoDay(days - 1), isoDay(), signal), report(isoDay(29), isoDay(), signal),
    get('bundle-audit?size=5', { signal }), get('engines', { signal }), request('GET', 'managed-resources?view=summary&size=1', { signal }), get('attention', { signal }),
  ]);
  return { now, month, revisions, engines: engines.filter(one => one.present), resources: Number(resources.headers.get('X-Total-Count')), waits };
}

// The period that the report compares with: as many days before.
const earlier = days => (days === 1 ? 'yesterday' : `in the ${days} days before`);

function Figures({ data, days }) {
  const { now, revisions, engines, resources, waits } = data, { before } = now;
  const active = revisions[0];
  const behind = engines.filter(one => one.activeRevision !== active?.revision).length;
  const inState = kind => waits.filter(one => one.kind === kind).length;
  const states = [['resource_degraded', 'warn', 'degraded'], ['resource_pending', 'wait', 'pending']].filter(([kind]) => inState(kind));
  const share = (name, kind) => html`<span class=${`state ${before.totalDecisions && now[name] / now.totalDecisions > before[name] / before.totalDecisions ? kind : 'off'}`}>${before.totalDecisions ? percent(before[name], before.totalDecisions) : 'nothing'} ${earlier(days)}</span>`;
  return html`<section class="panel" aria-label="Figures"><div class="figures">
    <div><span class="label">Errors</span><span class="big">${now.errors ? html`<a href=${to(['decisions'], { outcome: 'error' })}>${number(now.errors)}</a> <span class="state no">${percent(now.errors, now.totalDecisions)}</span>` : '0'}</span>${share('errors', 'no')}</div>
    <div><span class="label">Decisions</span><span class="big">${number(now.totalDecisions)}</span><span class="small">${number(before.totalDecisions)} ${earlier(days)}</span></div>
    <div><span class="label">Denied</span><span class="big">${number(now.denied)} <span class="quiet">${percent(now.denied, now.totalDecisions)}</span></span>${share('denied', 'warn')}</div>
    <div><span class="label">Policy</span><span class="big">${active ? `Revision ${active.id}` : 'none yet'}</span><span class=${`state ${behind ? 'warn' : 'ok'}`}>${engines.length - behind} of ${plural(engines.length, 'engine')}</span></div>
    <div><span class="label">Resources</span><span class="big">${number(resources)}</span>${states.length ? states.map(([kind, mark, word]) => html`<span class=${`state ${mark}`}>${inState(kind)} ${word}</span> `) : html`<span class="small">none degraded or pending</span>`}</div>
  </div></section>`;
}

// What to do about errors with this cause. A resource has its page; the rest is the service's own.
const cure = one => (one.name?.startsWith('/') ? (/unavailable|^503/.test(one.detail) ? 'System says what is not ready' : 'the log of the service has more, by the request id of each')
  : /upstream_auth/.test(one.detail) ? 'renew the credential of the resource' : /resource_unavailable/.test(one.detail) ? 'its page says what it lacks' : 'probe the upstream on its page');

// How each kind of entry is said, and where it leads.
const KINDS = {
  not_ready: one => ({ state: one.status === 'DOWN' ? 'Down' : 'Degraded', what: `${one.name}: ${one.detail ?? 'this check of readiness fails'}`, href: to(['system']) }),
  errors: one => ({ mark: 'no', state: plural(one.count, 'error'), what: `${one.name}: ${one.detail}`, note: `since ${short(one.at)} · ${cure(one)}`, href: to(['decisions'], { outcome: 'error', hours: 24, [one.name?.startsWith('/') ? 'endpoint' : 'resource']: one.name }), then: one.name?.startsWith('/') ? undefined : to(['resources', one.name]) }),
  engines_differ: one => ({ mark: 'no', state: 'Engines differ', what: `${one.name}: OPA decided otherwise than the embedded engine`, note: `since ${short(one.at)} · doc/runbook.md, AuthzPolicyEnginesDiffer`, href: to(['decisions'], { outcome: 'error', hours: 24, endpoint: '(witness)' }) }),
  resource_pending: one => ({ mark: 'wait', state: 'Pending', what: `${one.name}: ${one.detail ?? 'it was never reached'}`, note: one.at && `since ${short(one.at)}`, href: to(['resources', one.name]) }),
  tools_waiting: one => ({ state: plural(one.count, 'tool waits', 'tools wait'), what: `${one.name}: the upstream changed its tools`, href: to(['resources', one.name]) }),
  resource_degraded: one => ({ state: 'Degraded', what: `${one.name}: ${one.detail ?? 'its upstream fails'}`, note: one.at && `since ${short(one.at)}`, href: to(['resources', one.name]) }),
  upstream_redirects: one => ({ state: 'Redirects', what: `${one.name}: ${one.detail}`, note: `since ${short(one.at)}`, href: to(['resources', one.name]) }),
  provider_fault: one => ({ mark: 'no', state: 'Sign-in fails', what: `${one.name}: ${one.detail}`, note: `since ${short(one.at)} · doc/errors.md`, href: to(['providers', one.name]) }),
  sign_ins_shared: one => ({ state: plural(one.count, 'sign-in ended', 'sign-ins ended'), what: `${one.name}: several programs share them, or they were stolen`, note: `since ${short(one.at)} · doc/errors.md`, href: to(['clients', one.name]) }),
  connections_to_renew: one => ({ state: 'To connect again', what: `${one.name}: ${plural(one.count, 'account')} of people`, href: to(['resources', one.name], { tab: 'connections' }) }),
  secret_ending: one => ({ state: 'Secret ends', what: `${one.name}: our secret there`, note: short(one.at), href: to(['providers', one.name]) }),
  key_ending: one => ({ state: 'Key ends', what: `${one.name}, ${one.detail}`, note: short(one.at), href: to(['keys']) }),
  reason_new: one => ({ state: 'New reason', what: `${plural(one.count, 'denial')} ${one.name}`, note: 'on none of the 30 days before', href: to(['decisions'], { outcome: 'denied', reason: one.name }) }),
  clients_unused: one => ({ state: 'Unused', what: `${plural(one.count, 'client')} without a request in 90 days`, href: to(['clients'], { sort: 'lastUsedAt' }) }),
  redirect_shared: one => ({ state: 'Shared redirect address', what: `${one.name}: give its authorization server an address of its own`, href: to(['resources', one.name]) }),
};

// What an operator should look at: what keeps the instance from answering, engines that are behind or failed, and what else the
// service lists.
export const attention = ({ engines, revisions, waits }) => [
  ...waits.filter(one => one.kind === 'not_ready').map(KINDS.not_ready),
  ...engines.filter(one => one.code || one.activeRevision !== revisions[0]?.revision).map(one => ({ state: 'Behind', what: `engine ${one.instance} ${one.message ?? 'has another revision'}`, href: to(['system']) })),
  ...waits.filter(one => one.kind !== 'not_ready').map(one => ({ at: one.at, ...(KINDS[one.kind]?.(one) ?? { state: one.kind, what: one.name ?? '' }) })),
];

function Attention({ data }) {
  const list = attention(data);
  const columns = [
    { title: 'State', cell: row => html`<span class=${`state ${row.mark ?? 'warn'}`}>${brief(row.state)}</span>` },
    { title: 'What', cell: row => html`${row.href ? html`<a href=${row.href}><${Text} of=${row.what} bare /></a>` : html`<${Text} of=${row.what} />`}${row.note && html`<span class="second" title=${row.at && exact(row.at)}><${Text} of=${row.note} /></span>`}${row.then && html`<a class="button" href=${row.then}>Open the resource</a>`}` },
  ];
  return html`<section class="panel"><header><h2>Needs attention</h2></header>
    ${list.length ? html`<${Table} label="Needs attention" columns=${columns} rows=${list} />` : html`<${Empty} title="Nothing fails, and nothing waits.">Errors, sign-ins that identity providers refuse, engines that are behind or differ, changed tools, degraded and pending resources, accounts to connect again, keys near their end, new reasons of denials, unused clients and shared redirect addresses stand here.<//>`}</section>`;
}

function Reasons({ data, days }) {
  const { now } = data;
  const isNew = row => now.before.totalDecisions > 0 && !row.before;
  const rows = [...now.denialReasons].sort((a, b) => b.count - a.count);
  const most = Math.max(1, ...now.denialReasons.map(one => one.count));
  const columns = [
    { title: 'Reason', cell: row => html`<a href=${to(['decisions'], { outcome: 'denied', reason: row.reason })}><code><${Text} of=${row.reason} bare /></code></a>` },
    { title: '', cell: row => html`<progress class=${isNew(row) ? 'first' : undefined} max=${most} value=${row.count} aria-label=${`Denied for ${brief(row.reason)}`} />` },
    { title: 'Denied', num: true, cell: row => number(row.count) },
    { title: days === 1 ? 'Yesterday' : `${days} days before`, num: true, cell: row => (isNew(row) ? html`<span class="state warn">new</span>` : number(row.before)) },
  ];
  return html`<section class="panel"><header><h2>Denied, by reason</h2><a class="end" href=${to(['decisions'], { outcome: 'denied' })}>All ${number(now.denied)}</a></header>
    ${now.denialReasons.length ? html`<${Table} label="Denied, by reason" columns=${columns} rows=${rows.slice(0, 8)} />` : html`<${Empty} title="Nothing was denied.">Each reason of a denial stands here with its number.<//>`}</section>`;
}

function Month({ data: { month, revisions } }) {
  const marks = {};
  for (const one of revisions) marks[one.createdAt.slice(0, 10)] ??= one.id;
  return html`<section class="panel"><header><h2>30 days</h2><span class="end quiet">decisions a day, errors in red; share denied, with revisions</span></header>
    <div class="in"><${Chart} labels=${month.trendLabels} allowed=${month.trendAllowed} denied=${month.trendDenied} errors=${month.trendErrors} marks=${marks} /></div></section>`;
}

const WORD = { 'policy-data': 'A data row', 'policy-rule': 'A rule', deploy: 'A deploy', shipped: 'The shipped policy', rollback: 'A rollback', connector: 'A connector' };

// What the save was foretold to change, where it was measured.
const effect = impact => (impact?.looked ? [['newlyDenied', 'denied'], ['newlyAllowed', 'allowed']].filter(([name]) => impact[name]).map(([name, word]) => `+${number(impact[name])} ${word}`).join(', ') || 'no outcome' : '–');

function Last({ data: { revisions } }) {
  const columns = [
    { title: 'Revision', cell: row => html`<a href=${to(['revisions', String(row.id)])}>${row.id}</a>` },
    { title: 'Change', cell: row => html`<${Text} of=${row.message || WORD[row.triggerSource] || row.triggerSource} /><span class="second"><${Text} of=${row.triggeredBy ?? ''} /> · <${When} at=${row.createdAt} /></span>` },
  ];
  if (revisions.some(row => row.impact?.looked)) columns.push({ title: 'Foretold', num: true, cell: row => effect(row.impact) });
  return html`<section class="panel"><header><h2>Last revisions</h2><a class="end" href="#/revisions">All</a></header>
    ${revisions.length ? html`<${Table} label="Last revisions" columns=${columns} rows=${revisions} />` : html`<${Empty} title="No revision yet.">The first save of a rule or a row makes one.<//>`}</section>`;
}

export default function Overview({ place }) {
  const days = PERIODS.some(([value]) => value === place.query.get('days')) ? place.query.get('days') : '1';
  const from = useData(signal => load(Number(days), signal), [days]);
  return html`<div class="head"><h1 tabindex="-1">Overview</h1>
      <span class="pick" role="group" aria-label="Period">${PERIODS.map(([value, label]) => html`<a href=${changed(place, { days: value })} aria-current=${value === days ? 'true' : undefined}>${value === '1' ? 'today' : label}</a>`)}</span></div>
    <${Of} from=${from} what="The report cannot be read">${data => html`<${Figures} data=${data} days=${Number(days)} /><p></p>
      <div class="cols over"><div><${Attention} data=${data} /><${Month} data=${data} /></div><div><${Reasons} data=${data} days=${Number(days)} /><${Last} data=${data} /></div></div>`}<//>`;
}
