// Resources: what the gateway serves. #/resources/{name} is one, with its tools, their pins and its upstream; #/resources?new=1 a new one.
import { get, request, useData, withQuery } from '../api.js';
import { html, useRef, useState } from '../html.js';
import { useKeys } from '../keys.js';
import { Changes } from '../parts/changes.js';
import { Confirm } from '../parts/confirm.js';
import { Elsewhere } from '../parts/elsewhere.js';
import { LostAccounts } from '../parts/lost.js';
import { Pager, SIZE, pageOf, usePage } from '../parts/pages.js';
import { EditResource, NewResource } from '../parts/resource_edit.js';
import { State, isOff } from '../parts/resource_state.js';
import { Texts } from '../parts/resource_texts.js';
import { Tools, waits } from '../parts/resource_tools.js';
import { Empty, Failed, Of } from '../parts/states.js';
import { Table, Tabs } from '../parts/table.js';
import { Json } from '../parts/tree.js';
import { changed, go, to } from '../route.js';
import { may } from '../session.js';
import { Text, brief, curl, number, plural } from '../text.js';
import { When, span } from '../time.js';

const waiting = resource => (resource.tools ?? []).filter(waits).length;

const COLUMNS = [
  { title: 'Resource', cell: row => html`<a class="strong" href=${to(['resources', row.name])}><${Text} of=${row.displayName || row.name} bare /></a><span class="second"><code><${Text} of=${row.name} /></code></span>` },
  { title: 'State', cell: row => html`<${State} of=${row} />${row.statusReason && html`<span class="second"><${Text} of=${row.statusReason} /></span>`}` },
  { title: 'Type', cell: row => row.upstreamType }, { title: 'Upstream', cell: row => html`<code><${Text} of=${row.upstreamUrl ?? '–'} bare /></code>` },
  { title: 'Tools', num: true, cell: row => number(row.toolCount ?? 0) },
  { title: 'Waiting', num: true, cell: row => (row.waitingTools ? html`<span class="state warn">${row.waitingTools}</span>` : '–') },
];
const STATUSES = ['active', 'pending', 'degraded', 'error', 'disabled'];

function List({ place }) {
  const field = useRef();
  const page = pageOf(place), q = place.query.get('q') ?? '', status = place.query.get('status') ?? '';
  const query = { q, status, view: 'summary', page, size: SIZE };
  const from = usePage('managed-resources', query);
  const set = (name, value) => go(changed(place, { [name]: value, page: undefined }));
  const fresh = changed(place, { new: 1 });
  useKeys({ n: may('operator') ? () => go(fresh) : undefined });
  const button = may('operator') && html`<a class="button main" href=${fresh}>New resource <kbd aria-hidden="true">n</kbd></a>`;
  return html`<div class="head"><div><h1 tabindex="-1">Resources</h1><p>APIs and MCP servers behind the gateway. Policy decides each request and each call of a tool.</p></div><div class="acts"><${Elsewhere} label="As curl" title="This list, in a shell" text=${() => curl('GET', withQuery('managed-resources', query))} />${button}</div></div>
    <form class="pills" role="search" aria-label="Resources" onSubmit=${event => { event.preventDefault(); set('q', field.current.value.trim()); }}><input type="search" ref=${field} aria-label="Name" placeholder="Name" defaultValue=${q} />
      <select aria-label="Any status" value=${status} onChange=${event => set('status', event.target.value)}><option value="">Any status</option>${STATUSES.map(one => html`<option>${one}</option>`)}</select><button>Filter</button></form>
    <section class="panel" aria-label="List"><${Of} from=${from} what="The resources cannot be read">${({ rows, total }) => (rows.length ? html`<${Table} label="Resources" columns=${COLUMNS} rows=${rows} key=${row => row.name} /><${Pager} place=${place} page=${page} shown=${rows.length} total=${total} />`
      : q || status ? html`<${Empty} title="No resource matches."><a href="#/resources">Remove the filters</a><//>` : html`<${Empty} title="No resource yet.">The gateway serves nothing until a resource names an upstream. The usual first one is an MCP server: its tools are read and pinned after the save. <p></p><div class="acts">${button}<a class="button" href="#/connectors">From a connector</a></div><//>`)}<//></section>`;
}

function Connections({ path }) {
  const from = useData(signal => get(`${path}/connections`, { signal }), [path]);
  const [asks, ask] = useState();
  const end = async row => { await request('DELETE', withQuery(`${path}/connections`, { subject: row.subject })); from.again(); };
  const columns = [
    { title: 'Person', cell: row => html`<a class="strong" href=${to(['people', row.subject])}><${Text} of=${row.subject} bare /></a><span class="second"><${Text} of=${row.idpId ?? ''} /></span>` }, { title: 'Account there', cell: row => html`<${Text} of=${row.account ?? '–'} />` },
    { title: 'State', cell: row => html`<span class=${`state ${row.status === 'active' ? 'ok' : 'warn'}`}>${row.status === 'active' ? 'connected' : 'to connect again'}</span>` }, { title: 'Connected', when: true, cell: row => html`<${When} at=${row.connectedAt} />` }, { title: 'Last used', when: true, cell: row => html`<${When} at=${row.lastUsedAt} none='not yet' />` },
    ...(may('operator') ? [{ title: '', cell: row => html`<button type="button" class="danger" aria-label=${`Disconnect ${brief(row.subject)}`} onClick=${() => ask(row)}>Disconnect…</button>` }] : []),
  ];
  return html`<section class="panel" aria-label="Connections"><${Of} from=${from} what="The connections cannot be read">${rows => (rows.length ? html`<${Table} label="Connections" columns=${columns} rows=${rows} />` : html`<${Empty} title="No account is connected.">Resources whose credential is that of a person have one here for each person who connected an account.<//>`)}<//></section>
    ${asks && html`<${Confirm} title=${`Disconnect ${asks.subject}?`} type=${asks.subject} verb="Disconnect it" act=${() => end(asks)} close=${() => ask()}><p>The stored tokens are deleted; the next call asks the person to connect again. They are not revoked at the upstream.</p><//>`}`;
}

function Head({ resource, path, busy, run, ask }) {
  return html`<div class="head"><div><a class="back" href="#/resources">Resources</a><h1 tabindex="-1"><${Text} of=${resource.displayName || resource.name} /></h1>
      <p>${resource.upstreamType} · <code><${Text} of=${resource.upstreamUrl ?? 'no upstream'} /></code> · <${State} of=${resource} />${resource.statusChangedAt ? html` since <${When} at=${resource.statusChangedAt} />` : ''}${resource.syncedAt ? html` · tools read <${When} at=${resource.syncedAt} />` : ''}${resource.lastProbe?.latencyMs !== undefined ? ` · ${span(resource.lastProbe.latencyMs)}` : ''}</p>
      ${resource.statusReason && html`<p><${Text} of=${resource.statusReason} /></p>`}</div>
    <div class="acts">${may('operator') && html`${resource.upstreamType !== 'STATIC' && html`<button type="button" disabled=${busy} onClick=${run('probe', 'Probe')}>Probe</button>`}${resource.upstreamType === 'MCP' && html`<button type="button" disabled=${busy} onClick=${run('sync', 'Read tools')}>Read tools</button>`}
        <button type="button" onClick=${() => ask(isOff(resource) ? 'enable' : 'disable')}>${isOff(resource) ? 'Enable…' : 'Disable…'}</button>`}
      <a class="button" href=${to(['decisions'], { resource: resource.name })}>Decisions</a><${Elsewhere} label="As curl" title="This resource, in a shell" text=${() => curl('GET', path)} />${may('operator') && html`<button type="button" class="danger" onClick=${() => ask('delete')}>Delete…</button>`}</div></div>`;
}

// The tabs; another word in the address is the first one.
const PARTS = ['edit', 'texts', 'connections', 'changes', 'json'];

function One({ name, place }) {
  const path = `managed-resources/${encodeURIComponent(name)}`;
  const from = useData(async signal => { const { data, headers } = await request('GET', path, { signal }); return { resource: data, etag: headers.get('ETag') }; }, [name]);
  const [said, say] = useState();
  const [asks, ask] = useState();
  const run = (what, word) => async () => {
    say({ busy: word });
    try { const { data } = await request('POST', `${path}/${what}`, { body: what === 'sync' ? {} : undefined }); say({ word, data }); from.again(); } catch (error) { say({ error, word }); }
  };
  const save = async change => {
    const { tools, ...rest } = from.data.resource;
    await request('PUT', path, { body: { ...rest, ...(rest.upstreamType === 'MCP' ? {} : { tools }), ...change }, headers: from.data.etag ? { 'If-Match': from.data.etag } : {} });
    from.again();
  };
  const tab = PARTS.includes(place.query.get('tab')) ? place.query.get('tab') : '';
  useKeys({ e: may('operator') ? () => go(changed(place, { tab: 'edit' })) : undefined });
  const tabs = resource => [['', `Tools ${number(resource.tools?.length ?? 0)}${waiting(resource) ? `, ${plural(waiting(resource), 'waits', 'wait')}` : ''}`], ['edit', 'Upstream, credential and routes'], ...(resource.upstreamType === 'MCP' ? [['texts', 'Prompts and instructions']] : []), ['connections', 'Connections'], ['changes', 'Changes'], ['json', 'JSON']];
  return html`<${Of} from=${from} what="The resource cannot be read" whole>${({ resource, etag }) => html`
    <${Head} resource=${resource} path=${path} busy=${Boolean(said?.busy)} run=${run} ask=${ask} />
    <div role="status">${said?.busy && html`<p class="quiet">${said.busy}: waiting for the upstream</p>`}${said?.data && html`<div class=${said.data.ok === false ? 'note' : 'done'}><b>${said.word}</b><${Json} of=${said.data} /></div>`}${said?.saved && html`<p class="done">The resource is saved.</p>`}</div>
    ${said?.error && html`<section class="panel"><${Failed} what=${`${said.word} failed`} error=${said.error} /></section><p></p>`}
    <${Tabs} main label="Parts of the resource" tabs=${tabs(resource)} chosen=${tab} choose=${value => go(changed(place, { tab: value, tool: undefined }))} />
    ${tab === '' && html`<${Tools} resource=${resource} etag=${etag} place=${place} again=${from.again} />`}
    ${tab === 'edit' && html`<${EditResource} stored=${{ value: resource, etag }} saved=${() => { say({ saved: true }); from.again(); }} />`}
    ${tab === 'texts' && html`<${Texts} path=${path} resource=${resource} />`}
    ${tab === 'connections' && html`<${Connections} path=${path} />`}
    ${tab === 'changes' && html`<${Changes} object=${resource.name} />`}
    ${tab === 'json' && html`<section class="panel"><${Json} of=${resource} /></section>`}
    ${(asks === 'disable' || asks === 'enable') && html`<${Confirm} title=${`${asks === 'disable' ? 'Disable' : 'Enable'} ${name}?`} verb=${asks === 'disable' ? 'Disable it' : 'Enable it'} act=${() => save({ enabled: asks === 'enable' })} close=${() => ask()}><p>${asks === 'disable' ? 'The gateway answers 404 for it, and its tools are hidden. Nothing is deleted.' : 'The gateway serves it again, as policy allows.'}</p><//>`}
    ${asks === 'delete' && html`<${Confirm} title=${`Delete ${name}?`} type=${name} verb="Delete it" act=${async () => { await request('DELETE', path); go('#/resources'); }} close=${() => ask()}><p>${plural((resource.routes ?? []).length, 'route')}, ${plural((resource.tools ?? []).length, 'tool')}, its credential and <${LostAccounts} of=${{ resource: name }} /> go with it. Audit rows stay.</p><//>`}`}<//>`;
}

export default function Resources({ place }) {
  if (place.path[1] !== undefined) return html`<${One} key=${place.path[1]} name=${place.path[1]} place=${place} />`;
  return place.query.get('new') ? html`<${NewResource} />` : html`<${List} place=${place} />`;
}
