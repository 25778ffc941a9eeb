// People: find one by name, address or subject; tabs have the sessions, consents, delegations, UMA resources and
// waiting approvals of all; #/people/{sub} shows those of one, tokens, accounts elsewhere and decisions, and signs out everywhere.
import { get, request, useData, withQuery } from '../api.js';
import { html, useRef, useState } from '../html.js';
import { LostTokens } from '../parts/lost.js';
import { Confirm } from '../parts/confirm.js';
import { Elsewhere } from '../parts/elsewhere.js';
import { Asked, Outcome, whyOf } from '../parts/flow.js';
import { LISTS, PartOf, TokensOf, Whole } from '../parts/listed.js';
import { Name } from '../parts/names.js';
import { Pager, pageOf, usePage } from '../parts/pages.js';
import { Empty, Of } from '../parts/states.js';
import { Table, Tabs } from '../parts/table.js';
import { changed, go, to } from '../route.js';
import { may } from '../session.js';
import { Text, curl, jsonText, plural } from '../text.js';
import { When } from '../time.js';

const SHOWN = 50;
const link = sub => html`<a class="strong" href=${to(['people', sub])}><${Text} of=${sub} bare /></a>`;
const PERSON = [
  { title: 'Person', cell: row => html`<a class="strong" href=${to(['people', row.subjectId])}><${Text} of=${row.name || row.email || row.subjectId} bare /></a><span class="second"><code><${Text} of=${row.subjectId} bare /></code></span>` },
  { title: 'Address', cell: row => html`<${Text} of=${row.email ?? '–'} bare />` }, { title: 'Provider', cell: row => (row.idpId ? html`<a href=${to(['providers', row.idpId])}><${Text} of=${row.idpId} bare /></a>` : html`<${Text} of=${row.issuer} />`) },
  { title: 'Sessions', num: true, cell: row => row.sessions }, { title: 'Last sign-in', when: true, cell: row => html`<${When} at=${row.signedInAt} />` }, { title: 'First seen', when: true, cell: row => html`<${When} at=${row.createdAt} />` },
];

function List({ place }) {
  const field = useRef();
  const page = pageOf(place), q = place.query.get('q') ?? '';
  const query = { q, page, size: SHOWN };
  const from = usePage('subjects', query);
  return html`<form class="pills" role="search" aria-label="People" onSubmit=${event => { event.preventDefault(); go(changed(place, { q: field.current.value.trim(), page: undefined })); }}><input type="search" ref=${field} aria-label="Name, address or subject" placeholder="Name, address or subject" defaultValue=${q} /><button>Find</button><span class="small" role="status">${from.data && plural(from.data.total, 'person', 'people')}</span>
      <${Elsewhere} label="As curl" title="This list, in a shell" text=${() => curl('GET', withQuery('subjects', query))} /></form>
    <section class="panel" aria-label="List"><${Of} from=${from} what="The people cannot be read">${({ rows, total }) => (rows.length ? html`<${Table} label="People" columns=${PERSON} rows=${rows} key=${row => row.subjectId} /><${Pager} place=${place} page=${page} shown=${rows.length} total=${total} />`
      : q ? html`<${Empty} title="No person matches.">A part of a name is looked for among the 10,000 who signed in last; of any other the whole subject or address is needed. <a href="#/people">All people</a>. ${link(q)} may still stand in decisions.<//>` : html`<${Empty} title="No person signed in yet.">A person stands here from the first sign-in at an identity provider.<//>`)}<//></section>`;
}

const TABS = [['', 'People'], ...Object.entries(LISTS).map(([name, list]) => [name, list.title])];

function All({ place }) {
  const tab = Object.hasOwn(LISTS, place.query.get('tab')) ? place.query.get('tab') : '';
  return html`<div class="head"><div><h1 tabindex="-1">People</h1><p>${tab ? 'What people hold and grant, the newest first.' : 'Those who signed in at an identity provider, the last sign-in first.'}</p></div></div>
    <${Tabs} main label="Lists" tabs=${TABS} chosen=${tab} choose=${name => go(to(['people'], { tab: name }))} />
    ${tab ? html`<${Whole} key=${tab} name=${tab} place=${place} />` : html`<${List} place=${place} />`}`;
}

const Part = ({ title, from, what, columns, rows, empty, end }) => html`<section class="panel"><header><h2>${title}</h2>${end && html`<span class="end">${end}</span>`}</header><${Of} from=${from} what=${what}>${data => (rows(data).length ? html`<${Table} label=${title} columns=${columns} rows=${rows(data)} />` : html`<p class="in quiet">${empty}</p>`)}<//></section>`;

// End each session: a list has at most 1,000, and one that has ended meanwhile is gone.
async function endSessions(of) {
  const list = () => get(withQuery('sessions', of));
  for (let rows = await list(); rows.length; rows = await list())
    for (const one of rows) await request('DELETE', `sessions/${encodeURIComponent(one.sid)}`).catch(fault => { if (fault.status !== 404) throw fault; });
}

// Who it is, by the last sign-in. A subject that decisions name need not be one of the people: the service may know no more.
function Facts({ person }) {
  const claims = Object.entries(person.claims ?? {}).filter(([name]) => !['name', 'email'].includes(name));
  const facts = [['Address', html`<${Text} of=${person.email ?? 'not known'} />`], ['Provider', person.idpId ? html`<a href=${to(['providers', person.idpId])}><${Text} of=${person.idpId} bare /></a>` : html`<${Text} of=${person.issuer} />`],
    ['Last sign-in', html`<${When} at=${person.signedInAt} />`], ['First seen', html`<${When} at=${person.createdAt} />`], ['Subject', html`<code><${Text} of=${person.subjectId} /></code>`]];
  return html`<section class="panel"><header><h2>Person</h2></header><dl class="in facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
    ${claims.length > 0 && html`<details class="in"><summary>${plural(claims.length, 'more claim')}</summary><dl class="facts">${claims.map(([name, value]) => html`<dt><${Text} of=${name} /></dt><dd><${Text} of=${typeof value === 'string' ? value : jsonText(value)} /></dd>`)}</dl></details>`}</section>`;
}

// Return the person, or nothing if the service knows none of this subject.
const personOf = (sub, signal) => get(`subjects/${encodeURIComponent(sub)}`, { signal }).catch(fault => { if (fault.status === 404) return { subjectId: sub, none: true }; throw fault; });

function One({ sub }) {
  const person = useData(signal => personOf(sub, signal), [sub]);
  const of = { subjectId: sub };
  const [turn, next] = useState(0);
  const linked = useData(signal => get(withQuery('connections', { subject: sub, size: SHOWN }), { signal }), [sub]);
  const decisions = useData(signal => get(withQuery('audit-logs/search', { ...of, view: 'summary', size: 10 }), { signal }), [sub, turn]);
  const sessions = useData(signal => get(withQuery('sessions', of), { signal }), [sub, turn]);
  const [asks, ask] = useState(false);
  const everywhere = async () => {
    await endSessions(of);
    await request('POST', 'tokens/revoke', { body: of });
    next(turn + 1);
  };
  return html`<div class="head"><div><a class="back" href="#/people">People</a><h1 tabindex="-1"><${Text} of=${person.data?.name || person.data?.email || sub} /></h1><p><code><${Text} of=${sub} /></code></p></div>${may('operator') && html`<div class="acts"><button type="button" class="danger" disabled=${!sessions.data} onClick=${() => ask(true)}>Sign out everywhere…</button></div>`}</div>
    <div class="cols half"><div>
      <${Of} from=${person} what="The person cannot be read">${data => (data.none ? html`<section class="panel"><${Empty} title="No person of this name signed in.">The subject stands in decisions; a client may have named it.<//></section>` : html`<${Facts} person=${data} />`)}<//>
      <${PartOf} name="sessions" of=${of} turn=${turn} />
      <${TokensOf} of=${of} turn=${turn} />
      <${PartOf} name="consents" of=${of} />
      <${Part} title="Accounts elsewhere" from=${linked} what="The connections cannot be read" rows=${data => data} empty="None is connected. One stands here once this person connects an account for a resource whose credential is that of a person." columns=${[{ title: 'Resource', cell: row => html`<a href=${to(['resources', row.resource], { tab: 'connections' })}><${Text} of=${row.resource} bare /></a><span class="second"><${Text} of=${row.account ?? ''} /></span>` }, { title: 'State', cell: row => html`<span class=${`state ${row.status === 'active' ? 'ok' : 'warn'}`}>${row.status === 'active' ? 'connected' : 'to connect again'}</span>` }, { title: 'Last used', when: true, cell: row => html`<${When} at=${row.lastUsedAt} none='not yet' />` }]} /></div>
      <div><${Part} title="Last decisions" from=${decisions} what="The decisions cannot be read" rows=${data => data.content} empty="None names this subject. Each request for this person leaves one here." end=${html`<a href=${to(['decisions'], { subjectId: sub })}>All</a>`} columns=${[{ title: 'Asked', cell: row => html`<a href=${to(['decisions'], { subjectId: sub, open: row.id })}><${Asked} row=${row} /></a><span class="second">${row.clientId && html`<${Name} kind="client" of=${row.clientId} />`} <${Text} of=${whyOf(row)} /></span>` }, { title: 'Time', cell: row => html`<${When} at=${row.createdAt} />` }, { title: 'Outcome', cell: row => html`<${Outcome} of=${row.outcome} />` }]} />
      <${PartOf} name="approvals" of=${of} />
      <${PartOf} name="delegations" of=${of} />
      <${PartOf} name="resources" of=${of} /></div></div>
    ${asks && html`<${Confirm} title=${`Sign ${sub} out everywhere?`} type=${sub} verb="Sign out everywhere" act=${everywhere} close=${() => ask(false)}><p>${plural(sessions.data?.length ?? 0, 'session')}, <${LostTokens} of=${{ subjectId: sub }} /> and every code of this person end. Programs are refused at their next request.</p><//>`}`;
}

export default function People({ place }) {
  return place.path[1] !== undefined ? html`<${One} key=${place.path[1]} sub=${place.path[1]} />` : html`<${All} place=${place} />`;
}
