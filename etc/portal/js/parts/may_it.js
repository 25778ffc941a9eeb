// "May it…?": asks the active policy if a client would get a token, and issues nothing.
import { request } from '../api.js';
import { html, useState } from '../html.js';
import { changed, to } from '../route.js';
import { Text, brief } from '../text.js';
import { Outcome } from './flow.js';
import { Failed } from './states.js';

const GRANTS = ['client_credentials', 'authorization_code', 'refresh_token', 'urn:openid:params:grant-type:ciba', 'urn:ietf:params:oauth:grant-type:token-exchange'];
const TTL = 3600; // the question names a lifetime; policy may shorten it
const split = text => text.split(/\s+/).filter(Boolean);

// Return the question of an issuance (etc/policy/inputs/issue.json) as a request of the client would make it.
export function questionOf(client, { grant, scope, resource, person }, now = Date.now()) {
  const ceiling = client.scope ? split(client.scope) : undefined, asked = split(scope);
  return {
    schema: 1, evaluation: 'issue', issuer: new URL('..', location.href).href.replace(/\/$/, ''),
    request: { id: crypto.randomUUID(), endpoint: '/token', now: Math.floor(now / 1000), time_ns: now * 1000000, time: new Date(now).toISOString().replace(/\.\d+/, ''), grant_type: grant, token_type: 'access_token', default_ttl: TTL },
    client: { id: client.clientId, type: client.clientType, registration: client.registrationType, auth_method: client.tokenEndpointAuthMethod ?? (client.clientType === 'public' ? 'none' : 'client_secret_basic'), enabled: client.enabled },
    subject: person ? { type: 'user', id: person } : { type: 'client', id: client.clientId },
    ...(resource ? { resource: { indicator: resource } } : {}),
    scopes: { requested: ceiling ? asked.filter(one => ceiling.includes(one)) : asked, default: asked.length ? [] : ceiling ?? [], ...(ceiling ? { ceiling } : {}) },
    environment: { tls: location.protocol === 'https:' }, baseline: null,
  };
}

function Answer({ answer, asked, ceiling, place }) {
  const { allow, scopes = [], deny_reasons: reasons = [] } = answer.result ?? {};
  const lacks = asked.filter(one => !scopes.includes(one)), beyond = lacks.filter(one => ceiling && !ceiling.includes(one));
  const entitle = html` <a href=${changed(place, { tab: 'rights' })}>Entitle it…</a>`;
  return html`<div role="status"><p><${Outcome} of=${allow ? 'allowed' : 'denied'} />${allow && html` with ${scopes.length ? scopes.map(scope => html`<span class="chip"><${Text} of=${scope} /></span>`) : 'no scope'}`}</p>
    ${!allow && reasons.map(reason => html`<p><a href=${to(['decisions'], { reason: reason.code })}><code><${Text} of=${reason.code} bare /></code></a>: <${Text} of=${reason.message ?? ''} /></p>`)}
    ${beyond.length > 0 && html`<p class="quiet"><${Text} of=${beyond.join(', ')} />: not in the scope ceiling of the client.</p>`}
    ${allow && lacks.length > beyond.length && html`<p class="quiet">Not granted: <${Text} of=${lacks.filter(one => !beyond.includes(one)).join(', ')} />.${entitle}</p>`}${!allow && entitle}</div>`;
}

export function MayIt({ client, binding, place }) {
  const grants = [...new Set([...(binding?.grants ?? []), ...GRANTS])];
  const [form, set] = useState({ grant: grants[0], scope: '', resource: '', person: '' });
  const [state, setState] = useState({});
  const change = name => event => set(old => ({ ...old, [name]: event.target.value }));
  const ask = async event => {
    event.preventDefault();
    if (state.busy) return;
    setState({ busy: true });
    try { setState({ asked: split(form.scope), answer: (await request('POST', 'policy-rules/evaluate', { body: { path: 'svc/decision/issue', input: questionOf(client, form) } })).data }); } catch (error) { setState({ error }); }
  };
  return html`<section class="panel"><header><h2>May it…?</h2><span class="small">asks the active policy, issues nothing</span></header><form class="in" onSubmit=${ask}>
      <div class="row"><select aria-label="Grant" value=${form.grant} onChange=${change('grant')}>${grants.map(grant => html`<option value=${grant}>${brief(grant.split(':').at(-1))}</option>`)}</select>
        <input aria-label="Scopes" placeholder="Scopes" value=${form.scope} onInput=${change('scope')} autocomplete="off" spellcheck=${false} /><input aria-label="Resource" placeholder="Resource" value=${form.resource} onInput=${change('resource')} autocomplete="off" spellcheck=${false} />
        ${form.grant !== 'client_credentials' && html`<input aria-label="Person" placeholder="Person" value=${form.person} onInput=${change('person')} autocomplete="off" spellcheck=${false} />`}<button disabled=${state.busy}>Ask</button></div>
      ${state.error && html`<${Failed} what="It cannot be asked" error=${state.error} />`}
      ${state.answer && html`<p></p><${Answer} answer=${state.answer} asked=${state.asked} ceiling=${client.scope ? split(client.scope) : undefined} place=${place} />`}</form></section>`;
}
