// Clients: the list; #/clients/{id} is one, #/clients?new=1 the form of a new one.
import { withQuery } from '../api.js';
import { html, useRef } from '../html.js';
import { useKeys } from '../keys.js';
import Client, { BY } from '../parts/client.js';
import { NewClient } from '../parts/client_new.js';
import { Elsewhere } from '../parts/elsewhere.js';
import { Pager, SIZE, pageOf, usePage } from '../parts/pages.js';
import { Empty, Of } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { changed, go, to } from '../route.js';
import { may } from '../session.js';
import { Text, curl, number, plural } from '../text.js';
import { isoDay, When } from '../time.js';

const COLUMNS = [
  { title: 'Client', sort: ['clientName', '-clientName'], cell: row => html`<a class="strong" href=${to(['clients', row.clientId])}><${Text} of=${row.clientName || row.clientId} bare /></a><span class="second"><code><${Text} of=${row.clientId} bare /></code></span>` },
  { title: 'State', cell: row => html`<span class=${`state ${row.enabled ? 'ok' : 'off'}`}>${row.enabled ? 'enabled' : 'disabled'}</span>` },
  { title: 'Registration', name: true, cell: row => html`by ${BY[row.registrationType] ?? row.registrationType}<span class="second">${row.clientType}</span>` },
  { title: 'Live tokens', num: true, cell: row => (row.liveTokens === undefined ? '–' : number(row.liveTokens)) },
  { title: 'Denied, 24 h', num: true, sort: ['-denied24h'], cell: row => (row.denied24h ? html`<a href=${to(['decisions'], { clientId: row.clientId, outcome: 'denied' })}>${number(row.denied24h)}</a><span class="second">of ${number(row.denied24h + row.allowed24h)}</span>` : html`0<span class="second">of ${number(row.allowed24h ?? 0)}</span>`) },
  { title: 'Last used', when: true, sort: ['-lastUsedAt', 'lastUsedAt'], cell: row => html`<${When} at=${row.lastUsedAt} none='not yet' />` },
  { title: 'Made', when: true, sort: ['-createdAt', 'createdAt'], cell: row => html`<${When} at=${row.createdAt} />${row.updatedBy && html`<span class="second">changed by <${Text} of=${row.updatedBy} /></span>`}` },
];
const CHOICES = [
  ['registrationType', 'Any registration', ['ADMIN', 'DCR', 'CIMD', 'STATEMENT']], ['clientType', 'Any type', ['confidential', 'public']],
  ['enabled', 'Enabled or not', ['true', 'false']],
];

// Days back, in the address; the service is asked for the begin of that day.
const USED = [['1', 'used since yesterday'], ['7', 'used in 7 days'], ['30', 'used in 30 days']];

function List({ place }) {
  const field = useRef();
  const page = pageOf(place);
  const names = ['q', ...CHOICES.map(([name]) => name)];
  const query = Object.fromEntries(names.map(name => [name, place.query.get(name)]));
  const used = USED.find(([days]) => days === place.query.get('used'))?.[0];
  const sort = place.query.get('sort') ?? '';
  const asked = { ...query, usedSince: used && `${isoDay(Number(used))}T00:00:00Z`, sort, page, size: SIZE };
  const path = withQuery('clients', asked);
  const from = usePage('clients', asked);
  const set = (name, value) => go(changed(place, { [name]: value, page: undefined }));
  useKeys({ n: may('operator') ? () => go(changed(place, { new: 1 })) : undefined });
  const filtered = used || names.some(name => place.query.get(name));
  return html`<div class="head"><div><h1 tabindex="-1">Clients</h1><p>Programs that may ask for tokens. A new client may do nothing until a row of policy data entitles it.</p></div>
      <div class="acts"><${Elsewhere} label="As curl" title="This list, in a shell" text=${() => curl('GET', path)} />
        ${may('operator') && html`<a class="button main" href=${changed(place, { new: 1 })}>New client <kbd aria-hidden="true">n</kbd></a>`}</div></div>
    <form class="pills" role="search" aria-label="Clients" onSubmit=${event => { event.preventDefault(); set('q', field.current.value.trim()); }}>
      <input type="search" ref=${field} aria-label="Name or id" placeholder="Name or id" defaultValue=${place.query.get('q') ?? ''} />
      ${CHOICES.map(([name, any, values]) => html`<select aria-label=${any} value=${place.query.get(name) ?? ''} onChange=${event => set(name, event.target.value)}><option value="">${any}</option>${values.map(value => html`<option value=${value}>${{ true: 'enabled', false: 'disabled' }[value] ?? value}</option>`)}</select>`)}
      <select aria-label="Used or not" value=${used ?? ''} onChange=${event => set('used', event.target.value)}><option value="">Used or not</option>${USED.map(([days, word]) => html`<option value=${days}>${word}</option>`)}</select>
      <button>Filter</button><span class="small" role="status">${from.data && plural(from.data.total, filtered ? 'client matches' : 'client', filtered ? 'clients match' : 'clients')}</span>
    </form>
    <section class="panel" aria-label="List"><${Of} from=${from} what="The list cannot be read">${({ rows, total }) => (rows.length
      ? html`<${Table} label="Clients" columns=${COLUMNS} rows=${rows} key=${row => row.clientId} sort=${{ now: sort, by: order => set('sort', order) }} /><${Pager} place=${place} page=${page} shown=${rows.length} total=${total} />`
      : filtered
        ? html`<${Empty} title="No client matches."><a href="#/clients">Remove the filters</a><//>`
        : html`<${Empty} title="No client yet.">A program needs one to get tokens. The usual first one is a service of your own that signs in with a secret. ${may('operator') && html`<p></p><a class="button main" href="#/clients?new=1">New client</a>`}<//>`)}<//></section>`;
}

export default function Clients({ place }) {
  if (place.path[1] !== undefined) return html`<${Client} key=${place.path[1]} place=${place} id=${place.path[1]} />`;
  return place.query.get('new') ? html`<${NewClient} />` : html`<${List} place=${place} />`;
}
