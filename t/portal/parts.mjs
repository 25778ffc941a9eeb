// What the parts of the console say of the answers of the service.

let count = 0, failed = 0;

function is(seen, wanted, name) {
  const passed = JSON.stringify(seen) === JSON.stringify(wanted);
  count++;
  if (!passed) failed++;
  console.log(`${passed ? 'ok' : 'not ok'} ${count} - ${name}`);
  if (!passed) console.log(`# seen: ${JSON.stringify(seen)}\n# wanted: ${JSON.stringify(wanted)}`);
}

// What modules of the page look at when they are loaded.
const store = { getItem: () => null, setItem: () => {}, removeItem: () => {} };
Object.assign(globalThis, {
  location: { hash: '', href: 'https://authz.example/portal/', search: '' }, history: { replaceState: () => {} }, sessionStorage: store, localStorage: store,
  addEventListener: () => {}, document: { addEventListener: () => {}, querySelector: () => null, documentElement: { dataset: {} } },
});
const part = name => import(`${process.env.AUTHZ_PORTAL}/${name}.js`);

const { State, isOff } = await part('parts/resource_state');
const state = of => { const { props } = State({ of }); return [props.class, props.children]; };
is(isOff({ name: 'a', status: 'active' }), false, 'resource: enabled that is left out is not false (RFC 8259: absent is no value)');
is(isOff({ name: 'a', status: 'disabled', enabled: false }), true, '... and the status of the service says that it is off');
is(['active', 'pending', 'degraded', 'error', 'disabled'].map(status => state({ status })[0]), ['state ok', 'state wait', 'state warn', 'state no', 'state off'], 'resource: each state has a mark of its own');
is(state({ status: 'pending' })[1], 'pending', '... and a word');

const { codesOf } = await part('parts/flow');
is(codesOf({ requestSummary: { denyCodes: 'shop%20is%20closed late 50%25%20off' } }), ['shop is closed', 'late', '50% off'], 'reasons: a code with spaces is one');
is(codesOf({ requestSummary: { denyCodes: 'one two' } }), ['one', 'two'], '... and the codes of an older row are words');
is(codesOf({}), [], '... and a row without codes has none');

const { attention } = await part('pages/overview');
const entries = waits => attention({ engines: [], revisions: [], waits });
const failing = { kind: 'errors', name: 'stock', count: 901, detail: 'upstream_invalid_response: The answer of the upstream is not valid', at: '2026-11-29T08:12:00.000Z' };
const [entry] = entries([failing]);
is([entry.mark, entry.state, entry.what], ['no', '901 errors', 'stock: upstream_invalid_response: The answer of the upstream is not valid'], 'overview: requests that fail stand there with their cause');
is([/^since /.test(entry.note), /probe the upstream/.test(entry.note), entry.then], [true, true, '#/resources/stock'], '... since when, and what to do');
is(/System/.test(entries([{ ...failing, name: '/token', detail: '503' }])[0].note), true, '... for an endpoint of the service too');
is(entries([{ kind: 'resource_pending', name: 'notes', detail: 'a sync must read its tools' }])[0].what, 'notes: a sync must read its tools', 'overview: a pending resource, and what it lacks');

console.log(`1..${count}`);
process.exit(failed ? 1 : 0);
