// Resources: what the gateway serves. #/resources/{name} is one, with its tools, their pins and its upstream.
import { get, request, useData } from '../api.js';
import { html, useState } from '../html.js';
import { Confirm } from '../parts/confirm.js';
import { Elsewhere } from '../parts/elsewhere.js';
import { Empty, Failed, Of } from '../parts/states.js';
import { Table, Tabs } from '../parts/table.js';
import { Json } from '../parts/tree.js';
import { changed, go, to } from '../route.js';
import { may } from '../session.js';
import { Text, curl, number, plural } from '../text.js';
import { short } from '../time.js';

const waits = tool => ['new', 'changed'].includes(tool.pin?.status);
const waiting = resource => (resource.tools ?? []).filter(waits).length;
const State = ({ of }) => html`<span class=${`state ${!of.enabled ? 'off' : of.status === 'DEGRADED' ? 'warn' : 'ok'}`}>${!of.enabled ? 'disabled' : (of.status ?? 'enabled').toLowerCase()}</span>`;

const COLUMNS = [
  { title: 'Resource', cell: row => html`<a class="strong" href=${to(['resources', row.name])}><${Text} of=${row.displayName || row.name} /></a><span class="second"><code><${Text} of=${row.name} /></code></span>` },
  { title: 'State', cell: row => html`<${State} of=${row} />${row.statusReason && html`<span class="second"><${Text} of=${row.statusReason} /></span>`}` },
  { title: 'Type', cell: row => row.upstreamType }, { title: 'Upstream', cell: row => html`<code><${Text} of=${row.upstreamUrl ?? '–'} /></code>` },
  { title: 'Tools', num: true, cell: row => number(row.toolCount ?? row.tools?.length ?? 0) },
  { title: 'Waiting', num: true, cell: row => (waiting(row) ? html`<span class="state warn">${waiting(row)}</span>` : '–') },
];

function List() {
  const from = useData(signal => get('managed-resources', { signal }), []);
  return html`<div class="head"><div><h1 tabindex="-1">Resources</h1><p>APIs and MCP servers behind the gateway. Policy decides each request and each call of a tool.</p></div><div class="acts"><${Elsewhere} label="As curl" title="This list, in a shell" text=${() => curl('GET', 'managed-resources')} /></div></div>
    <section class="panel" aria-label="List"><${Of} from=${from} what="The resources cannot be read">${rows => (rows.length ? html`<${Table} label="Resources" columns=${COLUMNS} rows=${rows} key=${row => row.name} />`
      : html`<${Empty} title="No resource yet.">The gateway serves nothing until a resource names an upstream. The usual first one is an MCP server: <code>authzctl resource create --file FILE</code>, or a connector; its tools are read and pinned when it is saved.<//>`)}<//></section>`;
}

const PIN = { approved: 'ok', new: 'warn', changed: 'warn', missing: 'off' };

// One tool, as its agents read it.
function Tool({ tool, act, place }) {
  return html`<section class="panel"><header><h2><${Text} of=${tool.name} /></h2>${tool.pin && html`<span class=${`state ${PIN[tool.pin.status] ?? 'off'}`}>${tool.pin.status}</span>`}<a class="end" href=${changed(place, { tool: undefined })}>Close</a></header><div class="in">
    ${waits(tool) && html`<p class="note"><b>Read it as your agents would.</b> The upstream ${tool.pin.status === 'new' ? 'added this tool' : 'changed its text or its arguments'}; it waits until you approve it.</p>`}
    <p><${Text} of=${tool.description ?? 'It has no description.'} /></p>
    <dl class="facts"><dt>Needs</dt><dd>${tool.scopes?.length ? tool.scopes.map(scope => html`<span class="chip"><${Text} of=${scope} /></span>`) : 'the default scope'}</dd>${tool.pin && html`<dt>Pin</dt><dd><code>${tool.pin.approved?.slice(0, 12) ?? 'none'}${waits(tool) ? ` → ${tool.pin.sha256?.slice(0, 12)}` : ''}</code></dd>`}</dl>
    <h3>Arguments</h3></div><${Json} of=${tool.inputSchema ?? null} />
    ${waits(tool) && may('operator') && html`<div class="in acts"><button type="button" class="danger" onClick=${() => act(tool)}>Approve this text…</button></div>`}</section>`;
}

function Tools({ resource, place, again }) {
  const [asks, ask] = useState();
  const tools = resource.tools ?? [];
  const open = tools.find(tool => tool.name === place.query.get('tool'));
  const columns = [
    { title: 'Tool', cell: row => html`<a class="strong" href=${changed(place, { tool: row.name })}><${Text} of=${row.name} /></a><span class="second"><${Text} of=${row.title ?? ''} /></span>` },
    { title: 'State', cell: row => (row.enabled === false ? html`<span class="state off">off</span>` : html`<span class=${`state ${PIN[row.pin?.status] ?? 'ok'}`}>${row.pin?.status ?? 'served'}</span>`) },
    { title: 'Needs', cell: row => (row.scopes ?? []).map(scope => html`<span class="chip"><${Text} of=${scope} /></span>`) },
  ];
  const approve = async tool => { await request('POST', `managed-resources/${encodeURIComponent(resource.name)}/tools/${encodeURIComponent(tool.name)}/approve`, { body: { sha256: tool.pin.sha256 } }); again(); };
  return html`<div class=${open ? 'cols half' : ''}><section class="panel" aria-label="Tools">${tools.length ? html`<${Table} label="Tools" columns=${columns} rows=${tools} key=${row => row.name} current=${row => row === open} />` : html`<${Empty} title="No tool.">An MCP server tells its tools at a sync; other resources have those that they name.<//>`}</section>
    ${open && html`<${Tool} tool=${open} place=${place} act=${ask} />`}</div>
    ${asks && html`<${Confirm} title=${`Approve ${asks.name}?`} type=${asks.name} verb="Approve this text" act=${() => approve(asks)} close=${() => ask()}><p>Agents see this text and may call the tool from now on, as policy allows.</p><//>`}`;
}

function One({ name, place }) {
  const path = `managed-resources/${encodeURIComponent(name)}`;
  const from = useData(signal => get(path, { signal }), [name]);
  const [said, say] = useState();
  const run = (what, word) => async () => {
    say({ busy: word });
    try { const { data } = await request('POST', `${path}/${what}`, { body: what === 'sync' ? {} : undefined }); say({ word, data }); from.again(); } catch (error) { say({ error, word }); }
  };
  const tab = place.query.get('tab') ?? '';
  return html`<${Of} from=${from} what="The resource cannot be read">${resource => html`
    <div class="head"><div><a class="back" href="#/resources">Resources</a><h1 tabindex="-1"><${Text} of=${resource.displayName || resource.name} /></h1>
        <p>${resource.upstreamType} · <code><${Text} of=${resource.upstreamUrl ?? 'no upstream'} /></code> · <${State} of=${resource} /> ${resource.statusChangedAt && `since ${short(resource.statusChangedAt)}`}</p></div>
      <div class="acts">${may('operator') && resource.upstreamType !== 'STATIC' && html`<button type="button" disabled=${said?.busy} onClick=${run('probe', 'Probe')}>Probe</button>${resource.upstreamType === 'MCP' && html`<button type="button" disabled=${said?.busy} onClick=${run('sync', 'Read tools')}>Read tools</button>`}`}
        <a class="button" href=${to(['decisions'], { resource: resource.name })}>Decisions</a><${Elsewhere} label="As curl" title="This resource, in a shell" text=${() => curl('GET', path)} /></div></div>
    <div role="status">${said?.busy && html`<p class="quiet">${said.busy}: waiting for the upstream</p>`}${said?.data && html`<div class=${said.data.ok === false ? 'note' : 'done'}><b>${said.word}</b><${Json} of=${said.data} /></div>`}</div>
    ${said?.error && html`<section class="panel"><${Failed} what=${`${said.word} failed`} error=${said.error} /></section><p></p>`}
    <${Tabs} main label="Parts of the resource" tabs=${[['', `Tools ${number(resource.tools?.length ?? 0)}${waiting(resource) ? `, ${plural(waiting(resource), 'waits', 'wait')}` : ''}`], ['routes', `Routes ${number(resource.routes?.length ?? 0)}`], ['json', 'JSON']]} chosen=${tab} choose=${value => go(changed(place, { tab: value, tool: undefined }))} />
    ${tab === '' && html`<${Tools} resource=${resource} place=${place} again=${from.again} />`}
    ${tab === 'routes' && html`<section class="panel"><${Json} of=${resource.routes ?? []} /></section>`}
    ${tab === 'json' && html`<section class="panel"><${Json} of=${resource} /></section>`}`}<//>`;
}

export default function Resources({ place }) {
  return place.path[1] !== undefined ? html`<${One} key=${place.path[1]} name=${place.path[1]} place=${place} />` : html`<${List} />`;
}
