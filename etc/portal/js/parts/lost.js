// How many of something go with what is deleted, for the words of a question before it.
import { get, useData } from '../api.js';
import { plural } from '../text.js';

// path: of the API; count(data): how many. until it is known, the words alone.
export function Lost({ path, count, one, many = `${one}s` }) {
  const from = useData(signal => get(path, { signal }), [path]);
  return from.data ? plural(count(from.data), one, many) : many;
}

export const LostTokens = ({ of }) => Lost({ path: `tokens?${new URLSearchParams({ ...of, size: 1 })}`, count: data => data.totalElements ?? data.content.length, one: 'live token' });
