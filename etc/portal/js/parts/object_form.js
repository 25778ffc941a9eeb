// The form of an object that saves at once: it is made of the schema of the API, keeps the members that it does not show, marks
// what changed, and shows both versions when another save came in between.
import { get, request } from '../api.js';
import { html, useLayoutEffect, useRef, useState } from '../html.js';
import { may } from '../session.js';
import { Text, shell } from '../text.js';
import { nearest, notJson } from './fields.js';
import { Same, fileName } from './same.js';
import { SchemaForm, resolve, secretsOf, words } from './schema_form.js';
import { MayNot, Refused } from './states.js';

const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
const text = value => (value === undefined || value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value));
const part = value => encodeURIComponent(value ?? 'NAME');

// The schema of a body of the admin API.
export const schemaOf = (name, signal) => get(`schemas/${name}`, { signal });

// What another save changed, beside what is typed here.
function Both({ base, theirs, mine, names, secrets, take }) {
  const rows = names.filter(name => !same(base[name], theirs[name]) || !same(base[name], mine[name]));
  const box = useRef();
  useLayoutEffect(() => box.current.focus(), []);
  const shown = (value, name) => (secrets.some(path => path.split('.')[0] === name) ? 'not shown' : text(value));
  return html`<div class="refused" role="alert" tabindex="-1" ref=${box}><b>Another save changed this. Yours is kept here.</b>
    <table aria-label="Both versions"><thead><tr><th scope="col">Field</th><th scope="col">Stored now</th><th scope="col">Yours</th></tr></thead>
      <tbody>${rows.map(name => html`<tr><td>${words(name)}</td><td><${Text} of=${shown(theirs[name], name)} /></td><td><${Text} of=${shown(mine[name], name)} /></td></tr>`)}</tbody></table>
    <button type="button" onClick=${take}>Take what is stored, keep my changes</button></div>`;
}

// kind: {path of the API, key, folder of files, authzctl's noun, noun, leave: members that a save leaves out}. stored: {value, etag},
// or undefined for a new one, which begins with start. saved(data) after a save. The rest goes to SchemaForm.
export function ObjectForm({ kind, schema, stored, start = {}, saved, cancel, warningsOf, ...rest }) {
  const [base, setBase] = useState(stored ?? { value: start });
  const [form, set] = useState(stored?.value ?? start);
  const [error, setError] = useState();
  const [theirs, setTheirs] = useState();
  const [busy, setBusy] = useState(false);
  const shape = resolve(schema, schema), names = Object.keys(shape.properties), secrets = secretsOf(schema, schema);
  const writable = names.filter(name => !resolve(schema, shape.properties[name]).readOnly && !kind.leave?.includes(name));
  const body = Object.fromEntries(Object.entries(form).filter(([name, value]) => (writable.includes(name) || !names.includes(name)) && (value ?? undefined) !== undefined));
  const changes = writable.filter(name => !same(base.value[name], form[name]));
  const id = form[kind.key], readOnly = !may('operator');
  const method = stored ? 'PUT' : 'POST', path = stored ? `${kind.path}/${part(stored.value[kind.key])}` : kind.path;
  const headers = stored && base.etag ? { 'If-Match': base.etag } : {};
  const submit = async event => {
    event.preventDefault();
    if (busy || notJson(event.target)) return;
    setBusy(true);
    try {
      const { data } = await request(method, path, { body, headers });
      setError();
      saved(data);
    } catch (fault) {
      if (fault.status === 412) setTheirs(await get(path));
      else if (fault.status === 409 && !fault.body) setError(Object.assign(fault, { fields: { [kind.key]: 'is that of another one' } }));
      else setError(fault);
    }
    setBusy(false);
  };
  const take = async () => {
    const now = await request('GET', path);
    setBase({ value: now.data, etag: now.headers.get('ETag') });
    set({ ...now.data, ...Object.fromEntries(changes.map(name => [name, form[name]])) });
    setTheirs();
  };
  const titles = { ...rest.titles };
  for (const name of stored ? changes : []) titles[name] = `${titles[name] ?? words(name)} (changed)`;
  const word = stored ? 'update' : 'create';
  const { [kind.key]: _, ...inFile } = body;
  return html`<div class="cols wide"><div><${MayNot} role="operator" />${error && html`<${Refused} error=${error} fieldId=${nearest} />`}
      ${theirs && html`<${Both} base=${base.value} theirs=${theirs} mine=${form} names=${writable} secrets=${secrets} take=${take} />`}
      <form class="panel" onSubmit=${submit} noValidate><div class="in">
        <${SchemaForm} ...${rest} titles=${titles} schema=${schema} value=${form} set=${set} error=${error} readOnly=${readOnly} warnings=${warningsOf?.(form)} stored=${stored ? secrets.filter(path => form[`${path}Set`] === true) : []} />
        <div class="acts">${!readOnly && html`<button class="main" disabled=${busy || (stored && !changes.length)}>${stored ? `Save ${changes.length || ''} ${changes.length === 1 ? 'change' : 'changes'}` : `Create ${kind.noun}`}</button>`}${cancel && html`<a class="button" href=${cancel}>Cancel</a>`}</div>
      </div></form></div>
    <div><${Same} file=${{ path: `${kind.folder}/${fileName(id ?? 'NAME')}.json`, value: inFile }} authzctl=${`authzctl ${kind.authzctl} ${word} ${shell(id ?? 'NAME')}`} method=${method} path=${path} body=${body} headers=${headers} secrets=${secrets} /></div></div>`;
}
