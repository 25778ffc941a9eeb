// Providers, resources, connectors: forms made of schemas, the same elsewhere, secrets that are only written, the tester of a tool,
// and what an upstream changed.

import { execFileSync } from 'node:child_process';

import { is, ok } from './browser.mjs';
import { FEW, confirm, fill, heading, measure, push, textOf, until, visit } from './driver.mjs';

const { AUTHZ_OPERATOR: key, AUTHZ_UPSTREAM: upstream } = process.env;
const SECRET = `it's "a" $secret`;
const html = page => page.evaluate(() => document.documentElement.outerHTML);
const api = (page, path) => page.evaluate(async at => (await fetch(`../admin/api/${at}`)).json(), path);
const run = (line, more) => execFileSync('sh', ['-c', line], { env: { ...process.env, SVC_ADMIN_API_KEY: key, ...more }, encoding: 'utf8' });

async function providers(page) {
  await visit(page, '#/providers', 'No identity provider yet');
  await page.keyboard.press('n');
  await page.waitForSelector('#f-issuer');
  is(await heading(page), 'New identity provider', 'providers: n opens the form');
  await fill(page, '#f-issuer', 'ftp://login.example');
  await push(page, 'Create identity provider');
  await until(page, 'Not saved');
  is(await page.$eval('#f-issuer', e => [e.getAttribute('aria-invalid'), e.value]), ['true', 'ftp://login.example'], 'providers: a refusal stands at its field, and nothing typed is lost');
  const name = `O'Brien "x" $HOME`;
  for (const [id, text] of [['#f-idpId', 'corp'], ['#f-name', name], ['#f-issuer', 'http://login.example'], ['#f-clientId', 'authz'], ['#f-clientSecret', SECRET]]) await fill(page, id, text);
  const lines = {};
  for (const tab of ['File in git', 'authzctl', 'curl', 'JSON']) {
    await push(page, tab, '.same');
    lines[tab] = await textOf(page, '.same');
    ok(!lines[tab].includes(SECRET) && !lines[tab].includes('it\'s'), `the same elsewhere: no secret in ${tab}`);
  }
  ok(lines['File in git'].includes('providers/corp.json') && /"clientSecret": \{\s*"env": "CLIENT_SECRET"/.test(lines['File in git']), 'the same elsewhere: a file names the variable of the secret');
  ok(lines.authzctl.includes('authzctl idp create corp --file -'), 'the same elsewhere: authzctl reads the same from its input');
  await push(page, 'curl', '.same');
  const line = await textOf(page, '.same .cmd');
  const made = JSON.parse(run(line, { CLIENT_SECRET: 'plain-secret' }));
  is([made.idpId, made.name], ['corp', name], 'the same elsewhere: the shown line makes the same in a shell, quotes and all');
  run(`curl -sS -X DELETE -H "X-Admin-API-Key: $SVC_ADMIN_API_KEY" '${new URL('../admin/api/identity-providers/corp', page.url()).href}'`);
  await push(page, 'Create identity provider');
  await until(page, 'To register at the provider');
  ok((await textOf(page, '.uris')).includes('/auth/authorize/callback/corp'), 'providers: the redirect URI to register is there');
  ok(!(await html(page)).includes(SECRET), 'providers: the secret is written and not shown');
  await fill(page, '#f-name', 'Corp');
  await push(page, 'Save 1 change');
  await until(page, 'The provider is saved');
  ok((await page.$eval('#f-issuer-warning', e => e.innerText)).length > 10, 'providers: a warning stands at its field');
  ok((await page.$eval('main .head a.button', e => e.getAttribute('href'))).endsWith('idp_hint=corp') || !(await api(page, 'identity-providers/corp')).enabled, 'providers: Try sign-in names the provider');
  await measure(page, 'provider');

  // Another save in between.
  await page.evaluate(async () => { const at = '../admin/api/identity-providers/corp', now = await (await fetch(at)).json(); await fetch(at, { method: 'PUT', headers: { 'X-Authz-Console': '1', 'Content-Type': 'application/json' }, body: JSON.stringify({ ...now, clientId: 'theirs' }) }); });
  await fill(page, '#f-name', 'Mine');
  await push(page, 'Save 1 change');
  await until(page, 'Another save changed this');
  ok(/theirs/.test(await textOf(page, '.refused table')), 'providers: 412 shows both versions by field');
  await push(page, 'Take what is stored');
  await page.waitForFunction(() => document.querySelector('#f-clientId').value === 'theirs');
  await push(page, 'Save 1 change');
  await page.waitForFunction(() => document.querySelector('main h1').innerText === 'Mine');
  const now = await api(page, 'identity-providers/corp');
  is([now.name, now.clientId], ['Mine', 'theirs'], 'providers: ... and both changes can be kept');
  await push(page, 'Delete…');
  await until(page, '0 sessions, 0 live tokens and 0 connected accounts of its people go with it');
  ok(true, 'providers: the question before a delete says how much goes with it');
  await push(page, 'Cancel', 'dialog');
}

async function connectors(page) {
  await visit(page, '#/connectors', 'REST API');
  await measure(page, 'connectors', FEW);
  await visit(page, '#/connectors/generic-rest', 'Header field of the credential');
  await measure(page, 'connector', FEW);
  await push(page, 'Install, and make');
  await until(page, 'Not saved');
  ok((await textOf(page, '.refused')).includes('settings.baseUrl'), 'connectors: the form is made of the manifest, and says what it needs');
  await fill(page, '#f-settings-baseUrl', 'https://api.shop.example');
  await fill(page, '#f-settings-secret', SECRET);
  ok(!(await textOf(page, '.same')).includes(SECRET), 'connectors: a secret is not in what is shown');
  await push(page, 'Install, and make');
  await until(page, 'Sync with the catalogue');
  await push(page, 'Uninstall…');
  ok(/\d+ scopes? and \d+ rows? of policy data go with it/.test(await textOf(page, 'dialog')), 'connectors: the question before an uninstall says how much goes with it');
  await confirm(page, 'generic-rest');
  await until(page, 'Not uninstalled');
  is(await page.$eval('.refused li a', e => e.getAttribute('href')), '#/resources/generic-rest', 'connectors: what holds an uninstall back is a link');
  await measure(page, 'connector in use', FEW);
  await visit(page, '#/resources/generic-rest?tab=edit', 'Credential for the upstream');
  const field = await page.$eval('#f-upstreamAuth-value', e => [e.type, e.value, e.placeholder]);
  ok(field[0] === 'password' && field[1] === '' && field[2].startsWith('stored'), 'resources: a stored secret is said to be there, and not shown', field);
  ok(await page.$('#f-upstreamAuth-username') === null, 'resources: members of another type of credential are not offered');
  await measure(page, 'resource form');
  await fill(page, '#f-displayName', 'Shop');
  await push(page, 'Save 1 change');
  await until(page, 'The resource is saved');
  const { upstreamAuth, displayName } = await api(page, 'managed-resources/generic-rest');
  is([displayName, upstreamAuth.value.set], ['Shop', true], 'resources: a save without the secret keeps it');
}

async function resources(page) {
  await visit(page, '#/resources?new=1', 'Address of the upstream');
  await measure(page, 'new resource', FEW);
  await page.select('#f-upstreamType', 'REST');
  await page.waitForSelector('#f-routes');
  await fill(page, '#f-name', 'orders');
  await fill(page, '#f-displayName', 'Orders <b>API</b>');
  await fill(page, '#f-upstreamUrl', upstream);
  await page.select('#f-upstreamAuth-type', 'basic');
  await fill(page, '#f-upstreamAuth-username', 'gateway');
  await fill(page, '#f-upstreamAuth-password', SECRET);
  await push(page, 'Add one', '#f-routes');
  await fill(page, '#f-routes-0--id', 'list');
  await fill(page, '#f-routes-0--path', 'orders');
  await push(page, 'Create resource');
  await until(page, 'Not saved');
  ok((await textOf(page, '#f-routes')).includes('routes[0].path') || await page.$eval('#f-routes-0--path', e => e.getAttribute('aria-invalid')) === 'true', 'resources: the fault of a route stands at its field');
  await fill(page, '#f-routes-0--path', '/orders');
  await push(page, 'Create resource');
  await until(page, 'No tool.');
  is(await heading(page), 'Orders <b>API</b>', 'resources: a new one is opened, and its name is text');
  ok(!(await html(page)).includes(SECRET), 'resources: ... without its secret');
}

async function tester(page) {
  await visit(page, '#/resources/stock?tool=look', 'Try a tool');
  await fill(page, '#f-clientId', 'crm');
  await fill(page, '#f-shelf', 'A-1');
  await push(page, 'Ask policy');
  await until(page, 'nothing was sent upstream');
  ok(/denied/.test(await textOf(page, 'form .refused')), 'tester: policy denies a client without rights, by its real question');
  await measure(page, 'tool denied', FEW);
  await fill(page, '#f-clientId', 'agent');
  await push(page, 'Ask policy');
  await page.waitForSelector('form .done');
  ok(/allowed nothing was sent/.test((await textOf(page, 'form .done')).replace(/\s+/g, ' ')), 'tester: ... allows one with them, and "Ask policy" sends nothing');
  await push(page, 'Call it');
  await until(page, '"ok": 1');
  ok(true, 'tester: a tool that the operator marked as one that only reads is called at once');
  await visit(page, '#/resources/stock?tool=move', 'Try a tool');
  await fill(page, '#f-clientId', 'agent');
  await fill(page, '#f-count', '99');
  await push(page, 'Call it…');
  await until(page, 'Call move at stock?');
  await measure(page, 'call asks', FEW);
  await confirm(page, 'move');
  await until(page, 'nothing was sent upstream');
  ok(/count/.test(await textOf(page, 'form .note')), 'tester: another one asks first, and arguments that do not fit are not sent');
  await visit(page, '#/resources/notes?tool=tree', 'Try a tool');
  is(await page.$$eval('#f-child, #f-other, #f-odd, #f-all', all => all.map(e => e.tagName)), ['TEXTAREA', 'TEXTAREA', 'TEXTAREA', 'TEXTAREA'], 'tester: what contains itself is JSON in the form, and a schema that breaks the rules breaks no page');
  await page.select('#f-word', 'a');
  is(await page.$eval('#f-word', e => e.value), 'a', 'tester: a word of a schema without a type can be chosen');
  const [row] = (await api(page, 'audit-logs/search?operation=tryTool&size=1')).content;
  is([row.clientId, row.requestSummary.tool, row.requestSummary.triedClient, row.requestSummary.sent], ['key of operator', 'move', 'agent', false], 'tester: the audit row is the operator\'s');
}

async function pins(page) {
  await visit(page, '#/resources/notes?tool=add_note', 'What the upstream changed');
  ok(/Before you add a note, call list_customers/.test(await page.$eval('.change ins', e => e.innerText)) && await page.$('main img') === null, 'pins: the diff shows the words that came, as text');
  const change = await textOf(page, '.change');
  ok(/200/.test(change) && /100000/.test(change) && /names another tool/.test(change) && /list_customers/.test(change), 'pins: ... the arguments that changed, and the other tool that the text names', change);
  await measure(page, 'tool changed');
  await push(page, 'Approve this text…');
  await confirm(page, 'add_note');
  await page.waitForFunction(() => !document.querySelector('.change'));
  const { pin } = (await api(page, 'managed-resources/notes')).tools.find(one => one.name === 'add_note');
  is([pin.status, pin.approvedBy, typeof pin.approvedAt, pin.approvedText], ['approved', 'key of operator', 'string', undefined], 'pins: an approval has its time and its operator, and ends the diff');
}

export default async function gateway(page) {
  await providers(page);
  await connectors(page);
  await resources(page);
  await tester(page);
  await pins(page);
}
