// Find: what a pasted text leads to. A request id, a flow id, a decision number, a token, a client, a reason or a person.
import { get, request, withQuery } from './api.js';
import { html, useRef, useState } from './html.js';
import { useKeys } from './keys.js';
import { go, to } from './route.js';

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
// Tokens and secrets: the field forgets them.
const SECRET = /^(eyJ|at_|rt_|cs_|ak_)/;
const search = query => get(withQuery('audit-logs/search', { view: 'summary', size: 1, ...query }));

// A token never gets into an address: it is asked in the body.
async function ofToken(text) {
  try {
    const { data } = await request('POST', 'tokens/introspect', { body: { token: text } });
    if (data?.flowId) return to(['decisions'], { flowId: data.flowId });
    if (data?.clientId) return to(['decisions'], { clientId: data.clientId });
  } catch { /* not a token of ours */ }
  return undefined;
}

// Return the fragment that a text leads to.
export async function lookUp(text) {
  if (/^(eyJ|at_|rt_)\S{16,}$/.test(text)) return (await ofToken(text)) ?? null;
  if (/^(cs_|ak_)/.test(text)) return null; // a secret is looked up nowhere
  if (/^\d{1,18}$/.test(text)) return to(['decisions'], { open: text });
  if (ID.test(text)) {
    const [one] = (await search({ requestId: text })).content;
    if (one) return to(['decisions'], { requestId: text, open: one.id });
    const flow = (await search({ flowId: text })).content;
    return to(['decisions'], flow.length ? { flowId: text } : { requestId: text });
  }
  const clients = await get(withQuery('clients', { q: text, page: 0, size: 2 }));
  const exact = clients.find(client => client.clientId === text);
  if (exact || clients.length === 1) return to(['clients', (exact ?? clients[0]).clientId]);
  if (clients.length > 1) return to(['clients'], { q: text });
  if (/\.(rego|cedar)$/.test(text)) return to(['rules', text]);
  if (/^[a-z0-9]+(_[a-z0-9]+)+$/.test(text)) return to(['decisions'], { reason: text });
  return to(['people', text]);
}

export function Find() {
  const [note, setNote] = useState('');
  const field = useRef();
  useKeys({ '/': () => field.current?.focus() });
  const submit = async event => {
    event.preventDefault();
    const text = field.current.value.trim();
    if (!text) return;
    if (SECRET.test(text)) field.current.value = '';
    try {
      const place = await lookUp(text);
      setNote(place ? '' : 'No token of this service.');
      if (place) { go(place); field.current.value = ''; }
    } catch (fault) {
      setNote(fault.message);
    }
  };
  return html`<form class="find" role="search" onSubmit=${submit}>
    <svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.6" aria-hidden="true"><circle cx="6.5" cy="6.5" r="5" /><path d="m10.5 10.5 5 5" /></svg>
    <input ref=${field} type="search" aria-label="Why? Request id, token, client or person" placeholder="Why? Request id, token, client or person" autocomplete="off" spellcheck=${false} />
    <kbd aria-hidden="true">/</kbd>
    <span role="status" class=${note ? 'small' : 'hide'}>${note}</span>
  </form>`;
}
