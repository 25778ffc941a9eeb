// People: find one by the subject; #/people/{sub} shows sessions, tokens, consents and decisions, and signs out everywhere.
import { get, request, useData, withQuery } from '../api.js';
import { html, useRef, useState } from '../html.js';
import { Confirm } from '../parts/confirm.js';
import { Asked, Outcome } from '../parts/flow.js';
import { Empty, Of } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { go, to } from '../route.js';
import { may } from '../session.js';
import { Text, plural } from '../text.js';
import { short } from '../time.js';

const SHOWN = 50;
const link = sub => html`<a class="strong" href=${to(['people', sub])}><${Text} of=${sub} /></a>`;

function List() {
  const field = useRef();
  const from = useData(signal => get('sessions', { signal }), []);
  const columns = [{ title: 'Person', cell: row => link(row.subjectId) }, { title: 'Sessions', num: true, cell: row => row.count }];
  return html`<div class="head"><div><h1 tabindex="-1">People</h1><p>Those who are signed in now. Any other is found by the subject that tokens and decisions name.</p></div></div>
    <form class="pills" role="search" aria-label="People" onSubmit=${event => { event.preventDefault(); if (field.current.value.trim()) go(to(['people', field.current.value.trim()])); }}><input type="search" ref=${field} aria-label="Subject" placeholder="Subject" /><button>Open</button></form>
    <section class="panel" aria-label="List"><${Of} from=${from} what="The sessions cannot be read">${sessions => {
      const count = new Map();
      for (const one of sessions) count.set(one.subjectId, (count.get(one.subjectId) ?? 0) + 1);
      const rows = [...count].slice(0, SHOWN).map(([subjectId, number]) => ({ subjectId, count: number }));
      return rows.length ? html`<${Table} label="People" columns=${columns} rows=${rows} />${count.size > SHOWN && html`<p class="in quiet">${SHOWN} of ${plural(count.size, 'person', 'people')}; open another one by the subject.</p>`}` : html`<${Empty} title="No person is signed in.">A person stands here from the sign-in at an identity provider to its end.<//>`;
    }}<//></section>`;
}

const Part = ({ title, from, what, columns, rows, empty, end }) => html`<section class="panel"><header><h2>${title}</h2>${end && html`<span class="end">${end}</span>`}</header><${Of} from=${from} what=${what}>${data => (rows(data).length ? html`<${Table} label=${title} columns=${columns} rows=${rows(data)} />` : html`<p class="in quiet">${empty}</p>`)}<//></section>`;

function One({ sub }) {
  const load = (path, query) => useData(signal => get(withQuery(path, { subjectId: sub, ...query }), { signal }), [sub]);
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
      <${Part} title="Sessions" from=${sessions} what="The sessions cannot be read" rows=${data => data} empty="None." columns=${[{ title: 'Session', cell: row => html`<code>${row.sid}</code>` }]} />
      <${Part} title="Tokens" from=${tokens} what="The tokens cannot be read" rows=${data => data.content} empty="None is live." columns=${[{ title: 'Client', cell: row => html`<a href=${to(['clients', row.clientId])}><${Text} of=${row.clientId} /></a><span class="second">${row.kind}</span>` }, { title: 'Scope', cell: row => html`<${Text} of=${row.scope ?? ''} />` }, { title: 'Ends', cell: row => short(row.expiresAt) }]} /></div>
      <div><${Part} title="Last decisions" from=${decisions} what="The decisions cannot be read" rows=${data => data.content} empty="None names this subject." end=${html`<a href=${to(['decisions'], { subjectId: sub })}>All</a>`} columns=${[{ title: 'Asked', cell: row => html`<a href=${to(['decisions'], { subjectId: sub, open: row.id })}><${Asked} row=${row} /></a><span class="second"><${Text} of=${row.clientId ?? ''} /></span>` }, { title: 'Time', cell: row => short(row.createdAt) }, { title: 'Outcome', cell: row => html`<${Outcome} of=${row.outcome} />` }]} />
      <${Part} title="Consents" from=${consents} what="The consents cannot be read" rows=${data => data} empty="None." columns=${[{ title: 'Client', cell: row => html`<a href=${to(['clients', row.clientId])}><${Text} of=${row.clientId} /></a>` }, { title: 'Scope', cell: row => html`<${Text} of=${row.scope ?? ''} />` }, { title: 'Given', cell: row => short(row.grantedAt) }, ...(may('operator') ? [{ title: '', cell: row => html`<button type="button" aria-label=${`Withdraw the consent for ${row.clientId}`} onClick=${() => withdraw(row)}>Withdraw</button>` }] : [])]} /></div></div>
    ${asks && html`<${Confirm} title=${`Sign ${sub} out everywhere?`} type=${sub} verb="Sign out everywhere" act=${everywhere} close=${() => ask(false)}><p>${plural(sessions.data?.length ?? 0, 'session')} and every token and code of this person end. Programs are refused at their next request.</p><//>`}`;
}

export default function People({ place }) {
  return place.path[1] !== undefined ? html`<${One} key=${place.path[1]} sub=${place.path[1]} />` : html`<${List} />`;
}
