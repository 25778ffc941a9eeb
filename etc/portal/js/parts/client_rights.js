// The rights of a client: its binding in the row svc.entitlements.bindings, which goes into the draft.
import { get, useData, withQuery } from '../api.js';
import { put, useDraft } from '../draft.js';
import { html } from '../html.js';
import { may } from '../session.js';
import { Text } from '../text.js';
import { Field } from './fields.js';
import { MayNot, Of } from './states.js';

const ROW = 'svc.entitlements.bindings';
const GRANTS = ['client_credentials', 'authorization_code', 'refresh_token', 'urn:openid:params:grant-type:ciba', 'urn:ietf:params:oauth:grant-type:token-exchange'];
const payloadOf = row => (typeof row.payload === 'string' ? JSON.parse(row.payload) : row.payload);

// Return the member of an object, and nothing of its prototype: a client may be called constructor.
const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

export async function bindingOf(id, signal) {
  return own(payloadOf(await get(withQuery('policy-data/by-key', { dataKey: ROW }), { signal })).clients, id);
}

async function load(signal) {
  const [row, latest] = await Promise.all([get(withQuery('policy-data/by-key', { dataKey: ROW }), { signal }), get('bundle-audit/latest', { signal })]);
  return { payload: payloadOf(row), revision: latest.revision };
}

export function Rights({ id }) {
  const from = useData(load, [id]);
  const draft = useDraft();
  return html`<${Of} from=${from} what="The rights cannot be read">${({ payload, revision }) => {
    const whole = draft.data[ROW] ? JSON.parse(draft.data[ROW]) : payload;
    const binding = own(whole.clients, id) ?? {};
    const set = (name, list) => {
      const { [name]: _, ...rest } = binding;
      put('data', ROW, JSON.stringify({ ...whole, clients: { ...whole.clients, [id]: list.length ? { ...rest, [name]: list } : rest } }, null, 2), revision);
    };
    const readOnly = !may('operator');
    return html`<${MayNot} role="operator" /><section class="panel"><header><h2>Its binding</h2><span class="end quiet">row ${ROW}</span></header><div class="in">
      <fieldset class="field" disabled=${readOnly}><legend class="label">Grants</legend>${[...new Set([...GRANTS, ...(binding.grants ?? [])])].map(grant => html`<label class="check"><input type="checkbox" checked=${(binding.grants ?? []).includes(grant)} onChange=${event => set('grants', event.target.checked ? [...(binding.grants ?? []), grant] : binding.grants.filter(one => one !== grant))} /><code><${Text} of=${grant} bare /></code></label>`)}</fieldset>
      <${Field} name="scopes" label="Scopes" kind="list" help="One a line." value=${binding.scopes} set=${list => set('scopes', list)} readOnly=${readOnly} />
      <${Field} name="resources" label="Resources" kind="list" help="One a line: the addresses that its tokens may name." value=${binding.resources} set=${list => set('resources', list)} readOnly=${readOnly} />
      <${Field} name="endpoints" label="Endpoints" kind="list" help="What it may call beside /token: introspect, check, authzen, uma_protection, delegation_management." value=${binding.endpoints} set=${list => set('endpoints', list)} readOnly=${readOnly} />
      ${draft.data[ROW] && html`<p class="note">The change is in your draft. <a href="#/review">Review draft</a>, then save it.</p>`}
    </div></section>`;
  }}<//>`;
}
