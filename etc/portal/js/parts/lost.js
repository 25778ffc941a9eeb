// How many of something go with what is deleted, for the words of a question before it.
import { request, useData } from '../api.js';
import { plural } from '../text.js';

const TOKENS = 200; // of a page, the most that the service gives

// The rows of an answer: a list has their number beside it, a page of tokens says only whether there are more.
export function counted(data, headers, one, many = `${one}s`) {
  const total = headers.get('X-Total-Count'), rows = data.content ?? data;
  const words = plural(total === null ? rows.length : Number(total), one, many);
  return data.last === false ? `more than ${words}` : words;
}

// path: of the API, a list. Until it is read, the words alone.
export function Lost({ path, one, many = `${one}s` }) {
  const from = useData(signal => request('GET', path, { signal }), [path]);
  return from.data ? counted(from.data.data, from.data.headers, one, many) : many;
}

const of = (list, filters, size) => `${list}?${new URLSearchParams({ ...filters, size })}`;
export const LostTokens = ({ of: filters }) => Lost({ path: of('tokens', filters, TOKENS), one: 'live token' });
export const LostSessions = ({ of: filters }) => Lost({ path: of('sessions', filters, 1), one: 'session' });
export const LostAccounts = ({ of: filters }) => Lost({ path: of('connections', filters, 1), one: 'connected account' });
