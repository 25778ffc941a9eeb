// Keys: admin keys with their role, use and end, and the signing keys. Owners make, reveal and revoke.
import { get, request, useData } from '../api.js';
import { html, useEffect, useRef, useState } from '../html.js';
import { useKeys } from '../keys.js';
import { Confirm } from '../parts/confirm.js';
import { Copy } from '../parts/elsewhere.js';
import { Field, idOf } from '../parts/fields.js';
import { MayNot, Of, Refused } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { changed, go } from '../route.js';
import { may } from '../session.js';
import { Text, brief, plural } from '../text.js';
import { When } from '../time.js';

const USES = { oidc: 'ID tokens', statement: 'software statements', audit: 'the audit log', access: 'JWT access tokens' };
const KEY = [
  { title: 'Key', cell: row => html`<code><${Text} of=${row.kid} /></code>` }, { title: 'Use', cell: row => html`${USES[row.use] ?? row.use}<span class="second">${row.alg}</span>` },
  { title: 'State', cell: row => html`<span class=${`state ${row.state === 'active' ? 'ok' : 'off'}`}>${row.state}</span>` }, { title: 'Since', when: true, cell: row => html`<${When} at=${row.activatedAt ?? row.createdAt} />` },
];

// A plaintext, until the user says that it is kept.
function Shown({ title, secret, copy = 'Copy key', done }) {
  const box = useRef();
  useEffect(() => box.current.focus(), [secret]); // after the dialog that asked has closed
  return html`<section class="panel" aria-labelledby="shown"><header><h2 id="shown" tabindex="-1" ref=${box}><${Text} of=${title} /></h2></header><div class="in"><code class="secret" tabindex="0">${secret}</code><p></p><div class="acts"><${Copy} text=${secret} label=${copy} /><button type="button" class="main" onClick=${done}>I have it</button></div></div></section><p></p>`;
}

function New({ made, close }) {
  const [form, set] = useState({ role: 'operator' });
  const [error, setError] = useState();
  const submit = async event => {
    event.preventDefault();
    const body = { label: form.label ?? '', role: form.role, ...(form.days ? { expiresAt: new Date(Date.now() + Number(form.days) * 86400000).toISOString().replace(/\.\d+/, '') } : {}) };
    try { made((await request('POST', 'admin-keys', { body })).data); } catch (fault) { setError(fault); }
  };
  const change = name => value => set(old => ({ ...old, [name]: value }));
  return html`${error && html`<${Refused} error=${error} fieldId=${idOf} />`}<form class="panel" onSubmit=${submit} noValidate><header><h2>New admin key</h2></header><div class="in">
    <${Field} name="label" label="Label" help="Who or what uses it; audit rows show it." required value=${form.label} set=${change('label')} error=${error} />
    <${Field} name="role" label="Role" kind="choice" values=${['auditor', 'operator', 'owner']} help="Auditors look; operators also write; owners also handle keys." value=${form.role} set=${change('role')} error=${error} />
    <${Field} name="days" label="Ends after" kind="choice" values=${['', '1', '30', '90', '365']} none="it does not end" help="Days from now." value=${form.days} set=${change('days')} error=${error} />
    <div class="acts"><button class="main">Make the key</button><button type="button" onClick=${close}>Cancel</button></div></div></form><p></p>`;
}

export default function Keys({ place }) {
  const from = useData(signal => get('admin-keys', { signal }), []);
  const signing = useData(signal => get('keys', { signal }), []);
  const [asks, ask] = useState();
  const [shown, show] = useState();
  const owner = may('owner');
  const open = () => go(changed(place, { new: 1 })), close = () => go(changed(place, { new: undefined }));
  useKeys({ n: owner ? open : undefined });
  const reveal = async row => show({ title: `The key ${row.label}`, secret: (await request('GET', `admin-keys/${row.id}/plaintext`)).data.key });
  const sign = async row => show({ title: `Sign in as ${row.label}: a link for once, within 10 minutes`, secret: (await request('POST', `admin-keys/${row.id}/link`)).data.url, copy: 'Copy link' });
  const revoke = async row => { await request('DELETE', `admin-keys/${row.id}`); from.again(); };
  const columns = [
    { title: 'Label', cell: row => html`<span class="strong"><${Text} of=${row.label} /></span><span class="second"><code>${row.id}</code></span>` }, { title: 'Role', cell: row => row.role },
    { title: 'State', cell: row => (row.revokedAt ? html`<span class="state off">revoked</span>` : row.expiresAt && new Date(row.expiresAt) < new Date() ? html`<span class="state off">ended</span>` : html`<span class="state ok">valid</span>`) },
    { title: 'Last used', when: true, cell: row => html`<${When} at=${row.lastUsedAt} none='not yet' />` }, { title: 'Ends', when: true, cell: row => html`<${When} at=${row.expiresAt} none='–' />` }, { title: 'Made', when: true, cell: row => html`<${When} at=${row.createdAt} /><span class="second"><${Text} of=${row.createdBy ?? row.managedBy} /></span>` },
    ...(owner ? [{ title: '', cell: row => !row.revokedAt && html`<span class="acts"><button type="button" aria-label=${`Reveal ${brief(row.label)}`} onClick=${() => ask({ what: 'reveal', row })}>Reveal…</button><button type="button" aria-label=${`Sign-in link of ${brief(row.label)}`} onClick=${() => ask({ what: 'sign', row })}>Link…</button>${row.managedBy !== 'environment' && html`<button type="button" class="danger" aria-label=${`Revoke ${brief(row.label)}`} onClick=${() => ask({ what: 'revoke', row })}>Revoke…</button>`}</span>` }] : []),
  ];
  return html`<div class="head"><div><h1 tabindex="-1">Keys</h1><p>Admin keys sign programs and people in here; signing keys sign tokens and statements.</p></div>${owner && html`<div class="acts"><button type="button" class="main" onClick=${open}>New admin key <kbd aria-hidden="true">n</kbd></button></div>`}</div>
    <${MayNot} role="owner" />
    ${shown && html`<${Shown} ...${shown} done=${() => show()} />`}
    ${owner && place.query.get('new') && html`<${New} close=${close} made=${data => { show({ title: `The key ${data.label}: shown here once`, secret: data.key }); from.again(); close(); }} />`}
    <section class="panel"><header><h2>Admin keys</h2></header><${Of} from=${from} what="The keys cannot be read">${rows => html`<${Table} label="Admin keys" columns=${columns} rows=${rows} key=${row => row.id} />`}<//></section>
    <section class="panel"><header><h2>Signing keys</h2>${owner && html`<span class="end acts">${Object.entries(USES).map(([use, word]) => html`<button type="button" onClick=${() => ask({ what: 'turn', use, word })}>New key for ${word}…</button>`)}</span>`}</header><${Of} from=${signing} what="The signing keys cannot be read">${rows => html`<${Table} label="Signing keys" columns=${KEY} rows=${rows} key=${row => row.kid} />`}<//></section>
    ${asks?.what === 'turn' && html`<${Confirm} title=${`Sign ${asks.word} with the next key?`} verb="Make it active" act=${async () => { await request('POST', 'keys/rotate', { body: { use: asks.use } }); signing.again(); }} close=${() => ask()}><p>The next key becomes active, and another one is published as the next. The key of now only verifies from then on.</p><//>`}
    ${asks?.what === 'reveal' && html`<${Confirm} title=${`Show the key ${asks.row.label}?`} verb="Show it" act=${() => reveal(asks.row)} close=${() => ask()}><p>Whoever sees it can use it. That you looked is in the audit log.</p><//>`}
    ${asks?.what === 'sign' && html`<${Confirm} title=${`Make a sign-in link of ${asks.row.label}?`} verb="Make it" act=${() => sign(asks.row)} close=${() => ask()}><p>Whoever opens it first, within 10 minutes, has the rights of the key (${asks.row.role}) in that browser.</p><//>`}
    ${asks?.what === 'revoke' && html`<${Confirm} title=${`Revoke the key ${asks.row.label}?`} type=${asks.row.label} verb="Revoke it" act=${() => revoke(asks.row)} close=${() => ask()}><p>Programs that use it are refused at once, and ${plural(asks.row.sessions, 'session')} of the console ${asks.row.sessions === 1 ? 'ends' : 'end'}.</p><//>`}`;
}
