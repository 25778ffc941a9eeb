// Who is signed in. The page exchanges an admin key for a cookie that no script can read, and forgets the key.

const listeners = new Set();
const waiting = [];
let current, link;

// Return {label, role, …} of the session, null when signed out, undefined before the first answer.
export const session = () => current;

export function onSession(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(value) {
  current = value;
  for (const listener of [...listeners]) listener(value);
}

// Roles from the least to the most.
const ROLES = ['auditor', 'operator', 'owner'];
export const may = role => ROLES.indexOf(current?.role) >= ROLES.indexOf(role);

// Ask who is signed in. 401: there is no session. 404: SVC_ADMIN_ENABLED=false.
export async function read() {
  const answer = await fetch('../admin/session', { headers: { Accept: 'application/json' } });
  if (answer.status === 404) throw Object.assign(new Error('off'), { off: true });
  set(answer.ok ? await answer.json() : null);
}

// The secret of a one-time link (#/link/SECRET). The address loses it at once.
function takeLink() {
  const found = /^#\/link\/([\w-]+)$/.exec(location.hash);
  if (!found) return;
  [, link] = found;
  history.replaceState(null, '', '#/');
  set(current);
}
takeLink();
addEventListener('hashchange', takeLink);
export const hasLink = () => link !== undefined;
export function dropLink() {
  link = undefined;
  set(current);
}

// Exchange a credential, which stands in a header, for a session. Return undefined, or why not; `refused` tells why it is not valid.
async function begin(header, refused) {
  let answer;
  try {
    answer = await fetch('../admin/session', { method: 'POST', headers: { ...header, 'X-Authz-Console': '1' } });
  } catch {
    return 'It is not a header value, or the service cannot be reached.';
  }
  if (answer.status === 401) return refused;
  if (answer.status === 403) return 'This page is not at the address that the link names. Open the link as it was printed.';
  if (answer.status === 404) return 'SVC_ADMIN_ENABLED is false: this service has no admin API.';
  if (answer.status === 429) return 'Ten sign-ins from this address failed within a minute. Wait a minute, then sign in.';
  if (!answer.ok) return `The service answered ${answer.status}. Its log names request ${answer.headers.get('X-Request-ID')}.`;
  link = undefined;
  await read();
  for (const resume of waiting.splice(0)) resume();
  return undefined;
}

export const signIn = key => begin({ 'X-Admin-API-Key': key }, 'No valid key. It may have been revoked, or have ended.');
export const signInByLink = () => begin({ 'X-Authz-Console-Link': link }, 'This link is over: it signs in once, within 10 minutes, while its key is valid. Make another one.');

// Return why the session has not ended; the page is loaded again if it has. 401: there is none.
export async function signOut() {
  const answer = await fetch('../admin/session', { method: 'DELETE', headers: { 'X-Authz-Console': '1' } }).catch(() => undefined);
  if (!answer) return 'The service cannot be reached. You are still signed in: sign out again.';
  if (!answer.ok && answer.status !== 401) return `The service answered ${answer.status}. You may still be signed in: sign out again.`;
  for (const name of Object.keys(sessionStorage)) if (name.startsWith('authz.')) sessionStorage.removeItem(name);
  location.reload();
  return undefined;
}

// The session ended while the page was open: show the dialog, keep what is typed, and go on after the next sign-in.
export function ended() {
  if (current && !current.ended) set({ ...current, ended: true });
  return new Promise(resume => waiting.push(resume));
}
