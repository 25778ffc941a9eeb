// People: find one by name, address or subject; #/people/{sub} shows sessions, tokens, consents, accounts elsewhere, delegations and decisions, and signs out everywhere.
import { get, request, useData, withQuery } from '../api.js';
import { html, useRef, useState } from '../html.js';
import { Confirm } from '../parts/confirm.js';
import { Elsewhere } from '../parts/elsewhere.js';
import { Asked, Outcome } from '../parts/flow.js';
import { Pager, pageOf, usePage } from '../parts/pages.js';
import { Empty, Of } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { changed, go, to } from '../route.js';
import { may } from '../session.js';
import { Text, brief, curl, plural } from '../text.js';
import { short } from '../time.js';

const SHOWN = 50;
const link = sub => html`<a class="strong" href=${to(['people', sub])}><${Text} of=${sub} bare /></a>`;
const PERSON = [
  { title: 'Person', cell: row => html`<a class="strong" href=${to(['people', row.subjectId])}><${Text} of=${row.name || row.email || row.subjectId} bare /></a><span class="second"><code><${Text} of=${row.subjectId} /></code></span>` },
  { title: 'Address', cell: row => html`<${Text} of=${row.email ?? '–'} />` }, { title: 'Provider', cell: row => (row.idpId ? html`<a href=${to(['providers', row.idpId])}><${Text} of=${row.idpId} bare /></a>` : html`<${Text} of=${row.issuer} />`) },
  { title: 'Sessions', num: true, cell: row => row.sessions }, { title: 'Last sign-in', cell: row => short(row.signedInAt) }, { title: 'First seen', cell: row => short(row.createdAt) },
];

function List({ place }) {
  const field = useRef();
  const page = pageOf(place), q = place.query.get('q') ?? '';
  const query = { q, page, size: SHOWN };
  const from = usePage('subjects', query);
  return html`<div class="head"><div><h1 tabindex="-1">People</h1><p>Those who signed in at an identity provider, the last sign-in first.</p></div><div class="acts"><${Elsewhere} label="As curl" title="This list, in a shell" text=${() => curl('GET', withQuery('subjects', query))} /></div></div>
    <form class="pills" role="search" aria-label="People" onSubmit=${event => { event.preventDefault(); go(changed(place, { q: field.current.value.trim(), page: undefined })); }}><input type="search" ref=${field} aria-label="Name, address or subject" placeholder="Name, address or subject" defaultValue=${q} /><button>Find</button><span class="small" role="status">${from.data && plural(from.data.total, 'person', 'people')}</span></form>
    <section class="panel" aria-label="List"><${Of} from=${from} what="The people cannot be read">${({ rows, total }) => (rows.length ? html`<${Table} label="People" columns=${PERSON} rows=${rows} key=${row => row.subjectId} /><${Pager} place=${place} page=${page} shown=${rows.length} total=${total} />`
      : q ? html`<${Empty} title="No person matches.">A part of a name is looked for among the 10,000 who signed in last; of any other the whole subject or address is needed. <a href="#/people">All people</a>. ${link(q)} may still stand in decisions.<//>` : html`<${Empty} title="No person signed in yet.">A person stands here from the first sign-in at an identity provider.<//>`)}<//></section>`;
}

const Part = ({ title, from, what, columns, rows, empty, end }) => html`<section class="panel"><header><h2>${title}</h2>${end && html`<span class="end">${end}</span>`}</header><${Of} from=${from} what=${what}>${data => (rows(data).length ? html`<${Table} label=${title} columns=${columns} rows=${rows(data)} />` : html`<p class="in quiet">${empty}</p>`)}<//></section>`;

const SESSION = [
  { title: 'Session', cell: row => html`<code>${row.sid.slice(0, 8)}</code><span class="second"><${Text} of=${row.idpId ?? ''} /></span>` }, { title: 'From', cell: row => html`<${Text} of=${row.ip ?? '–'} /><span class="second"><${Text} of=${row.userAgent ?? ''} /></span>` },
  { title: 'Began', cell: row => short(row.createdAt) }, { title: 'Last seen', cell: row => short(row.lastSeenAt) }, { title: 'Ends', cell: row => short(row.expiresAt) },
];

function One({ sub }) {
  const load = (path, query) => useData(signal => get(withQuery(path, { subjectId: sub, ...query }), { signal }), [sub]);
  const linked = useData(signal => get(withQuery('connections', { subject: sub, size: SHOWN }), { signal }), [sub]);
  const delegations = load('delegations', { size: SHOWN, state: 'live' }), waiting = load('ciba-requests', { size: SHOWN });
  const sessions = load('sessions'), tokens = load('tokens', { size: SHOWN }), consents = load('consents'), decisions = load('audit-logs/search', { view: 'summary', size: 10 });
  const [asks, ask] = useState(false);
  const everywhere = async () => {
    for (const one of sessions.data ?? []) await request('DELETE', `sessions/${encodeURIComponent(one.sid)}`);
    await request('POST', 'tokens/revoke', { body: { subjectId: sub } });
    for (const one of [sessions, tokens, decisions]) one.again();
  };
  const withdraw = async row => { await request('DELETE', `consents/${row.id}`); consents.again(); };
  return html`<div class="head"><div><a class="back" href="#/people">People</a><h1 tabindex="-1"><${Text} of=${sub} /></h1></div>${may('operator') && html`<div class="acts"><button type="button" class="danger" disabled=${!sessions.data} onClick=${() => ask(true)}>Sign out everywhere…</button></div>`}</div>
    <div class="cols half"><div>
      <${Part} title="Sessions" from=${sessions} what="The sessions cannot be read" rows=${data => data} empty="None." columns=${SESSION} />
      <${Part} title="Accounts elsewhere" from=${linked} what="The connections cannot be read" rows=${data => data} empty="None is connected." columns=${[{ title: 'Resource', cell: row => html`<a href=${to(['resources', row.resource], { tab: 'connections' })}><${Text} of=${row.resource} bare /></a><span class="second"><${Text} of=${row.account ?? ''} /></span>` }, { title: 'State', cell: row => html`<span class=${`state ${row.status === 'active' ? 'ok' : 'warn'}`}>${row.status === 'active' ? 'connected' : 'to connect again'}</span>` }, { title: 'Last used', cell: row => short(row.lastUsedAt) || 'not yet' }]} />
      <${Part} title="Delegations" from=${delegations} what="The delegations cannot be read" rows=${data => data} empty="None is live, by or to this person." columns=${[{ title: 'Resource', cell: row => html`<${Text} of=${row.resourceName ?? row.resourceId} /><span class="second"><${Text} of=${row.scopes.join(' ')} /></span>` }, { title: 'By', cell: row => html`<${Text} of=${row.grantorSubject} />` }, { title: 'To', cell: row => html`<${Text} of=${row.granteeSubject ?? row.granteeClientId} />` }, { title: 'Ends', cell: row => short(row.expiresAt) || 'by revocation' }]} />
      <${Part} title="Tokens" from=${tokens} what="The tokens cannot be read" rows=${data => data.content} empty="None is live." columns=${[{ title: 'Client', cell: row => html`<a href=${to(['clients', row.clientId])}><${Text} of=${row.clientId} bare /></a><span class="second">${row.kind}</span>` }, { title: 'Scope', cell: row => html`<${Text} of=${row.scope ?? ''} />` }, { title: 'Ends', cell: row => short(row.expiresAt) }]} /></div>
      <div><${Part} title="Waiting for this person" from=${waiting} what="The approvals cannot be read" rows=${data => data} empty="No request waits for an approval." columns=${[{ title: 'Client', cell: row => html`<a href=${to(['clients', row.clientId])}><${Text} of=${row.clientId} bare /></a><span class="second"><${Text} of=${row.bindingMessage ?? ''} /></span>` }, { title: 'Scope', cell: row => html`<${Text} of=${row.scope} />` }, { title: 'Ends', cell: row => short(row.expiresAt) }]} />
      <${Part} title="Last decisions" from=${decisions} what="The decisions cannot be read" rows=${data => data.content} empty="None names this subject." end=${html`<a href=${to(['decisions'], { subjectId: sub })}>All</a>`} columns=${[{ title: 'Asked', cell: row => html`<a href=${to(['decisions'], { subjectId: sub, open: row.id })}><${Asked} row=${row} /></a><span class="second"><${Text} of=${row.clientId ?? ''} /></span>` }, { title: 'Time', cell: row => short(row.createdAt) }, { title: 'Outcome', cell: row => html`<${Outcome} of=${row.outcome} />` }]} />
      <${Part} title="Consents" from=${consents} what="The consents cannot be read" rows=${data => data} empty="None." columns=${[{ title: 'Client', cell: row => html`<a href=${to(['clients', row.clientId])}><${Text} of=${row.clientId} bare /></a>` }, { title: 'Scope', cell: row => html`<${Text} of=${row.scope ?? ''} />` }, { title: 'Given', cell: row => short(row.grantedAt) }, ...(may('operator') ? [{ title: '', cell: row => html`<button type="button" aria-label=${`Withdraw the consent for ${brief(row.clientId)}`} onClick=${() => withdraw(row)}>Withdraw</button>` }] : [])]} /></div></div>
    ${asks && html`<${Confirm} title=${`Sign ${sub} out everywhere?`} type=${sub} verb="Sign out everywhere" act=${everywhere} close=${() => ask(false)}><p>${plural(sessions.data?.length ?? 0, 'session')} and every token and code of this person end. Programs are refused at their next request.</p><//>`}`;
}

export default function People({ place }) {
  return place.path[1] !== undefined ? html`<${One} key=${place.path[1]} sub=${place.path[1]} />` : html`<${List} place=${place} />`;
}
