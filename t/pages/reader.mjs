// The reader of the description, looked at and used as a person does. See reader.t.

import { contrasts, done, is, launch, look, ok, open, press, sideways, tabStops } from './browser.mjs';

const { AUTHZ_BASE: base, AUTHZ_ADMIN_KEY: key, AUTHZ_CLIENT: client, AUTHZ_SECRET: secret, AUTHZ_SHOTS: shots } = process.env;
const browser = await launch();
const page = await open(browser);
const sent = [];
page.on('request', request => { if (request.resourceType() === 'fetch') sent.push(request); });
await page.evaluateOnNewDocument(() => {
  globalThis.violations = [];
  document.addEventListener('securitypolicyviolation', event => violations.push(`${event.effectiveDirective} ${event.blockedURI}`));
});
const shoot = async name => { if (shots) await page.screenshot({ path: `${shots}/${name}.png` }); };
const shown = () => page.$$eval('.operation:not([hidden])', list => list.filter(e => e.checkVisibility()).length);
const textOf = selector => page.$eval(selector, e => e.innerText);

async function filter(text) {
  await page.$eval('#filter', e => (e.value = ''));
  await page.type('#filter', text);
}

// Open the only operation that the filter leaves, and return it.
async function openOnly(text) {
  await page.$$eval('.operation[open] > summary', list => list.forEach(e => e.click()));
  await filter(text);
  const found = await page.$$('.operation:not([hidden])');
  if (found.length !== 1) throw new Error(`${found.length} operations for ${text}`);
  await press(await found[0].$('summary'));
  await found[0].waitForSelector('button');
  return found[0];
}

// Fill in the field whose label begins with the text.
async function fill(within, label, value) {
  const field = await within.evaluateHandle((e, text) => [...e.querySelectorAll('label')].find(l => l.textContent.startsWith(text))?.control, label);
  await field.evaluate(e => { if (e.tagName !== 'SELECT') e.value = ''; });
  if (await field.evaluate(e => e.tagName === 'SELECT')) await field.select(await field.evaluate((e, text) => [...e.options].find(o => o.text === text).value, value));
  else await field.type(value);
}

// Press Send and return what is shown of the answer.
async function send(operation) {
  await operation.$eval('.answer', e => e.replaceChildren());
  await press(await operation.$('button'));
  await operation.waitForSelector('.answer > *');
  return operation.$eval('.answer', e => ({
    text: e.innerText, status: e.querySelector('.status')?.textContent, headers: e.querySelector('.headers')?.textContent ?? '', body: e.querySelector('.body')?.textContent ?? '',
  }));
}

// Measure the page in both colour schemes, wide and narrow.
async function isWell(name) {
  for (const scheme of ['light', 'dark']) {
    for (const size of [[1280, 800], [320, 800]]) {
      await look(page, size, scheme);
      const { pixels, out } = await sideways(page);
      ok(pixels <= 0, `${name}: fits ${size[0]} px, ${scheme}`, pixels, out);
      const seen = await contrasts(page);
      ok(seen[0].ratio >= 4.5, `${name}: contrast 4.5 or more (WCAG 2.2 1.4.3), ${scheme}, ${size[0]} px`, seen.slice(0, 3));
      await shoot(`${name}-${scheme}-${size[0]}`);
    }
  }
  await look(page, [1280, 800], 'light');
}

// ---- the list

await page.goto(`${base}/swagger-ui/`);
await page.waitForSelector('.operation');
const document_ = await (await fetch(`${base}/openapi.json`)).json();
const operations = Object.entries(document_.paths).flatMap(([path, item]) => Object.keys(item).map(verb => `${verb.toUpperCase()} ${path}`));
is((await page.$$eval('.operation > summary', list => list.map(e => `${e.children[0].textContent} ${e.children[1].textContent}`))).sort(), operations.sort(), 'reader: shows every operation of the description once, below the path of the issuer');
const tags = [...new Set(Object.values(document_.paths).flatMap(item => Object.values(item).map(o => o.tags[0])))];
is((await page.$$eval('#groups h2', list => list.map(e => e.textContent))).sort(), tags.sort(), 'reader: groups them by tag');
is(sent.map(request => request.url()), [`${base}/openapi.json`], 'reader: reads the description of its own server, and nothing else');
is(await page.$$eval('#groups details.group', list => list.filter(e => e.open).length), 0, 'reader: its groups are closed at first');
is(await page.$eval('#credentials', e => e.open), false, '... and so are the credentials');
for (const width of [1280, 360]) {
  await look(page, [width, 740], 'light');
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  ok(height < 5 * 740, `reader: at ${width} px all groups are on less than five screens`, height);
}
await isWell('list');

await filter('delete client admin');
is(await page.$$eval('.operation:not([hidden]) .path', list => list.map(e => e.textContent)), ['/admin/api/clients/{clientId}'], 'filter: every word must be in the method, path, summary, operation or group');
ok((await textOf('#count')).startsWith('1 of '), 'filter: tells how many are shown');
await filter('no such thing');
is([await shown(), await page.$$eval('#groups .group:not([hidden])', list => list.length)], [0, 0], 'filter: hides all operations and their groups if none matches');
is(await textOf('#count'), 'No operation has all these words. Use fewer words, or a part of one.', '... and says so');
await filter(' ');
is([await shown(), await page.$$eval('#groups .group:not([hidden])', list => list.length)], [0, tags.length], 'filter: without a word all groups are there, closed');
await page.$$eval('#groups .group', list => list.forEach(e => { e.open = true; }));
is(await shown(), operations.length, 'groups: open, they show all operations');
await isWell('all open');
await page.$$eval('#groups .group', list => list.forEach(e => { e.open = false; }));

// ---- one operation

let operation = await openOnly('createClient');
let text = await operation.evaluate(e => e.innerText);
for (const wanted of ['Create a client', 'adminKey', 'Body', 'application/json', 'ClientDto', '201', 'The client, with its secret this once', '409', 'audit log', '1,048,576 octets']) {
  ok(text.includes(wanted), `operation: shows ${wanted}`, text);
}
for (let closed; (closed = (await operation.$$('details.within:not([open]) > summary')).at(0));) await press(closed);
text = await operation.evaluate(e => e.innerText);
for (const wanted of ['clientId', 'at most 256 characters', '"confidential", "public"', 'redirectUris', 'array of string', 'set by the service', 'error_description']) {
  ok(text.includes(wanted), `operation: follows its references to ${wanted}`);
}
is(await operation.$$eval('li', list => list.filter(e => e.querySelector(':scope > .required')).map(e => e.querySelector('.name').textContent).slice(0, 1)), ['clientType'], 'operation: marks the members that are required');
await isWell('operation');

// ---- requests

operation = await openOnly('listClients');
let answer = await send(operation);
ok(answer.text.includes('Fill in adminKey under Credentials'), 'try it: a request without the credential that was chosen is not sent', answer);
await fill(operation, 'Credential', 'none');
answer = await send(operation);
ok(answer.status.startsWith('401') && answer.body.includes('unauthorized'), 'try it: without a credential the admin API answers 401 (specification 5.3)', answer);
ok(await page.$eval('#credentials', e => e.open), '... and the credentials are opened');
await fill(await page.$('#schemes'), 'adminKey', key);
await fill(operation, 'Credential', 'adminKey');
answer = await send(operation);
ok(answer.status.startsWith('200'), 'try it: with the admin key the request is accepted', answer);
ok(/^x-request-id: /m.test(answer.headers) && /^content-type: application\/json/m.test(answer.headers), 'try it: shows the headers of the answer', answer.headers);
ok(answer.body.includes('<img src=x onerror=alert(1)>') && await page.$('.answer img') === null, 'try it: shows a client name with HTML as text', answer.body);
is(JSON.parse(answer.body).map(one => one.clientId).sort(), ['a/b c', client], 'try it: the body is what the server sent, with line breaks');
ok(answer.body.split('\n').length > 10, 'try it: ... one member in a line');
await isWell('answer');

operation = await openOnly('getClient ');
for (const [value, status] of [['a/b c', '200'], ['nobody', '404']]) {
  await fill(operation, 'clientId', value);
  ok((await send(operation)).status?.startsWith(status), `try it: the path value "${value}" stays one segment (${status})`);
}
for (const value of ['', '.', '..']) {
  const before = sent.length;
  await fill(operation, 'clientId', value);
  answer = await send(operation);
  ok(sent.length === before && answer.text.includes('Fill in clientId'), `try it: the path value "${value}" would name another path and is not sent (RFC 3986 5.2.4)`, answer);
}

operation = await openOnly('createClient');
await fill(operation, 'Body', '{"clientId": "made-here", "clientType": "public"}');
answer = await send(operation);
ok(answer.status?.startsWith('201') && JSON.parse(answer.body).clientId === 'made-here', 'try it: a POST with a JSON body creates a client', answer);
operation = await openOnly('deleteClient ');
await fill(operation, 'clientId', 'made-here');
answer = await send(operation);
ok(answer.status?.startsWith('204') && answer.body === '(no body)', 'try it: a DELETE deletes it', answer);
operation = await openOnly('getPolicyDataByKey');
await fill(operation, 'dataKey', 'svc.entitlements.bindings');
answer = await send(operation);
ok(answer.status?.startsWith('200') && answer.body.includes('crm.read'), 'try it: values of the query are sent', answer);

operation = await openOnly('issue tokens for a grant');
await fill(await page.$('#schemes'), 'client: client_id', client);
await fill(await page.$('#schemes'), 'client: client_secret', secret);
await fill(operation, 'scope', 'crm.read');
answer = await send(operation);
ok(answer.status?.startsWith('200') && JSON.parse(answer.body).scope === 'crm.read', 'try it: a form with Basic gets a token, also for a client_id with a colon (RFC 6749 2.3.1)', answer);
const token = JSON.parse(answer.body).access_token;
await isWell('form');
await fill(operation, 'Form', 'refresh_token');
ok((await operation.evaluate(e => [...e.querySelectorAll('label')].map(l => l.textContent))).includes('refresh_token (required)'), 'try it: each grant has a form of its own');
operation = await openOnly('get /userinfo');
await fill(await page.$('#schemes'), 'token', token);
await fill(operation, 'Credential', 'token');
answer = await send(operation);
ok(/^(200|401|403)/.test(answer.status ?? '') && sent.at(-1).headers().authorization === `Bearer ${token}`, 'try it: a token is sent as Bearer', answer);
operation = await openOnly('logoutReturn');
answer = await send(operation);
ok(answer.status !== undefined || answer.text.includes('redirect'), 'try it: a redirect is not followed', answer);

// ---- secrets

is(await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie, location.search, location.hash]), [0, 0, '', '', ''], 'secrets: neither storage, cookie nor address of the page has anything');
ok(sent.every(request => ![key, secret, token].some(one => request.url().includes(one))), 'secrets: no address of a request has one');
ok(sent.every(request => request.url().startsWith(`${base}/`)), 'secrets: every request goes to this server');
ok(sent.every(request => request.headers().cookie === undefined), 'secrets: no request carries a cookie');
ok(await page.$$eval('#schemes input[type=text]', list => list.length) === 1 && await page.$$eval('#schemes input', list => list.every(e => e.autocomplete === 'off')), 'secrets: every field but the client_id hides what is typed, and the browser keeps none');
await page.setCookie({ name: 'planted', value: '1', url: base });
operation = await openOnly('getHealthLive');
await send(operation);
const raw = await sent.at(-1).headers();
ok(raw.cookie === undefined, 'secrets: ... nor when the browser has one (Fetch, credentials: omit)', raw);

// ---- the policy of the page

// Chromium advises to put password fields into forms; then it would offer to store them, and Enter would send them somewhere.
is([page.faults.filter(text => !text.startsWith('[DOM] Password field is not contained in a form')), await page.evaluate(() => violations)], [[], []], 'policy: after all of that the browser has nothing to complain of');
// Within a timer: what a debugger calls directly may use eval in spite of the policy.
is(await page.evaluate(() => new Promise(resolve => setTimeout(() => {
  const tried = {};
  const attempt = (name, act) => { try { act(); tried[name] = 'done'; } catch { tried[name] = 'refused'; } };
  attempt('innerHTML', () => { document.createElement('div').innerHTML = '<b>x</b>'; });
  attempt('eval', () => { (0, eval)('1'); });
  attempt('a policy', () => { trustedTypes.createPolicy('default', { createHTML: s => s }); });
  resolve(tried);
}))), { innerHTML: 'refused', eval: 'refused', 'a policy': 'refused' }, 'policy: the browser refuses to read a text as HTML or as a program (Trusted Types)');
is(await page.evaluate(() => new Promise(resolve => setTimeout(() => {
  const script = document.createElement('script');
  try { script.append('globalThis.injected = 1'); document.body.append(script); } catch { /* refused even earlier */ }
  resolve(globalThis.injected ?? null);
}))), null, 'policy: a script that is written into the page does not run');
is(await page.evaluate(() => fetch('https://elsewhere.example/').then(() => 'sent', () => 'refused')), 'refused', 'policy: nothing can be sent to another origin');

// ---- keyboard, and the way back

await page.reload();
await page.waitForSelector('.operation');
is(await page.$$eval('#schemes input', list => list.map(e => e.value).join('')), '', 'secrets: a reload forgets them');
await page.$eval('#filter', e => { e.value = 'getHealthLive'; e.dispatchEvent(new Event('input')); });
const stops = await tabStops(page);
ok(stops.length >= 5 && stops.every(stop => stop.outline >= 2 && stop.inView), 'keyboard: Tab reaches the link, each field and the operation, and shows where it is (WCAG 2.2 2.4.7)', stops);
await page.focus('.operation:not([hidden]) > summary');
await page.keyboard.press('Enter');
await page.waitForSelector('.operation:not([hidden]) button');
for (let i = 0; i < 30 && await page.evaluate(() => document.activeElement.textContent !== 'Send'); i++) await page.keyboard.press('Tab');
await page.keyboard.press('Enter');
await page.waitForSelector('.answer .status');
is([await textOf('.answer .status'), await page.evaluate(() => document.activeElement.textContent)], ['200 OK', 'Send'], 'keyboard: a request is sent with Enter, and the focus stays');
is(await page.$$eval('input, select, textarea', list => list.filter(e => e.labels.length !== 1).length), 0, 'reader: every field has a label');

await fill(await page.$('#schemes'), 'adminKey', key);
await page.goto(`${base}/health`);
await page.goBack();
await page.waitForSelector('.operation');
is(await page.$$eval('#schemes input', list => list.map(e => e.value).join('')), '', 'secrets: the way back shows none');

await browser.close();
done();
