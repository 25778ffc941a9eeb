// Requests to the admin API with the cookie of the session.
import { useEffect, useState } from './html.js';
import { ended } from './session.js';

export class Failure extends Error {
  constructor(status, body, requestId) {
    super(body?.error_description ?? `The service answered ${status}`);
    Object.assign(this, { status, code: body?.error ?? '', fields: body?.fieldErrors ?? {}, body, requestId });
  }
}

// Send a request below /admin/api and return {data, headers, status}; throw a Failure. A request that finds the session over
// waits for the next sign-in and is sent again.
export async function request(method, path, { body, headers = {}, signal, type = 'application/json' } = {}) {
  for (;;) {
    let answer;
    try {
      answer = await fetch(`../admin/api/${path}`, {
        method, signal, cache: 'no-store', redirect: 'error',
        headers: {
          Accept: 'application/json', ...(method === 'GET' ? {} : { 'X-Authz-Console': '1' }),
          ...(body === undefined ? {} : { 'Content-Type': type }), ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    } catch (fault) {
      if (fault.name === 'AbortError') throw fault;
      throw new Failure(0, { error: 'no_answer', error_description: 'The service cannot be reached' });
    }
    if (answer.status === 401) {
      await ended();
      continue;
    }
    const text = await answer.text();
    let data;
    try { data = text ? JSON.parse(text) : undefined; } catch { data = text; }
    if (!answer.ok) throw new Failure(answer.status, data, answer.headers.get('X-Request-ID'));
    return { data, headers: answer.headers, status: answer.status };
  }
}

export const get = async (path, options) => (await request('GET', path, options)).data;

// Return path?query without the members that are empty.
export function withQuery(path, query) {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return pairs.length ? `${path}?${new URLSearchParams(pairs)}` : path;
}

// Load data for a component: {data, error, busy, slow, again}. slow is true after 150 ms without an answer. The old data stay
// while new data load; again() loads once more.
export function useData(load, wants) {
  const [state, set] = useState({ busy: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const slow = setTimeout(() => set(old => ({ ...old, slow: true })), 150);
    set(old => ({ ...old, busy: true, slow: false }));
    Promise.resolve(load(stop.signal)).then(
      data => { if (!stop.signal.aborted) set({ data, busy: false }); },
      error => { if (!stop.signal.aborted) set(old => ({ data: old.data, error, busy: false })); },
    ).finally(() => clearTimeout(slow));
    return () => { stop.abort(); clearTimeout(slow); };
  }, [...wants, turn]);
  return { ...state, again: () => setTurn(turn + 1) };
}
