// One client: what it may do, settings, rights, tokens, decisions.
import { get, request, useData, withQuery } from '../api.js';
import { html, useState } from '../html.js';
import { changed, go, to } from '../route.js';
import { may } from '../session.js';
import { Text, shell } from '../text.js';
import { seconds, When } from '../time.js';
import { LostTokens } from './lost.js';
import { Changes } from './changes.js';
import { EditClient } from './client_edit.js';
import { Rights, bindingOf } from './client_rights.js';
import { Secret, tokenLine } from './client_new.js';
import { Confirm } from './confirm.js';
import { Copy } from './elsewhere.js';
import { Asked, Outcome, codesOf } from './flow.js';
import { PartOf } from './listed.js';
import { MayIt } from './may_it.js';
import { Same, fileName } from './same.js';
import { Empty, Of } from './states.js';
import { Table, Tabs } from './table.js';
import { Json } from './tree.js';

// Who registered a client, in words.
export const BY = { ADMIN: 'an administrator', DCR: 'itself', STATEMENT: 'itself, with a statement', CIMD: 'its metadata document' };

const SERVICE_OWN = ['id', 'clientSecret', 'issuedSoftwareStatementJwt', 'softwareStatementJson', 'createdAt', 'updatedAt', 'updatedBy', 'lastUsedAt', 'liveTokens', 'allowed24h', 'denied24h'];
const fileOf = client => Object.fromEntries(Object.entries(client).filter(([name, value]) => !SERVICE_OWN.includes(name) && value !== null));
// How files, authzctl and curl say a client as it is stored.
const elsewhere = client => {
  const body = fileOf(client), { clientId: _, ...inFile } = body;
  return { file: { path: `clients/${fileName(client.clientId)}.json`, value: inFile }, authzctl: 'authzctl client update', of: client.clientId, method: 'PUT', path: `clients/${encodeURIComponent(client.clientId)}`, body };
};
const chips = list => (list?.length ? list.map(one => html`<span class="chip"><${Text} of=${one} /></span>`) : html`<span class="quiet">none</span>`);

function May({ client, binding, place }) {
  return html`<section class="panel"><header><h2>What it may do</h2><a class="end" href=${changed(place, { tab: 'rights' })}>Change rights</a></header>
    ${binding
      ? html`<table class="bare" aria-label="What it may do"><tbody>${[['Grants', binding.grants], ['Scopes', binding.scopes], ['Resources', binding.resources], ['Endpoints', binding.endpoints]].map(([name, list]) => html`<tr><td>${name}</td><td>${chips(list)}</td><td class="quiet">its binding</td></tr>`)}</tbody></table>`
      : html`<${Empty} title="Nothing by a binding of its own.">${client.registrationType === 'ADMIN' ? 'Policy denies it every token until its binding names grants and scopes.' : `The binding of ${client.registrationType} registrations applies.`}<//>`}</section>`;
}

function LastDecisions({ id }) {
  const from = useData(signal => get(withQuery('audit-logs/search', { clientId: id, view: 'summary', size: 8 }), { signal }), [id]);
  const columns = [
    { title: 'Asked', cell: row => html`<a href=${to(['decisions'], { clientId: id, open: row.id })}><${Asked} row=${row} /></a>` },
    { title: 'Time', when: true, cell: row => html`<${When} at=${row.createdAt} form=${seconds} />` },
    { title: 'Outcome', cell: row => html`<${Outcome} of=${row.outcome} />` },
    { title: 'Reason', cell: row => html`<code><${Text} of=${codesOf(row).join(', ')} /></code>` },
  ];
  return html`<section class="panel"><header><h2>Last decisions</h2><a class="end" href=${to(['decisions'], { clientId: id })}>All</a></header>
    <${Of} from=${from} what="The decisions cannot be read">${data => (data.content.length ? html`<${Table} label="Last decisions" columns=${columns} rows=${data.content} />` : html`<${Empty} title="It has asked for nothing yet.">The line beside this gets a token.<//>`)}<//></section>`;
}

function Summary({ client, binding, place }) {
  const facts = [
    ['Authentication', html`<code>${client.tokenEndpointAuthMethod ?? (client.clientType === 'public' ? 'none' : 'client_secret_basic')}</code>`], ['Scope ceiling', html`<${Text} of=${client.scope || 'none: policy alone decides'} />`],
    ['Redirects', client.redirectUris?.length ? client.redirectUris.map(uri => html`<code><${Text} of=${uri} /></code> `) : html`<span class="quiet">none: no person signs in with it</span>`],
    ['Last used', html`<${When} at=${client.lastUsedAt} none='not yet' />`], ['Made', html`<${When} at=${client.createdAt} />`], ['Changed', html`<${When} at=${client.updatedAt} />${client.updatedBy && html` by <${Text} of=${client.updatedBy} />`}`],
    ['PKCE', client.pkceRequired ? 'required' : 'not required'], ['DPoP', client.dpopBoundAccessTokens ? 'its tokens are bound to a key' : 'not required'],
  ];
  const line = tokenLine(client, binding?.scopes?.find(scope => !scope.includes('*')));
  return html`<div class="cols wide"><div><${May} client=${client} binding=${binding} place=${place} /><${MayIt} client=${client} binding=${binding} place=${place} /><${LastDecisions} id=${client.clientId} /></div>
    <div><section class="panel"><header><h2>Facts</h2></header><dl class="in facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></section>
      <section class="panel"><header><h2>Get a token</h2></header><div class="in"><pre class="cmd" id="token-line" tabindex="0">${line}</pre><p></p><${Copy} text=${line} /></div></section>
      <${Same} ...${elsewhere(client)} /></div></div>`;
}

// The tabs; another word in the address is the first one.
const PARTS = ['settings', 'rights', 'tokens', 'people', 'changes', 'json'];

function Tokens({ id }) {
  const [asks, ask] = useState(false);
  const from = useData(signal => get(withQuery('tokens', { clientId: id, size: 50 }), { signal }), [id]);
  const revoke = async () => { await request('POST', 'tokens/revoke', { body: { clientId: id } }); from.again(); };
  const columns = [
    { title: 'Token', cell: row => html`<code>${row.tokenId}</code><span class="second">${row.kind}</span>` }, { title: 'Person', cell: row => html`<${Text} of=${row.subjectId ?? ''} />` },
    { title: 'Scope', cell: row => html`<${Text} of=${row.scope ?? ''} />` }, { title: 'Issued', when: true, cell: row => html`<${When} at=${row.issuedAt} />` }, { title: 'Ends', when: true, cell: row => html`<${When} at=${row.expiresAt} />` },
  ];
  return html`<section class="panel"><header><h2>Live tokens</h2>${may('operator') && html`<button type="button" class="danger end" onClick=${() => ask(true)}>Revoke all tokens…</button>`}</header>
    <${Of} from=${from} what="The tokens cannot be read">${data => (data.content.length ? html`<${Table} label="Tokens" columns=${columns} rows=${data.content} />${!data.last && html`<p class="in quiet">The newest 50.</p>`}` : html`<${Empty} title="No live token.">Tokens that ended or were revoked do not stand here.<//>`)}<//></section>
    ${asks && html`<${Confirm} title=${`Revoke every token of ${id}?`} type=${id} verb="Revoke all tokens" act=${revoke} close=${() => ask(false)}><p><${LostTokens} of=${{ clientId: id }} /> end; programs that hold one are refused at their next request. New tokens can be got at once.</p><//>`}`;
}

export default function Client({ id, place }) {
  const path = `clients/${encodeURIComponent(id)}`;
  const from = useData(async signal => {
    const { data, headers } = await request('GET', path, { signal });
    return { client: data, etag: headers.get('ETag'), binding: await bindingOf(id, signal) };
  }, [id]);
  const [asks, ask] = useState();
  const [secret, setSecret] = useState();
  const tab = PARTS.includes(place.query.get('tab')) ? place.query.get('tab') : '';
  const save = async change => { await request('PUT', path, { body: { ...fileOf(from.data.client), ...change }, headers: from.data.etag ? { 'If-Match': from.data.etag } : {} }); from.again(); };
  const rotate = async () => setSecret((await request('POST', `${path}/rotate-secret`, { body: {} })).data.clientSecret);
  return html`<${Of} from=${from} what="The client cannot be read" whole>${({ client, binding, etag }) => html`
    <div class="head"><div><a class="back" href="#/clients">Clients</a><h1 tabindex="-1"><${Text} of=${client.clientName || client.clientId} /></h1>
        <p><code><${Text} of=${client.clientId} /></code> · ${client.clientType} · registered by ${BY[client.registrationType] ?? client.registrationType} · <span class=${`state ${client.enabled ? 'ok' : 'off'}`}>${client.enabled ? 'enabled' : 'disabled'}</span></p></div>
      ${may('operator') && html`<div class="acts"><button type="button" onClick=${() => ask(client.enabled ? 'disable' : 'enable')}>${client.enabled ? 'Disable…' : 'Enable…'}</button>
        ${client.clientType === 'confidential' && html`<button type="button" onClick=${() => ask('rotate')}>New secret…</button>`}<button type="button" class="danger" onClick=${() => ask('delete')}>Delete…</button></div>`}</div>
    ${secret && html`<${Secret} client=${client} secret=${secret} done=${() => setSecret()} /><p></p>`}
    <${Tabs} main label="Parts of the client" tabs=${[['', 'Summary'], ['settings', 'Settings'], ['rights', 'Rights'], ['tokens', 'Tokens'], ['people', 'People'], ['changes', 'Changes'], ['json', 'JSON']]} chosen=${tab} choose=${name => go(changed(place, { tab: name }))} />
    ${tab === '' && html`<${Summary} client=${client} binding=${binding} place=${place} />`}
    ${tab === 'settings' && html`<${EditClient} client=${client} etag=${etag} fileOf=${fileOf} saved=${() => { from.again(); go(changed(place, { tab: undefined })); }} />`}
    ${tab === 'rights' && html`<${Rights} id=${id} />`}
    ${tab === 'tokens' && html`<${Tokens} id=${id} />`}
    ${tab === 'people' && html`<div class="cols half"><div>${['consents', 'approvals'].map(name => html`<${PartOf} name=${name} of=${{ clientId: id }} />`)}</div><div>${['delegations', 'resources'].map(name => html`<${PartOf} name=${name} of=${{ clientId: id }} />`)}</div></div>`}
    ${tab === 'changes' && html`<${Changes} object=${id} />`}
    ${tab === 'json' && html`<section class="panel"><${Json} of=${client} /></section>`}
    ${(asks === 'disable' || asks === 'enable') && html`<${Confirm} title=${`${asks === 'disable' ? 'Disable' : 'Enable'} ${client.clientId}?`} verb=${asks === 'disable' ? 'Disable it' : 'Enable it'} act=${() => save({ enabled: asks === 'enable' })} close=${() => ask()}>
      <p>${asks === 'disable' ? 'It gets no token, and its tokens are refused at introspection. Nothing is deleted.' : 'It may ask for tokens again, as policy allows.'}</p><//>`}
    ${asks === 'rotate' && html`<${Confirm} title=${`Make a new secret for ${client.clientId}?`} type=${client.clientId} verb="Make a new secret" act=${rotate} close=${() => ask()}><p>The secret of now is refused from then on.</p><//>`}
    ${asks === 'delete' && html`<${Confirm} title=${`Delete ${client.clientId}?`} type=${client.clientId} verb="Delete it" act=${async () => { await request('DELETE', path); go('#/clients'); }} close=${() => ask()}><p><${LostTokens} of=${{ clientId: client.clientId }} />, its consents and its secret go with it. Its binding in policy data and its audit rows stay.</p><//>`}`}<//>`;
}
