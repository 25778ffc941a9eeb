// The tools of a resource: their pins, what an upstream changed, approval, and the tester beside them.
import { request } from '../api.js';
import { html, useState } from '../html.js';
import { changed } from '../route.js';
import { may } from '../session.js';
import { Text, plural } from '../text.js';
import { Confirm } from './confirm.js';
import { isOff } from './resource_state.js';
import { Empty } from './states.js';
import { Table } from './table.js';
import { ToolTester } from './tool.js';
import { ToolChange } from './tool_change.js';
import { Json } from './tree.js';

export const waits = tool => ['new', 'changed'].includes(tool.pin?.status);
const PIN = { approved: 'ok', new: 'warn', changed: 'warn', missing: 'off' };
const shown = (resource, tool) => `${resource.name.replace(/[^\w-]/g, '_')}__${tool.name}`;
const hint = tool => { const all = { ...tool.upstreamAnnotations, ...tool.annotations }; return all.readOnlyHint ? ' · read only' : all.destructiveHint ? ' · destructive' : ''; };

// One tool, as its agents read it.
function Tool({ resource, tool, ask, place }) {
  const others = (resource.tools ?? []).map(one => one.name).filter(name => name !== tool.name);
  return html`<section class="panel"><header><h2><${Text} of=${tool.name} /></h2>${tool.pin && html`<span class=${`state ${PIN[tool.pin.status] ?? 'off'}`}>${tool.pin.status}</span>`}<a class="end" href=${changed(place, { tool: undefined })}>Close</a></header><div class="in">
    ${waits(tool) && html`<p class="note"><b>Read it as your agents would.</b> The upstream ${tool.pin.status === 'new' ? 'added this tool' : 'changed its text or its arguments'}; ${isOff(resource) ? 'the resource is disabled, so no client sees it' : resource.toolPinning === 'warn' ? 'it is served at once, because toolPinning is warn' : 'it is blocked until you approve it'}.</p>`}
    ${tool.pin?.status === 'changed' && html`<${ToolChange} tool=${tool} others=${others} />`}
    ${waits(tool) && may('operator') && html`<div class="acts"><a class="button main" href=${changed(place, { tool: undefined })}>Keep blocked</a><button type="button" onClick=${() => ask({ what: 'off', tool })}>Turn the tool off…</button><button type="button" class="danger" onClick=${() => ask({ what: 'approve', tool })}>Approve this text…</button></div><p></p>`}
    <p class="prose"><${Text} of=${tool.description ?? 'It has no description.'} /></p>
    <dl class="facts"><dt>Needs</dt><dd>${tool.scopes?.length ? tool.scopes.map(scope => html`<span class="chip"><${Text} of=${scope} /></span>`) : 'the default scope'}</dd>${tool.pin && html`<dt>Pin</dt><dd><code>${tool.pin.approved?.slice(0, 12) ?? 'nothing was approved'}</code></dd>`}</dl>
    <h3>Arguments</h3></div><${Json} of=${tool.inputSchema ?? null} /></section>`;
}

export function Tools({ resource, etag, place, again }) {
  const [asks, ask] = useState();
  const tools = resource.tools ?? [];
  const open = tools.find(tool => tool.name === place.query.get('tool'));
  const path = `managed-resources/${encodeURIComponent(resource.name)}`;
  const columns = [
    { title: 'Tool', cell: row => html`<a class="strong" href=${changed(place, { tool: row.name })}><${Text} of=${row.name} bare /></a><span class="second"><${Text} of=${shown(resource, row) + hint(row)} /></span>` },
    { title: 'State', cell: row => (row.enabled === false ? html`<span class="state off">off</span>` : html`<span class=${`state ${PIN[row.pin?.status] ?? (isOff(resource) ? 'off' : 'ok')}`}>${row.pin?.status ?? (isOff(resource) ? 'not served' : 'served')}</span>${row.pin && isOff(resource) && html`<span class="second">not served</span>`}`) },
    { title: 'Needs', cell: row => (row.scopes ?? []).map(scope => html`<span class="chip"><${Text} of=${scope} /></span>`) },
  ];
  const approve = async tool => { await request('POST', `${path}/tools/${encodeURIComponent(tool.name)}/approve`, { body: { sha256: tool.pin.sha256 } }); again(); };
  const off = async tool => { await request('PUT', path, { body: { ...resource, tools: [{ ...tool, enabled: false }] }, headers: etag ? { 'If-Match': etag } : {} }); again(); };
  const waiting = tools.filter(waits).length;
  return html`<div class="cols wide"><div>${open && html`<${Tool} resource=${resource} tool=${open} place=${place} ask=${ask} /><p></p>`}
      <section class="panel"><header><h2>Tools</h2><span class="small">${isOff(resource) ? 'the resource is disabled: no client sees them' : `clients see them as ${shown(resource, { name: 'name' })}`}${waiting > 0 ? ` · ${plural(waiting, 'tool waits', 'tools wait')} for approval` : ''}</span></header>
      ${tools.length ? html`<${Table} label="Tools" columns=${columns} rows=${tools} key=${row => row.name} current=${row => row === open} />` : html`<${Empty} title="No tool.">Those of an MCP server are there once “Read tools” (or authzctl resource sync) has read them; those of another resource are named under “Upstream, credential and routes”.<//>`}</section></div>
    <div><${ToolTester} key=${open?.name} resource=${resource} start=${open?.name} /></div></div>
    ${asks?.what === 'approve' && html`<${Confirm} title=${`Approve ${asks.tool.name}?`} type=${asks.tool.name} verb="Approve this text" act=${() => approve(asks.tool)} close=${() => ask()}><p>Agents see this text and may call the tool from now on, as policy allows.</p><//>`}
    ${asks?.what === 'off' && html`<${Confirm} title=${`Turn ${asks.tool.name} off?`} verb="Turn it off" act=${() => off(asks.tool)} close=${() => ask()}><p>No client sees or calls it, whatever its upstream says, until it is turned on again.</p><//>`}`;
}
