// The form of a new client, and its secret, which is shown once.
import { request } from '../api.js';
import { html, useEffect, useRef, useState } from '../html.js';
import { go, to } from '../route.js';
import { may } from '../session.js';
import { Text, shell } from '../text.js';
import { Copy } from './elsewhere.js';
import { Field, idOf } from './fields.js';
import { Same, fileName } from './same.js';
import { MayNot, Refused } from './states.js';

export const FIELDS = [
  { name: 'clientId', label: 'Client id', help: 'Names the client in tokens, rules and rows.' },
  { name: 'clientName', label: 'Name', help: 'What people see at consent.' },
  { name: 'clientType', label: 'Type', kind: 'choice', values: ['confidential', 'public'], help: 'A public client, such as an app on a phone, cannot keep a secret.', required: true },
  { name: 'tokenEndpointAuthMethod', label: 'Authentication', kind: 'choice', values: ['', 'client_secret_basic', 'client_secret_post', 'private_key_jwt', 'spiffe_jwt', 'none'] },
  { name: 'redirectUris', label: 'Redirect URIs', kind: 'list', help: 'One a line; none for a client that signs in no people. https, or http with a loopback address.' },
  { name: 'scope', label: 'Scope ceiling', help: 'Scopes with blanks between; empty: policy alone decides.' },
];

// Return the line that gets a token for a client, for a shell. The issuer is where the admin API is.
export function tokenLine(client, scope = '') {
  const at = new URL('../token', location.href).href;
  const user = client.clientType === 'public' ? '' : ` \\\n  -u ${shell(client.clientId)}:"$CLIENT_SECRET"`;
  return `curl -sS ${shell(at)}${user} \\\n  -d grant_type=client_credentials${scope ? ` \\\n  -d scope=${shell(scope)}` : ''}`;
}

// A secret: once, until the user says that it is kept.
export function Secret({ client, secret, done }) {
  const box = useRef();
  useEffect(() => box.current.focus(), [secret]); // after the dialog that asked has closed
  return html`<section class="panel" aria-labelledby="secret"><header><h2 id="secret" tabindex="-1" ref=${box}>The secret of <${Text} of=${client.clientId} /></h2></header><div class="in">
    <p>It is shown this once. Put it where the client reads it; it cannot be read here again.</p>
    <code class="secret" tabindex="0">${secret}</code><p></p>
    <div class="acts"><${Copy} text=${secret} label="Copy secret" /><button type="button" class="main" onClick=${done}>I have it</button></div></div></section>`;
}

export function NewClient() {
  const [client, set] = useState({ clientType: 'confidential', enabled: true });
  const [error, setError] = useState();
  const [made, setMade] = useState();
  const [busy, setBusy] = useState(false);
  const body = Object.fromEntries(Object.entries(client).filter(([, value]) => value !== '' && value?.length !== 0));
  const submit = async event => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      const { data } = await request('POST', 'clients', { body });
      setError();
      if (data.clientSecret) setMade(data);
      else go(to(['clients', data.clientId], { tab: 'rights' }));
    } catch (fault) { setError(fault); }
    setBusy(false);
  };
  if (made) {
    return html`<div class="head"><h1 tabindex="-1" id="made"><${Text} of=${made.clientName || made.clientId} /> is made</h1></div>
      <${Secret} client=${made} secret=${made.clientSecret} done=${() => go(to(['clients', made.clientId], { tab: 'rights' }))} />`;
  }
  const { clientId: _, ...inFile } = body;
  return html`<div class="head"><div><a class="back" href="#/clients">Clients</a><h1 tabindex="-1">New client</h1></div></div>
    <div class="cols wide"><div><${MayNot} role="operator" />${error && html`<${Refused} error=${error} fieldId=${name => idOf(name.replace(/\[.*/, ''))} />`}
    <form class="panel" onSubmit=${submit} noValidate><div class="in">
      ${FIELDS.map(field => html`<${Field} ...${field} value=${client[field.name]} set=${value => set(old => ({ ...old, [field.name]: value }))} error=${error} readOnly=${!may('operator')} />`)}
      <div class="acts">${may('operator') && html`<button class="main" disabled=${busy}>Create client</button>`}<a class="button" href="#/clients">Cancel</a></div>
    </div></form></div>
    <div><${Same} file=${{ path: `clients/${fileName(client.clientId || 'NAME')}.json`, value: inFile }} authzctl="authzctl client create" of=${client.clientId || 'NAME'} method="POST" path="clients" body=${body} /></div></div>`;
}
