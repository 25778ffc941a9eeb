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

const { asked, resourceOf, whyOf } = await part('parts/flow');
is(asked({ endpoint: '/admin/api/policies/{id}', method: 'POST', requestSummary: { operation: 'evaluatePolicy' } })[0], 'evaluate policy', 'decisions: an action is words, no pattern of a route');
is(asked({ endpoint: '/bc-authorize', method: 'POST', requestSummary: { operation: 'startCiba' } })[0], 'start ciba', '... of an endpoint without a verb of its own too');
is([whyOf({ outcome: 'denied', requestSummary: { denyCodes: 'shop%20is%20closed late' } }), whyOf({ outcome: 'error', requestSummary: { error: 'upstream_timeout', reason: 'The upstream did not answer in time' } }), whyOf({ outcome: 'allowed', requestSummary: { denyCodes: 'x' } })],
  ['shop is closed, late', 'upstream_timeout: The upstream did not answer in time', ''], 'decisions: why a row is not allowed stands in the list');
is([resourceOf({ requestSummary: { resource: 'orders' } }), resourceOf({ requestSummary: { resourceType: 'doc', resourceId: '7' } }), resourceOf({})], ['orders', 'doc 7', ''], '... and what it is about');

const { middle } = await part('text');
is([middle('a'.repeat(48)), middle('a b'.repeat(40)), middle(`see https://${'h'.repeat(60)}/end of it`)], ['a'.repeat(48), 'a b'.repeat(40), `see https://${'h'.repeat(21)}…${'h'.repeat(14)}/end of it`], 'texts: a word of more than 48 characters is cut in its middle, and no other');
is(middle('\u202e'.repeat(9)).includes('\u202e'), false, '... and what cannot be seen is shown');

const { clock, exact, short, span } = await part('time');
is([999, 1000, 59499, 61000, 5400000, 90000000, 172800000].map(span), ['999 ms', '1 s', '59 s', '1 min 1 s', '1 h 30 min', '1 d 1 h', '2 d'], 'durations: the two largest units');
process.env.TZ = 'America/New_York';
is([clock('2026-07-01T02:03:04.567Z'), exact('2026-07-01T02:03:04.567Z'), short('2026-07-01T02:03:04Z', new Date('2026-07-01T03:00:00Z')), short('2026-07-01T05:03:04Z', new Date('2026-07-01T03:00:00Z'))],
  ['22:03:04', '2026-06-30 22:03:04 UTC-04:00 (2026-07-01 02:03:04 UTC)', 'today 22:03', '1 Jul 01:03'], 'times: those of the zone of the browser, with both zones on hover');
process.env.TZ = 'UTC';
is(exact('2026-07-01T02:03:04.567Z'), '2026-07-01 02:03:04 UTC', '... and once where they are the same');

const { agent } = await part('parts/names');
is(agent('Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'), 'Firefox 128 on Linux', 'people: a browser in words');
is(agent('Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'), 'Safari 17 on iOS', '... of a telephone');
is(agent('Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0'), 'Edge 126 on Windows', '... that also names others');
is([agent('curl/8.5.0'), agent(undefined)], ['curl/8.5.0', ''], '... and of a program its own word');

const { membersAt } = await part('parts/because');
const rule = 'package custom.issue\n\n# input.other is a remark\ndeny contains "closed" if {\n\tinput.client.id == "shop"\n\tinput.subject.claims["a b"] == 1 # input.no\n}\n\ndeny contains "x" if input.later\n';
is(membersAt(rule, 4, { client: { id: 'shop' } }), [['input.client.id', 'shop'], ['input.subject.claims["a b"]', undefined]].map(pair => pair), 'try: the members that the rule looks at, with the values of the question');
is(membersAt(rule, 9, { later: true }), [['input.later', true]], '... of a rule of one line');
is(membersAt('deny contains "x" if input.constructor.name', 1, {})[0][1], undefined, '... a member of no object is absent');

const { counted } = await part('parts/lost');
const answered = (data, total) => counted(data, { get: () => total ?? null }, 'live token');
is([answered([{}], '1234'), answered([{}], '1'), answered([], '0')], ['1,234 live tokens', '1 live token', '0 live tokens'], 'deletes: how much goes with it is the number of all rows, not of those of a page');
is([answered({ content: [{}, {}], last: true }), answered({ content: [{}, {}], last: false })], ['2 live tokens', 'more than 2 live tokens'], '... and of a page whose rest nobody counted, that there are more');

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
