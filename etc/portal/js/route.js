// The place in the fragment: #/decisions?outcome=denied&open=15. Filters, sorting, tabs and opened rows are in it, so that each
// view has an address and Back undoes each step. A fragment is not sent to the server.
import { useEffect, useState } from './html.js';

// Return {path: ['clients', 'a/b'], query: URLSearchParams} of a fragment.
export function parse(hash) {
  const [path, query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s);
  const decode = part => {
    try { return decodeURIComponent(part); } catch { return part; }
  };
  return { path: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

// Return the fragment of a page with its parameters; members that are empty are left out.
export function to(path, query = {}) {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(pairs).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}

// Return the fragment of the same page with some parameters changed; undefined removes one.
export function changed(place, query) {
  return to(place.path, { ...Object.fromEntries(place.query), ...query });
}

export function go(fragment) {
  location.hash = fragment;
}

// Return the place, anew after each change of the fragment.
export function usePlace() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener('hashchange', changed);
    changed(); // it may have changed before this was there
    return () => removeEventListener('hashchange', changed);
  }, []);
  return parse(hash);
}
