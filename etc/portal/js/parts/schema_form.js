// A form made of a JSON Schema: one field for each member, below the first ones "more". Members that the schema does not name stay.
import { html, useState } from '../html.js';
import { Text } from '../text.js';
import { Field, faultOf, idOf } from './fields.js';

const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value);
const kept = (value, good) => (good ? value : undefined);

// Return what a reference within a document leads to, or undefined.
function pointed(root, reference) {
  let at = root;
  for (const part of reference.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

// Return the schema that a reference or a choice between one schema and null leads to. That of a tool is its upstream's: a keyword
// that is not as JSON Schema has it is left out.
export function resolve(root, schema) {
  let one = isObject(schema) ? schema : {};
  for (let steps = 0; steps < 8; steps++) {
    const { $ref, anyOf, ...rest } = one;
    const other = Array.isArray(anyOf) ? anyOf.filter(each => isObject(each) && each.type !== 'null') : [], to = typeof $ref === 'string' && $ref.startsWith('#') ? pointed(root, $ref) : undefined;
    if (isObject(to)) one = { ...to, ...rest };
    else if (other.length === 1) one = { ...other[0], ...rest };
    else break;
  }
  return {
    ...one, properties: kept(one.properties, isObject(one.properties)), enum: kept(one.enum, Array.isArray(one.enum)), required: kept(one.required, Array.isArray(one.required)),
    title: kept(one.title, typeof one.title === 'string'), description: kept(one.description, typeof one.description === 'string'),
  };
}

const MOST_FIELDS = 1000;

// True if a form of all that a schema holds ends, and is not too large: one may contain itself, as trees do.
function fits(root, schema, room = { left: MOST_FIELDS }) {
  if (--room.left < 0) return false;
  const one = resolve(root, schema);
  return [...Object.values(one.properties ?? {}), ...(typeOf(one) === 'array' ? [one.items] : [])].every(each => fits(root, each, room));
}

export const typeOf = schema => [].concat(schema.type ?? []).find(type => type !== 'null');
const wordsOf = schema => schema.enum?.filter(word => word !== null).map(String);

// "clientSecret" as words: Client secret.
export function words(name) {
  const text = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// True if a member is a secret: an answer leaves it out, or says only that there is one.
const isSecret = schema => schema.writeOnly || schema.format === 'password';

// Return the paths of the members that are secrets: "upstreamAuth.clientSecret".
export function secretsOf(root, schema, at = '', depth = 0) {
  const one = resolve(root, schema);
  if (isSecret(one)) return [at];
  return depth > 4 ? [] : Object.entries(one.properties ?? {}).flatMap(([name, member]) => secretsOf(root, member, at ? `${at}.${name}` : name, depth + 1));
}

// What a schema says of a value, beside its description.
function limits(schema) {
  const parts = [schema.description ?? ''];
  if (schema.default !== undefined && typeof schema.default !== 'boolean') parts.push(`${typeof schema.default === 'object' ? JSON.stringify(schema.default) : schema.default} if it is empty.`);
  if (schema.minimum !== undefined && schema.maximum !== undefined) parts.push(`${schema.minimum} to ${schema.maximum}.`);
  return parts.filter(Boolean).map(part => (/[.!?]$/.test(part) ? part : `${part}.`)).join(' ');
}

// Any JSON as text. What is no JSON stays in the field, is marked, and keeps the form from being sent.
function JsonField({ path, label, help, value, set, error, readOnly, required }) {
  const shown = value === undefined ? '' : JSON.stringify(value, null, 2);
  const [text, setText] = useState();
  const [fault, setFault] = useState('');
  const id = idOf(path), told = fault || faultOf(error, path);
  const change = event => {
    const typed = event.target.value;
    setText(typed);
    try { set(typed.trim() ? JSON.parse(typed) : undefined); setFault(''); setText(); } catch (failure) { setFault(`is not JSON: ${failure.message}`); }
  };
  return html`<div class="field"><label for=${id}><${Text} of=${label} bare /> <span class="quiet">JSON${required ? ', required' : ''}</span></label>
    <textarea id=${id} rows=${Math.min(12, Math.max(2, shown.split('\n').length))} spellcheck=${false} disabled=${readOnly} data-not-json=${fault ? 'true' : undefined} aria-invalid=${told ? 'true' : undefined} aria-describedby=${`${id}-help ${id}-fault`} value=${text ?? shown} onChange=${change} />
    <p class="help" id=${`${id}-help`}><${Text} of=${help} /></p>${told && html`<p class="fault" id=${`${id}-fault`}><${Text} of=${told} /></p>`}</div>`;
}

// Several objects of one form, each behind its name.
function Rows({ path, label, items, value = [], set, more, ...rest }) {
  const [added, add] = useState(0); // those behind the first ones are open
  const change = (at, row) => set(value.map((one, place) => (place === at ? row : one)));
  return html`<fieldset class="field rows" id=${idOf(path)} tabindex="-1"><legend class="label"><${Text} of=${label} bare /> <span class="quiet">${value.length || 'none'}</span></legend>
    ${more}
    ${value.map((row, at) => html`<details key=${at} open=${at >= value.length - added || rest.error && faultOf(rest.error, `${path}[${at}]`) ? true : undefined}><summary><${Text} of=${row?.id ?? row?.name ?? `${at + 1}`} /> <span class="quiet"><${Text} of=${row?.path ?? row?.title ?? ''} /></span></summary>
      <div class="in"><${SchemaForm} ...${rest} schema=${items} at=${`${path}[${at}]`} value=${row} set=${changed => change(at, changed)} />
        ${!rest.readOnly && html`<button type="button" class="danger" onClick=${() => { add(Math.max(0, added - (at >= value.length - added ? 1 : 0))); set(value.filter((_, place) => place !== at)); }}>Remove ${row?.id ?? row?.name ?? at + 1}</button>`}</div></details>`)}
    ${!rest.readOnly && html`<button type="button" onClick=${() => { add(added + 1); set([...value, {}]); }}>Add one</button>`}</fieldset>`;
}

// A secret is written and never shown: {"set": true} stands for the stored one, and null forgets it.
function SecretField({ path, label, help, value, set, error, readOnly, stored }) {
  const id = idOf(path), fault = faultOf(error, path), kept = value?.set === true || (stored && value === undefined);
  return html`<div class="field"><label for=${id}>${label}</label>
    <input id=${id} type="password" autocomplete="new-password" spellcheck=${false} disabled=${readOnly} value=${typeof value === 'string' ? value : ''} placeholder=${kept ? 'stored; type to replace it' : value === null ? 'forgotten at the next save' : ''}
      aria-invalid=${fault ? 'true' : undefined} aria-describedby=${`${id}-help ${id}-fault`} onInput=${event => set(event.target.value || undefined)} />
    <p class="help" id=${`${id}-help`}>${help}${value?.set && !readOnly && html` <button type="button" class="plain" onClick=${() => set(null)}>Forget the stored one</button>`}</p>${fault && html`<p class="fault" id=${`${id}-fault`}><${Text} of=${fault} /></p>`}</div>`;
}

function Member({ root, schema, name, path, titles, warnings, stored, hides, flat, value, set, error, readOnly, required }) {
  const one = resolve(root, schema), type = typeOf(one), list = wordsOf(one);
  const common = { name: path, path, label: titles?.[path] ?? titles?.[name] ?? one.title ?? words(name), help: limits(one), value, set, error, readOnly, required, warning: warnings?.[path] };
  const inner = { root, titles, warnings, stored, hides, flat, error, readOnly };
  const filled = next => set(next === '' || (Array.isArray(next) && next.length === 0) ? undefined : next);
  if (isSecret(one)) return html`<${SecretField} ...${common} stored=${stored?.includes(path)} />`;
  if (list) return html`<${Field} ...${common} kind="choice" values=${[...(required ? [] : ['']), ...list]} none=${one.default === undefined ? 'not set' : `not set: ${one.default}`} set=${next => filled(next === '' ? next : one.enum.find(word => String(word) === next))} />`;
  if (type === 'string') return html`<${Field} ...${common} kind=${one.maxLength > 1000 && !one.format ? 'long' : 'text'} set=${filled} />`;
  if (type === 'integer' || type === 'number') return html`<${Field} ...${common} kind="number" step=${type === 'integer' ? 1 : 'any'} set=${set} />`;
  if (type === 'boolean') return html`<${Field} ...${common} kind="check" value=${value ?? one.default} />`;
  const items = type === 'array' ? resolve(root, one.items) : undefined;
  if (items && typeOf(items) === 'string') return wordsOf(items) ? html`<${Field} ...${common} kind="many" values=${wordsOf(items)} set=${filled} />` : html`<${Field} ...${common} kind="list" help=${`${common.help} One a line.`} set=${filled} />`;
  if (items?.properties && !flat) return html`<${Rows} path=${path} label=${common.label} items=${items} value=${value ?? undefined} set=${filled} more=${html`<p class="help"><${Text} of=${common.help} /></p>`} ...${inner} />`;
  if (type === 'object' && !flat && one.properties && Object.keys(one.properties).length) {
    return html`<fieldset class="field rows" id=${idOf(path)} tabindex="-1"><legend class="label"><${Text} of=${common.label} bare /></legend><p class="help"><${Text} of=${common.help} /></p><${SchemaForm} ...${inner} schema=${one} at=${path} value=${value ?? undefined} set=${next => set(Object.keys(next).length ? next : undefined)} /></fieldset>`;
  }
  return html`<${JsonField} ...${common} value=${value ?? undefined} />`;
}

// schema: an object's. value, set: the object. first: the members that stand above "more"; all if it is left out. hides(path, value):
// true for a member that has no meaning now. flat: objects within it are JSON. titles, warnings: by path. stored: the paths of secrets that the service has.
export function SchemaForm({ root, schema, at = '', value = {}, set, first, hides, flat = !fits(root ?? schema, schema), ...rest }) {
  const one = resolve(root ?? schema, schema), whole = value ?? {};
  const change = name => next => {
    const { [name]: _, ...others } = whole;
    set(next === undefined ? others : { ...whole, [name]: next });
  };
  const member = name => {
    const path = at ? `${at}.${name}` : name;
    return html`<${Member} key=${path} ...${rest} hides=${hides} flat=${flat} root=${root ?? schema} schema=${one.properties[name]} name=${name} path=${path} value=${whole[name]} set=${change(name)} required=${one.required?.includes(name)} />`;
  };
  const shown = Object.keys(one.properties ?? {}).filter(name => !resolve(root ?? schema, one.properties[name]).readOnly && !hides?.(at ? `${at}.${name}` : name, whole));
  const above = first ? first.filter(name => shown.includes(name)) : shown, below = shown.filter(name => !above.includes(name));
  return html`${above.map(member)}${below.length > 0 && html`<details class="more" open=${below.some(name => rest.error && faultOf(rest.error, name))}><summary>More: ${below.length} settings</summary><div class="in">${below.map(member)}</div></details>`}`;
}
