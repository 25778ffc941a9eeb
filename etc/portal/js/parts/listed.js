// What people hold and grant: sessions, tokens, consents, delegations, UMA resources and waiting approvals. Lists has all of them,
// PartOf those of one person or client.
import { get, request, useData, withQuery } from '../api.js';
import { html, useState } from '../html.js';
import { to } from '../route.js';
import { may } from '../session.js';
import { Text, brief, curl, number, plural } from '../text.js';
import { When } from '../time.js';
import { Elsewhere } from './elsewhere.js';
import { Name, agent } from './names.js';
import { Pager, SIZE, pageOf, usePage } from './pages.js';
import { Empty, Failed, Of } from './states.js';
import { Filters, Table } from './table.js';

const person = name => ({ title: 'Person', of: 'subjectId', cell: row => html`<a class="strong" href=${to(['people', row[name]])}><${Name} kind="person" of=${row[name]} /></a>` });
const client = { title: 'Client', of: 'clientId', cell: row => html`<a href=${to(['clients', row.clientId])}><${Name} kind="client" of=${row.clientId} /></a>` };
const scope = { title: 'Scope', cell: row => html`<${Text} of=${row.scope ?? ''} />${row.resource && html`<span class="second"><${Text} of=${row.resource} /></span>`}` };
const ends = { title: 'Ends', when: true, cell: row => html`<${When} at=${row.expiresAt} />` };
const who = (subject, id) => (subject ? html`<a href=${to(['people', subject])}><${Name} kind="person" of=${subject} /></a>` : html`<a href=${to(['clients', id])}><${Name} kind="client" of=${id} /></a>`);
const PERSON = ['subjectId', 'person'], CLIENT = ['clientId', 'client'];

// path: of the API. columns: those with `of` are left out where that filter is fixed. act: what ends a row.
export const LISTS = {
  sessions: {
    title: 'Sessions', path: 'sessions', filters: [PERSON], empty: 'No person is signed in.', fills: 'A sign-in at /authorize begins a session; it ends by itself.', none: 'None. A sign-in begins one.',
    columns: [person('subjectId'), { title: 'Session', cell: row => html`<code class="keep">${row.sid.slice(0, 8)}</code>${row.idpId && html`<span class="second"><a href=${to(['providers', row.idpId])}><${Text} of=${row.idpId} bare /></a></span>`}` },
      { title: 'From', cell: row => html`<${Text} of=${row.ip ?? '–'} /><span class="second" title=${brief(row.userAgent)}><${Text} of=${agent(row.userAgent)} /></span>` },
      { title: 'Last seen', when: true, cell: row => html`<${When} at=${row.lastSeenAt} /><span class="second">since <${When} at=${row.createdAt} /></span>` }, ends],
    act: { verb: 'End', label: row => `End session ${row.sid.slice(0, 8)} of ${row.subjectId}`, path: row => `sessions/${encodeURIComponent(row.sid)}` },
  },
  consents: {
    title: 'Consents', path: 'consents', filters: [PERSON, CLIENT], empty: 'No consent is remembered.', fills: 'One stands here when a person allows a client on the consent page; the row svc.operator.controls.consent says when that page is shown.', none: 'None. One stands here when a person allows a client on the consent page.',
    columns: [person('subjectId'), client, scope, { title: 'Given', when: true, cell: row => html`<${When} at=${row.grantedAt} />` }],
    act: { verb: 'Withdraw', label: row => `Withdraw the consent of ${row.subjectId} for ${row.clientId}`, path: row => `consents/${row.id}` },
  },
  delegations: {
    title: 'Delegations', path: 'delegations', filters: [PERSON, CLIENT, ['resourceId', 'UMA resource'], ['state', 'state', ['live', 'ended']]], fixed: { state: 'live' },
    empty: 'Nothing is delegated.', fills: 'A client delegates a resource of its user at POST /delegation.', none: 'None is live, by or to it. A client makes one at POST /delegation.',
    columns: [{ title: 'Resource', cell: row => html`<a class="strong" href=${to(['people'], { tab: 'delegations', resourceId: row.resourceId })}><${Text} of=${row.resourceName ?? row.resourceId} bare /></a><span class="second"><${Text} of=${row.scopes.join(' ')} /></span>` },
      { title: 'By', cell: row => html`${who(row.grantorSubject === row.grantorClientId ? '' : row.grantorSubject, row.grantorClientId)}<span class="second">with <${Name} kind="client" of=${row.grantorClientId} /></span>` }, { title: 'To', cell: row => who(row.granteeSubject, row.granteeClientId) },
      { title: 'State', of: 'state', cell: row => html`<span class=${`state ${row.live ? 'ok' : 'off'}`}>${row.live ? 'live' : row.revokedAt ? 'revoked' : 'ended'}</span>` }, { title: 'Ends', when: true, cell: row => html`<${When} at=${row.revokedAt ?? row.expiresAt} none='by revocation' />` }],
  },
  resources: {
    title: 'UMA resources', path: 'uma-resources', filters: [['q', 'name'], PERSON, CLIENT], empty: 'No UMA resource is registered.', fills: 'A client registers the resources of its users at POST /uma/resource_set.', none: 'None is registered. A client registers them.',
    columns: [{ title: 'Resource', cell: row => html`<span class="strong"><${Text} of=${row.name ?? row.id} /></span><span class="second"><${Text} of=${row.type ?? row.id} /></span>` },
      { title: 'Owner', of: 'subjectId', cell: row => who(row.subjectId === row.clientId ? '' : row.subjectId, row.clientId) }, { ...client, title: 'Registered by' },
      { title: 'Scopes', cell: row => row.scopes.map(one => html`<span class="chip"><${Text} of=${one} /></span>`) },
      { title: 'Delegations', num: true, cell: row => (row.delegations ? html`<a href=${to(['people'], { tab: 'delegations', resourceId: row.id, state: 'live' })}>${number(row.delegations)}</a>` : '0') }, { title: 'Changed', when: true, cell: row => html`<${When} at=${row.updatedAt} />` }],
  },
  approvals: {
    title: 'Waiting approvals', path: 'ciba-requests', filters: [PERSON, CLIENT], empty: 'No request waits for a person.', fills: 'A client asks a person who is elsewhere at POST /bc-authorize (CIBA).', none: 'No request waits. A client makes one at POST /bc-authorize (CIBA).',
    columns: [person('subjectId'), client, { title: 'Message', cell: row => html`<${Text} of=${row.bindingMessage ?? '–'} />` }, scope,
      { title: 'Asked', when: true, cell: row => html`<a href=${to(['decisions'], { flowId: row.flowId })}><${When} at=${row.createdAt} /></a>` }, ends],
  },
};

const columnsOf = (list, fixed, end) => [
  ...list.columns.filter(column => !column.of || !fixed[column.of]),
  ...(list.act && may('operator') ? [{ title: 'End', hidden: true, cell: row => html`<button type="button" aria-label=${brief(list.act.label(row))} onClick=${() => end(row)}>${list.act.verb}</button>` }] : []),
];

// Return [fault, end]: end(row) ends a row by a request, then loads the list again.
function useEnd(list, again) {
  const [fault, setFault] = useState();
  const end = async row => { try { await request('DELETE', list.act.path(row)); setFault(); again(); } catch (error) { setFault(error); } };
  return [fault, end];
}

const Fault = ({ of, what }) => of && html`<${Failed} what=${`${what} failed`} error=${of} />`;

// All of a list, with filters and pages.
export function Whole({ name, place }) {
  const list = LISTS[name], page = pageOf(place);
  const query = { ...Object.fromEntries(list.filters.map(([key]) => [key, place.query.get(key)])), page, size: SIZE };
  const from = usePage(list.path, query);
  const [fault, end] = useEnd(list, from.again);
  const filtered = list.filters.some(([key]) => place.query.get(key));
  return html`<${Filters} place=${place} filters=${list.filters} drop=${['page']}><span class="small" role="status">${from.data && plural(from.data.total, 'entry', 'entries')}</span>
      <${Elsewhere} label="As curl" title="This list, in a shell" text=${() => curl('GET', withQuery(list.path, query))} /><//>
    <section class="panel" aria-label=${list.title}><${Fault} of=${fault} what=${list.act?.verb} /><${Of} from=${from} what="The list cannot be read">${({ rows, total }) => (rows.length
      ? html`<${Table} label=${list.title} columns=${columnsOf(list, {}, end)} rows=${rows} key=${row => row.id ?? row.sid} /><${Pager} place=${place} page=${page} shown=${rows.length} total=${total} />`
      : html`<${Empty} title=${filtered ? 'None matches.' : list.empty}>${filtered ? html`<a href=${to(['people'], { tab: name })}>Remove the filters</a>` : list.fills}<//>`)}<//></section>`;
}

const FEW = 10;

// Those of one person or client, the newest, with a way to all of them. turn: another value loads them again.
export function PartOf({ name, of, turn }) {
  const list = LISTS[name], fixed = { ...list.fixed, ...of };
  const from = useData(async signal => {
    const { data, headers } = await request('GET', withQuery(list.path, { ...fixed, page: 0, size: FEW }), { signal });
    return { rows: data, total: Number(headers.get('X-Total-Count')) };
  }, [name, ...Object.values(fixed), turn]);
  const [fault, end] = useEnd(list, from.again);
  return html`<section class="panel"><header><h2>${list.title}</h2>${from.data?.total > FEW && html`<a class="end" href=${to(['people'], { tab: name, ...fixed })}>All ${number(from.data.total)}</a>`}</header>
    <${Fault} of=${fault} what=${list.act?.verb} /><${Of} from=${from} what="The list cannot be read">${({ rows }) => (rows.length ? html`<${Table} label=${list.title} columns=${columnsOf(list, fixed, end)} rows=${rows} key=${row => row.id ?? row.sid} />` : html`<p class="in quiet">${list.none}</p>`)}<//></section>`;
}

// The live tokens of a person, without their texts.
export function TokensOf({ of, turn }) {
  const from = useData(signal => get(withQuery('tokens', { ...of, size: FEW }), { signal }), [...Object.values(of), turn]);
  const columns = [{ ...client, cell: row => html`${client.cell(row)}<span class="second">${row.kind}</span>` }, scope, ends].filter(column => !of[column.of]);
  return html`<section class="panel"><header><h2>Tokens</h2></header><${Of} from=${from} what="The tokens cannot be read">${data => (data.content.length ? html`<${Table} label="Tokens" columns=${columns} rows=${data.content} />${!data.last && html`<p class="in quiet">The newest ${FEW}.</p>`}` : html`<p class="in quiet">None is live. One stands here from its issue until it ends or is revoked.</p>`)}<//></section>`;
}
