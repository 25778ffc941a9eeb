// The reader of the interface: lists the operations of ../openapi.json and sends requests to this server.
//
// Everything that the description or an answer contains is written as text (textContent), never as HTML; the
// Content-Security-Policy of the page enforces it (require-trusted-types-for). Credentials stay in the fields of the page: they
// are never stored and never put into an address. Requests go to the server of this page alone and carry no cookie.

// Longest text of an answer that is shown, in characters; a browser becomes slow with more in one element.
const SHOWN_MAX = 256 * 1024;
// Milliseconds to wait for an answer; the long poll of the engine takes 25 s.
const ANSWER_WAIT = 60000;
const FORM = 'application/x-www-form-urlencoded';

const base = new URL('..', location.href.split(/[?#]/)[0]); // the address of the service, with a slash at the end
const byId = id => document.getElementById(id);
let description; // the document
let fields = 0; // number of labelled fields so far

// ---- elements

// Return an element with attributes and children; texts become text nodes.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter(child => child !== null && child !== ''));
  return made;
}

// Return a <details> whose content is made when it is first opened: a schema may contain itself.
function disclosure(attributes, summary, fill) {
  const made = element('details', attributes, element('summary', {}, ...summary));
  made.addEventListener('toggle', () => {
    if (made.open && made.children.length === 1) made.append(element('div', {}, ...fill()));
  });
  return made;
}

// Return a control with its label.
function labelled(text, control, wide = false) {
  control.id = `field-${++fields}`;
  return element('div', wide ? { class: 'wide' } : {}, element('label', { for: control.id }, text), control);
}

const line = (attributes = {}) => element('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', ...attributes });
const lines = rows => element('textarea', { rows, autocomplete: 'off', spellcheck: 'false' });
const choice = names => element('select', {}, ...names.map((name, i) => element('option', { value: i }, name)));

// ---- the description

// Follow references within the document.
function resolve(value) {
  for (let depth = 0; value?.$ref !== undefined && depth < 16; depth++) {
    value = value.$ref.replace(/^#\//, '').split('/').reduce((at, key) => at?.[key.replace(/~1/g, '/').replace(/~0/g, '~')], description);
  }
  return value ?? {};
}

const nameOf = schema => schema?.$ref?.split('/').pop();
const alternatives = schema => schema.oneOf ?? schema.anyOf ?? null;

// Return the type of a value in words.
function typeOf(schema) {
  const name = nameOf(schema), types = [schema.type ?? []].flat();
  if (name !== undefined) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.allOf) return schema.allOf.map(typeOf).filter(text => text !== 'object').join(' with ') || 'object';
  if (alternatives(schema)) return alternatives(schema).map(typeOf).join(' or ');
  return types.map(type => (type === 'array' ? `array of ${typeOf(schema.items ?? {})}` : type)).join(' or ') || (schema.properties ? 'object' : 'any value');
}

// The limits of a value, in the order in which they are told.
const limits = [
  ['minLength', n => (n === 1 ? 'not empty' : n > 1 ? `at least ${n} characters` : '')], ['maxLength', n => `at most ${n} characters`],
  ['minimum', n => `at least ${n}`], ['maximum', n => `at most ${n}`],
  ['minItems', n => `at least ${n} items`], ['maxItems', n => `at most ${n} items`],
  ['enum', words => `one of ${words.map(word => JSON.stringify(word)).join(', ')}`], ['pattern', text => `matches ${text}`],
  ['readOnly', yes => (yes ? 'set by the service' : '')], ['examples', values => `for example ${values.map(value => JSON.stringify(value)).join(', ')}`],
];

function limitsOf(schema) {
  return limits.filter(([key]) => schema[key] !== undefined).map(([key, tell]) => tell(schema[key])).filter(text => text !== '').join('; ');
}

// Return the schemas within a schema that have members of their own, each with its name.
function inner(schema) {
  const seen = resolve(schema);
  if (seen.properties) return [['', seen]];
  if (seen.items) return inner(seen.items);
  return (seen.allOf ?? alternatives(seen) ?? []).flatMap(part => inner(part).map(([, found]) => [nameOf(part) ?? part.title ?? '', found]));
}

// Return the list of an object's members. Those with members of their own open on demand.
function members(schema) {
  return element('ul', {}, ...Object.entries(schema.properties).map(([name, value]) => {
    const about = [limitsOf(value), value.description ?? ''].filter(text => text !== '').join('. ');
    return element('li', {},
      element('code', { class: 'name' }, name), ' ', element('span', { class: 'quiet' }, typeOf(value)),
      schema.required?.includes(name) ? element('span', { class: 'required' }, ' required') : '',
      about !== '' ? element('div', { class: 'quiet' }, about) : '',
      inner(value).length > 0 ? disclosure({ class: 'within' }, [`Members of ${name}`], () => shape(value)) : '');
  }));
}

// Return the elements that show a schema.
function shape(schema) {
  const parts = inner(schema);
  return parts.flatMap(([name, part]) => [parts.length > 1 || name ? element('p', { class: 'quiet' }, part.title ?? name) : '', members(part)]);
}

function schemaBlock(type, media) {
  const example = media.example ?? Object.values(media.examples ?? {})[0]?.value;
  return [
    element('p', {}, element('code', {}, type), ' ', element('span', { class: 'quiet' }, typeOf(media.schema ?? {}))),
    ...(inner(media.schema ?? {}).length > 0 ? [disclosure({ class: 'within' }, ['Members'], () => shape(media.schema))] : []),
    ...(example !== undefined ? [element('p', { class: 'quiet' }, 'Example'), element('pre', { tabindex: 0 }, JSON.stringify(example, null, 2))] : []),
  ];
}

// ---- credentials

const credentials = new Map(); // name of a scheme → function that returns [header, value], or null: not filled in

// A client_id and a secret are form-encoded before they become Basic (RFC 6749 section 2.3.1).
const formEncoded = text => new URLSearchParams({ x: text }).toString().slice(2);

function credentialFields(name, scheme) {
  const secret = line({ type: 'password' });
  if (scheme.type === 'http' && scheme.scheme === 'basic') {
    const id = line();
    credentials.set(name, () => (id.value ? ['Authorization', `Basic ${btoa(`${formEncoded(id.value)}:${formEncoded(secret.value)}`)}`] : null));
    return [labelled(`${name}: client_id`, id), labelled(`${name}: client_secret (Basic)`, secret)];
  }
  const header = scheme.type === 'http' ? 'Authorization' : scheme.name, prefix = scheme.type === 'http' ? 'Bearer ' : '';
  credentials.set(name, () => (secret.value ? [header, prefix + secret.value] : null));
  return [labelled(`${name}: ${prefix ? 'access token (Bearer)' : header}`, secret)];
}

function credentialText(security) {
  const names = (security ?? []).map(way => Object.keys(way).join(' and '));
  if (names.length === 0) return 'No credential is needed.';
  const named = names.filter(name => name !== '').map(name => name + (resolve(description.components.securitySchemes[name]).description ? ` (${description.components.securitySchemes[name].description})` : ''));
  return `Credential: ${named.join(', or ')}${names.includes('') ? ', or none in a header' : ''}.`;
}

// ---- a request

// Return the field of one value, with read(): the values that were filled in.
function valueField(name, schema, required, about = '') {
  const seen = resolve(schema), many = [seen.type].flat().includes('array');
  const control = seen.enum ? choice(['', ...seen.enum.filter(word => word !== null)]) : many ? lines(2) : line();
  const label = `${name}${required ? ' (required)' : ''}${many ? ', one in each line' : ''}${about ? `, ${about}` : ''}`;
  const words = () => (seen.enum ? control.options[control.selectedIndex].text : control.value);
  if (seen.const !== undefined) control.value = seen.const;
  return { name, node: labelled(label, control), read: () => (many ? words().split('\n') : [words()]).filter(text => text !== '') };
}

// Return the fields of a form body; several forms are alternatives.
function formFields(schema) {
  const forms = alternatives(resolve(schema)) ?? [schema];
  const make = form => Object.entries(resolve(form).properties ?? {}).map(([name, value]) => valueField(name, value, resolve(form).required?.includes(name)));
  const place = element('div', { class: 'fields wide' });
  let shown;
  const show = i => { shown = make(forms[i]); place.replaceChildren(...shown.map(field => field.node)); };
  const which = choice(forms.map((form, i) => form.title ?? nameOf(form) ?? `form ${i + 1}`));
  which.addEventListener('change', () => show(which.selectedIndex));
  show(0);
  return {
    nodes: [...(forms.length > 1 ? [labelled('Form', which)] : []), place],
    read: () => new URLSearchParams(shown.flatMap(field => field.read().map(value => [field.name, value]))).toString(),
  };
}

// Return the field of a body that is written as text.
function textBody(type, media) {
  const control = lines(10);
  if (media.example !== undefined) control.value = JSON.stringify(media.example, null, 2);
  return { nodes: [labelled(`Body (${type})`, control, true)], read: () => control.value };
}

function bodyFields(operation) {
  const [type, media] = Object.entries(resolve(operation.requestBody).content ?? {})[0] ?? [];
  if (type === undefined) return { type, nodes: [], read: () => undefined };
  return { type, ...(type === FORM ? formFields(media.schema) : textBody(type, media)) };
}

// Return the address of a request. A path value of dots would lead to another path (RFC 3986 section 5.2.4).
function address(path, parameters) {
  const query = new URLSearchParams();
  for (const { field, where } of parameters) {
    const values = field.read();
    if (where === 'query') values.forEach(value => query.append(field.name, value));
    if (where !== 'path') continue;
    if (values.length === 0 || /^\.{1,2}$/.test(values[0])) throw new Error(`Fill in ${field.name}; it cannot be "." or "..".`);
    path = path.replaceAll(`{${field.name}}`, () => encodeURIComponent(values[0]));
  }
  return base.href.replace(/\/$/, '') + path + (query.size > 0 ? `?${query}` : '');
}

async function send(method, url, headers, body) {
  return fetch(url, {
    method, headers, body: body === '' ? undefined : body, mode: 'same-origin', credentials: 'omit', cache: 'no-store', redirect: 'manual',
    referrerPolicy: 'no-referrer', signal: AbortSignal.timeout(ANSWER_WAIT),
  });
}

// ---- an answer

// Return JSON text with line breaks, every other octet as it was: a parser would change long numbers.
function indented(text) {
  let out = '', depth = 0;
  const pause = () => `\n${'  '.repeat(depth)}`;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+|"/g)) {
    if (token === '}' || token === ']') { depth = Math.max(0, depth - 1); out += pause(); }
    out += token;
    if (token === '{' || token === '[') { depth++; out += pause(); }
    if (token === ',') out += pause();
    if (token === ':') out += ' ';
  }
  return out;
}

async function bodyText(answer) {
  const type = answer.headers.get('Content-Type') ?? '', octets = await answer.arrayBuffer();
  if (octets.byteLength === 0) return '(no body)';
  if (!/^text\/|[/+]json\b/.test(type)) return `(${octets.byteLength} octets of ${type || 'an unknown type'})`;
  const text = new TextDecoder().decode(octets), shown = /json/.test(type) && text.length <= SHOWN_MAX ? indented(text) : text;
  return shown.length > SHOWN_MAX ? `${shown.slice(0, SHOWN_MAX)}\n(the first ${SHOWN_MAX} characters)` : shown;
}

async function answerNodes(answer) {
  if (answer.type === 'opaqueredirect') return [element('p', {}, 'The answer is a redirect. A browser does not show a page where it leads.')];
  return [
    element('p', {}, element('strong', { class: 'status' }, `${answer.status} ${answer.statusText}`)),
    element('p', { class: 'quiet' }, 'Headers'), element('pre', { tabindex: 0, class: 'headers' }, [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n')),
    element('p', { class: 'quiet' }, 'Body'), element('pre', { tabindex: 0, class: 'body' }, await bodyText(answer)),
  ];
}

// ---- an operation

function tryIt(method, path, operation) {
  const parameters = (operation.parameters ?? []).map(resolve).map(one => ({ where: one.in, field: valueField(one.name, one.schema ?? {}, one.required, one.in) }));
  const body = bodyFields(operation), output = element('div', { class: 'answer', 'aria-live': 'polite' });
  const ways = [...new Set([...(operation.security ?? []).map(way => Object.keys(way)[0] ?? 'none'), 'none'])];
  const credential = choice(ways), button = element('button', { type: 'button' }, 'Send');
  button.addEventListener('click', async () => {
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true'); // not `disabled`, which would take the focus away
    try {
      const header = credentials.get(ways[credential.selectedIndex])?.();
      if (header === null) byId('credentials').open = true;
      if (header === null) throw new Error(`Fill in ${ways[credential.selectedIndex]} under Credentials, or choose none.`);
      const headers = [...(header ? [header] : []), ...(body.type ? [['Content-Type', body.type]] : [])];
      for (const { field, where } of parameters) if (where === 'header') field.read().forEach(value => headers.push([field.name, value]));
      output.replaceChildren(...await answerNodes(await send(method, address(path, parameters), headers, body.read())));
    } catch (fault) {
      output.replaceChildren(element('p', { class: 'note' }, fault.message));
    }
    button.removeAttribute('aria-disabled');
  });
  return [
    element('h3', {}, 'Try it'),
    element('p', { class: 'quiet' }, method === 'GET' ? 'The request goes to this server.' : 'The request goes to this server and has its full effect.'),
    element('div', { class: 'fields' }, ...parameters.map(one => one.field.node), ...body.nodes, ...(ways.length > 1 ? [labelled('Credential', credential)] : [])),
    button, output,
  ];
}

function facts(operation) {
  const octets = operation['x-body-octets-max'];
  return [
    operation['x-rate-limited'] ? 'Requests are limited for each client address.' : '', operation['x-audited'] ? 'Requests are in the audit log.' : '',
    operation['x-cors'] ? 'Pages of any origin may call it.' : '', octets > 0 ? `The body has at most ${octets.toLocaleString('en')} octets.` : '',
  ].filter(text => text !== '').join(' ');
}

function answerItem([status, reference]) {
  const answer = resolve(reference), content = Object.entries(answer.content ?? {});
  const head = [element('code', { class: 'name' }, status), ` ${answer.description ?? ''}`];
  return element('li', {}, ...(content.length === 0 ? head : [disclosure({ class: 'within' }, head, () => content.flatMap(([type, media]) => schemaBlock(type, media)))]));
}

function parameterItem(one) {
  const about = [`in the ${one.in}`, typeOf(one.schema ?? {}), limitsOf(resolve(one.schema)), one.description ?? ''].filter(text => text !== '').join('; ');
  return element('li', {}, element('code', { class: 'name' }, one.name), one.required ? element('span', { class: 'required' }, ' required') : '', element('span', { class: 'quiet' }, ` ${about}`));
}

function operationContent(method, path, operation) {
  const parameters = (operation.parameters ?? []).map(resolve), body = Object.entries(resolve(operation.requestBody).content ?? {});
  return [
    element('p', {}, element('code', {}, operation.operationId)),
    element('p', {}, credentialText(operation.security)), element('p', { class: 'quiet' }, facts(operation)),
    ...(parameters.length > 0 ? [element('h3', {}, 'Parameters'), element('ul', {}, ...parameters.map(parameterItem))] : []),
    ...(body.length > 0 ? [element('h3', {}, 'Body'), ...body.flatMap(([type, media]) => schemaBlock(type, media))] : []),
    element('h3', {}, 'Answers'), element('ul', {}, ...Object.entries(operation.responses ?? {}).map(answerItem)),
    ...tryIt(method, path, operation),
  ];
}

// ---- the page

// Return the operations as rows, in the order of the document.
function operationRows() {
  return Object.entries(description.paths).flatMap(([path, item]) => Object.entries(item).map(([verb, operation]) => {
    const method = verb.toUpperCase(), tag = operation.tags?.[0] ?? 'other';
    const kind = method === 'GET' ? '' : method === 'DELETE' ? ' delete' : ' write';
    const node = disclosure({ class: 'operation' },
      [element('code', { class: `method${kind}` }, method), element('code', { class: 'path' }, path), element('span', { class: 'quiet' }, operation.summary ?? '')],
      () => operationContent(method, path, operation));
    return { tag, node, words: `${method} ${path} ${operation.summary} ${operation.operationId} ${tag}`.toLowerCase() };
  }));
}

// Show the operations that have every word, and open their groups; without a word the groups are as the user left them.
function filter(rows, groups) {
  const words = byId('filter').value.toLowerCase().split(/\s+/).filter(word => word !== '');
  for (const row of rows) row.node.hidden = !words.every(word => row.words.includes(word));
  for (const group of groups) {
    group.hidden = group.querySelector('.operation:not([hidden])') === null;
    if (words.length > 0) group.open = !group.hidden;
    else if (group.filtered) group.open = false;
    group.filtered = words.length > 0;
  }
  const found = rows.filter(row => !row.node.hidden).length;
  byId('count').textContent = found > 0 ? `${found} of ${rows.length} operations` : `No operation has ${words.length > 1 ? 'all these words' : 'this word'}. Use fewer words, or a part of one.`;
}

// Return a group of operations, closed, with their number.
function group(tag, rows) {
  const heading = element('summary', {}, element('h2', {}, tag), element('span', { class: 'quiet' }, `${rows.length} ${rows.length === 1 ? 'operation' : 'operations'}`));
  return element('details', { class: 'group' }, heading, ...rows.map(row => row.node));
}

function show() {
  const rows = operationRows(), tags = [...new Set(rows.map(row => row.tag))];
  const groups = tags.map(tag => group(tag, rows.filter(row => row.tag === tag)));
  byId('about').textContent = `${description.info.title}, interface version ${description.info.version}. ${description.info.description ?? ''}`;
  byId('schemes').append(...Object.entries(description.components?.securitySchemes ?? {}).flatMap(([name, scheme]) => credentialFields(name, scheme)));
  byId('groups').append(...groups);
  byId('filter').addEventListener('input', () => filter(rows, groups));
  filter(rows, groups);
  for (const id of ['credentials', 'find']) byId(id).hidden = false;
}

// A browser may keep a page that the user leaves, to show it again on the way back: empty it, secrets and answers too.
addEventListener('pagehide', () => document.body.replaceChildren());
addEventListener('pageshow', event => { if (event.persisted) location.reload(); });

try {
  const answer = await send('GET', new URL('openapi.json', base), [['Accept', 'application/json']]);
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  description = await answer.json();
  show();
} catch (fault) {
  byId('fault').textContent = `The description of the interface cannot be read: ${fault.message}. Reload the page to try again.`;
  byId('fault').hidden = false;
}
