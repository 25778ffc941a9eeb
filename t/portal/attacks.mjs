// Attacks on a session in a real browser: a page of a neighbour, a planted cookie, and a key that is revoked in the middle of work.
// t/http/admin/console_session.t and console_person.t have each case of the API.

import { is, ok } from './browser.mjs';
import { base, push, signIn, tab, textOf, until, visit } from './driver.mjs';

const { AUTHZ_NEIGHBOUR: neighbour, AUTHZ_OWNER: owner } = process.env;
const admin = (method, path, body) => fetch(`${base}/admin/api/${path}`, { method, headers: { 'X-Admin-API-Key': owner, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) });
const clients = async () => (await (await admin('GET', 'clients')).json()).map(one => one.clientId);

// Another port of the same host is another origin, and the browser sends the cookie there all the same (RFC 6265bis, 8.5).
async function csrf(page) {
  const evil = await page.browserContext().newPage();
  const sent = [];
  evil.on('request', request => sent.push(`${request.method()} ${request.url()}`));
  await evil.goto(neighbour);
  const target = `${base}/admin/api/clients`, body = JSON.stringify({ clientId: 'by-a-neighbour', clientType: 'public' });
  const seen = await evil.evaluate(async (url, text) => {
    const attempt = options => fetch(url, { credentials: 'include', ...options }).then(answer => `${answer.type} ${answer.status}`, () => 'refused');
    return [
      await attempt({ method: 'POST', mode: 'no-cors', body: text }), await attempt({ method: 'POST', headers: { 'X-Authz-Console': '1', 'Content-Type': 'application/json' }, body: text }),
      await attempt({}), navigator.sendBeacon(url, text) ? 'sent' : 'refused',
    ];
  }, target, body);
  is([seen[0], seen[1], seen[2]], ['opaque 0', 'refused', 'refused'], 'CSRF: a page of a neighbour reads no answer of the API');
  const framed = await evil.evaluate(url => new Promise(resolve => {
    const frame = document.createElement('iframe');
    frame.onload = () => { try { resolve(frame.contentDocument?.body.innerText ?? 'closed'); } catch { resolve('closed'); } };
    frame.src = url;
    document.body.append(frame);
  }), `${base}/portal/`);
  ok(!/Overview/.test(framed), 'framing: it shows the console in no frame', framed);
  const [answer] = await Promise.all([
    evil.waitForNavigation(),
    evil.evaluate((url, text) => {
      const form = document.createElement('form'), field = document.createElement('input');
      Object.assign(form, { method: 'post', action: url, enctype: 'text/plain' });
      Object.assign(field, { name: text.replace(/}$/, ',"x":"'), value: '"}' });
      form.append(field);
      document.body.append(form);
      form.submit();
    }, target, body),
  ]);
  is(answer.status(), 403, 'CSRF: a form of a neighbour is refused, although the browser sends the cookie');
  ok(sent.length > 3 && !(await clients()).includes('by-a-neighbour'), 'CSRF: no way of it makes a client', sent);
  await evil.close();
  is(await page.evaluate(async () => (await fetch('../admin/session')).status), 200, 'CSRF: ... and the session lives');
}

async function fixation(browser) {
  const page = await tab(browser);
  const planted = 'A'.repeat(43), own = async () => (await page.cookies(`${base}/portal/`)).filter(one => one.name === 'authz_console');
  await signIn(page, process.env.AUTHZ_AUDITOR);
  const [{ domain, path }] = await own();
  await page.setCookie({ name: 'authz_console', value: planted, domain, path });
  await page.reload();
  await page.waitForSelector('#key');
  await signIn(page, process.env.AUTHZ_AUDITOR);
  const cookies = await own();
  is([cookies.length, cookies[0].value === planted, cookies[0].httpOnly, cookies[0].sameSite], [1, false, true, 'Strict'], 'fixation: the sign-in replaces a planted cookie; no script reads the new one');
  await page.close();
}

async function revoked(browser) {
  const { key, id } = await (await admin('POST', 'admin-keys', { label: 'of a day', role: 'operator' })).json();
  const page = await tab(browser);
  await signIn(page, key);
  await visit(page, '#/clients?new=1', 'New client');
  await page.type('#f-clientId', 'after-revocation');
  is((await admin('DELETE', `admin-keys/${id}`)).status, 204, '(the key is revoked)');
  await push(page, 'Create client');
  await until(page, 'Your session ended');
  ok(!(await clients()).includes('after-revocation'), 'revoked key: its session writes nothing from then on');
  for (let at = 0; at < 3; at++) await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelector('dialog').open);
  ok(true, 'revoked key: the dialog that asks for a sign-in stays');
  await page.type('dialog #key', key);
  await page.keyboard.press('Enter');
  await until(page, 'No valid key');
  await page.type('dialog #key', process.env.AUTHZ_AUDITOR);
  await page.keyboard.press('Enter');
  await until(page, 'role_required');
  ok(/auditor/.test(await textOf(page, '.top')) && !(await clients()).includes('after-revocation'), 'revoked key: the next sign-in has the role of its own key, and the save of before is refused');
  is(page.violations, [], 'revoked key: no violation of the policy');
  await page.close();
}

export default async function attacks(browser, page) {
  await csrf(page);
  await fixation(browser);
  await revoked(browser);
}
