// Questions to policy that issue nothing, new rows on request, rows as forms, and settings.

import { ok, is } from './browser.mjs';
import { FEW, base, fill, measure, push, textOf, until, visit, write } from './driver.mjs';

const { AUTHZ_OPERATOR: key, AUTHZ_SECRET: secret } = process.env;
const api = (page, path) => page.evaluate(async at => (await fetch(`../admin/api/${at}`)).json(), path);
const ROW = 'svc.operator.controls.client';

async function mayIt(page) {
  await visit(page, '#/clients/crm', 'May it…?');
  const before = (await api(page, 'tokens?clientId=crm&size=50')).content.length;
  await fill(page, '[aria-label="Scopes"]', 'crm.read');
  await push(page, 'Ask', 'main form');
  await page.waitForFunction(() => /allowed\s+with\s+crm\.read/.test(document.querySelector('main').innerText));
  ok(true, 'may it: policy says what a token would have');
  await fill(page, '[aria-label="Scopes"]', 'crm.admin');
  await push(page, 'Ask', 'main form');
  await page.waitForFunction(() => /scope_not_entitled/.test(document.querySelector('main form').innerText));
  ok(/Entitle it…/.test(await textOf(page, 'main form')), 'may it: a denial has its reason, and the way to the rights');
  is((await api(page, 'tokens?clientId=crm&size=50')).content.length, before, 'may it: nothing is issued');
}

async function live(page) {
  await visit(page, '#/decisions?clientId=crm', 'newest first');
  const first = () => page.$eval('table tbody tr a', e => e.getAttribute('href'));
  const was = await first();
  await push(page, 'Live');
  await until(page, 'no new row');
  const answer = await fetch(`${base}/token`, { method: 'POST', headers: { Authorization: `Basic ${Buffer.from(`crm:${secret}`).toString('base64')}` }, body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'crm.read' }) });
  is(answer.status, 200, 'live: a request of the client');
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await until(page, 'Show 1 new row');
  is(await first(), was, 'live: the new row is counted, and no row moves under the pointer');
  await measure(page, 'live', FEW);
  await push(page, 'Show 1 new row');
  await page.waitForFunction(href => document.querySelector('table tbody tr a').getAttribute('href') !== href, {}, was);
  ok(true, 'live: ... it stands in the list on request');
}

async function matrix(page) {
  await visit(page, '#/rules?new=1', 'New rule');
  await fill(page, '#new-path', 'custom/issue/closed.rego');
  await page.keyboard.press('Enter');
  await write(page, 'package custom.issue\n\ndeny contains {"code": "closed_now", "category": "client", "message": "closed"} if true\n');
  await visit(page, '#/try', 'Recorded questions');
  await push(page, 'Ask them again');
  await until(page, 'closed_now');
  await page.waitForFunction(() => [...document.querySelectorAll('button')].some(e => e.innerText === 'Ask them again' && !e.disabled));
  const rows = await page.$$eval('table[aria-label="Recorded questions"] tbody tr', list => list.map(e => [...e.children].slice(1).map(cell => cell.innerText.split('\n')[0])));
  ok(rows.length > 0 && rows.length <= 10 && rows.some(([then, active, draft]) => then === 'allowed' && active === 'allowed' && draft === 'denied'), 'try: recorded questions, answered then, by the active policy and by the draft', rows);
  await measure(page, 'matrix');
  await visit(page, '#/decisions?clientId=crm&outcome=allowed', 'newest first');
  await page.keyboard.press(']');
  await until(page, 'your draft');
  await until(page, 'what ');
  const asked = await textOf(page, 'table[aria-label="Asked again"]');
  ok(/revision \d+/.test(asked) && /closed_now/.test(asked), 'decision: asked again of the revision before and of the draft', asked);
  await visit(page, '#/rules', 'Choose a rule');
  await push(page, 'Discard draft');
}

async function forms(page) {
  await visit(page, `#/data/${ROW}`, 'What it may hold');
  await page.waitForSelector('#row-form input[type=checkbox]');
  await (await page.$('#row-form .check input')).click();
  await until(page, 'Review draft');
  const draft = () => page.evaluate(row => JSON.parse(JSON.parse(sessionStorage.getItem('authz.draft')).data[row]), ROW);
  is((await draft()).allowed_auth_methods, ['none'], 'data: a form of the schema changes the row in the draft');
  await measure(page, 'row form', FEW);
  await push(page, 'Undo the change');
  await page.waitForFunction(() => !sessionStorage.getItem('authz.draft'));
  ok(true, 'data: ... and the change can be undone');
}

async function settings(page) {
  await visit(page, '#/system', 'Settings in force');
  const text = await textOf(page, 'table[aria-label="Settings"]');
  const { settings: list, version } = await api(page, 'settings');
  ok(/SVC_OIDC_ISSUER/.test(text) && version.length > 0, 'system: the settings in force');
  const secrets = list.filter(one => one.secret);
  ok(secrets.length > 3 && secrets.every(one => one.value === undefined) && secrets.some(one => one.set), 'system: of a secret nothing but that it is set', secrets.map(one => one.name));
  ok(list.some(one => one.origin === 'default') && list.some(one => /environment|:\d+$/.test(one.origin)), 'system: each has its origin');
  ok(!text.includes(key), 'system: no key is on the page');
}

export default async function ask(page) {
  await mayIt(page);
  await live(page);
  await matrix(page);
  await forms(page);
  await settings(page);
}
