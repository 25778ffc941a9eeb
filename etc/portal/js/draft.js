// The draft: changes to rules and rows that are saved together. It lives in the sessionStorage of this tab until it is saved,
// discarded or the user signs out. {base: hex revision, rules: {path: content}, data: {key: text of JSON}, deleteRules, deleteData}
import { useEffect, useState } from './html.js';

const NAME = 'authz.draft';
const EMPTY = { base: null, rules: Object.create(null), data: Object.create(null), deleteRules: [], deleteData: [] };
const listeners = new Set();

export function draft() {
  try {
    const all = { ...EMPTY, ...JSON.parse(sessionStorage.getItem(NAME)) };
    for (const kind of ['rules', 'data']) all[kind] = Object.assign(Object.create(null), all[kind]); // a row may be called constructor
    return all;
  } catch { return EMPTY; }
}

function store(value) {
  if (value === null || count(value) === 0) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, JSON.stringify(value));
  for (const listener of [...listeners]) listener();
}

export const count = value => Object.keys(value.rules).length + Object.keys(value.data).length + value.deleteRules.length + value.deleteData.length;
export const discard = () => store(null);

// Put a rule or a row ("rules" or "data") into the draft; undefined takes it out. base is the revision that was read.
export function put(kind, name, content, base) {
  const now = draft();
  const items = { ...now[kind] };
  if (content === undefined) delete items[name];
  else items[name] = content;
  const list = kind === 'rules' ? 'deleteRules' : 'deleteData';
  store({ ...now, base: now.base ?? base, [kind]: items, [list]: now[list].filter(other => other !== name) });
}

// Mark a rule or a row as deleted.
export function remove(kind, name, base) {
  const now = draft();
  const items = { ...now[kind] };
  delete items[name];
  const list = kind === 'rules' ? 'deleteRules' : 'deleteData';
  store({ ...now, base: now.base ?? base, [kind]: items, [list]: [...new Set([...now[list], name])] });
}

// Return the draft as the body of POST /policy-bundle/deploy and /policy-impact; throw if a row is no JSON.
export function body(value = draft()) {
  const parse = (key, text) => {
    try { return JSON.parse(text); } catch (fault) { throw Object.assign(new Error(`${key} is not JSON: ${fault.message}`), { key }); }
  };
  return {
    rules: Object.entries(value.rules).map(([path, content]) => ({ path, content })),
    data: Object.entries(value.data).map(([dataKey, text]) => ({ dataKey, payload: parse(dataKey, text) })),
    ...(value.deleteRules.length ? { deleteRules: value.deleteRules } : {}), ...(value.deleteData.length ? { deleteData: value.deleteData } : {}),
    ...(value.base ? { ifRevision: value.base } : {}),
  };
}

export function useDraft() {
  const [value, set] = useState(draft);
  useEffect(() => {
    const changed = () => set(draft());
    listeners.add(changed);
    return () => listeners.delete(changed);
  }, []);
  return value;
}
