// The console, looked at and used as a person does. See console.t.

import { done, is, launch, ok } from './browser.mjs';
import { FEW, base, measure, push, signIn, tab, textOf, until, visit } from './driver.mjs';
import ask from './ask.mjs';
import gateway from './gateway.mjs';
import keyboard from './keyboard.mjs';
import pages from './look.mjs';
import roles from './roles.mjs';
import story from './story.mjs';

const { AUTHZ_OPERATOR: operator, AUTHZ_OFF: off, AUTHZ_LINK: link } = process.env;
const browser = await launch();
const page = await tab(browser);
const sent = [];
page.on('request', request => sent.push(request));

// ---- sign-in

await page.goto(`${base}/portal/`);
await page.waitForSelector('#key');
await measure(page, 'sign-in', FEW);
await page.type('#key', 'ak_wrong');
await page.keyboard.press('Enter');
await until(page, 'No valid key');
is(await page.$eval('#key', e => [e.value, e === document.activeElement]), ['', true], 'sign-in: a wrong key is refused, forgotten, and the field has the focus');
await signIn(page, operator);
await page.waitForNetworkIdle({ idleTime: 60 });
ok(new Set(sent.map(request => request.url()).filter(url => url.startsWith(`${base}/portal/`))).size <= 25, 'budget: the first page needs at most 25 files');
ok(sent.filter(request => /\/admin\/api\//.test(request.url())).length <= 10, 'budget: the first data need at most 10 requests', sent.map(request => request.url()));
is(await page.evaluate(key => [document.cookie, [localStorage, sessionStorage].some(store => Object.values(store).join().includes(key)), location.href.includes(key)], operator), ['', false, false], 'sign-in: no script can read the cookie, and the page keeps the key nowhere');

try {
  await story(page);
  await gateway(page);
  await ask(page);
  await keyboard(page);
  await pages(page);
  await roles(browser, page);
} catch (error) {
  console.log(`# at ${page.url()}\n# ${(await textOf(page, 'body')).slice(0, 2000).replaceAll('\n', '\n# ')}\n# ${[...page.violations, ...page.faults].join('\n# ')}`);
  throw error;
}

// ---- a one-time link

const once = await tab(browser);
await once.goto(link);
await until(once, 'Sign in with the link');
const secret = link.split('/').at(-1);
ok(!once.url().includes(secret), 'link: the address loses the secret before anything is sent');
await measure(once, 'sign-in by link', FEW);
is(await once.evaluate(async () => (await fetch('../admin/session')).status), 401, 'link: to open it signs nobody in; the page asks first');
await once.keyboard.press('Enter');
await once.waitForSelector('.rail');
ok((await textOf(once, '.top')).includes('owner'), 'link: the button, which has the focus, signs in with the rights of the key');
await once.goto(`${base}/portal/${link.slice(link.indexOf('#'))}`);
await until(once, 'The link ends that session');
await push(once, 'Sign in with the link');
await until(once, 'This link is over');
await push(once, 'Keep the session');
await once.waitForSelector('.rail');
ok(!once.url().includes(secret), 'link: a second use is refused, and the session of before stays');
is([once.violations, once.dialogs], [[], []], 'link: no violation of the policy');

// ---- SVC_ADMIN_ENABLED=false

const other = await tab(browser);
await other.goto(`${off}/portal/`);
await other.waitForSelector('#key');
await other.type('#key', operator);
await other.keyboard.press('Enter');
await until(other, 'SVC_ADMIN_ENABLED is false');
ok(await other.$('.rail') === null, 'SVC_ADMIN_ENABLED=false: a sign-in is refused, and the page names the setting');

// ---- the policy of the page

is(page.violations, [], 'policy: the browser reports no violation of the Content-Security-Policy or of Trusted Types');
is(page.dialogs, [], 'policy: no text of others opened a dialog');
const expected = /Password field is not contained|autocomplete/;
is(page.faults.filter(text => !expected.test(text)), [], 'policy: the console of the browser is empty');
is(await page.evaluate(() => new Promise(resolve => setTimeout(() => {
  const attempt = act => { try { act(); return 'done'; } catch { return 'refused'; } };
  resolve([attempt(() => { document.createElement('div').innerHTML = '<b>x</b>'; }), attempt(() => { (0, eval)('1'); })]);
}))), ['refused', 'refused'], 'policy: the browser refuses to read a text as HTML or as a program');
ok(sent.every(request => request.url().startsWith(base) || request.url().startsWith('data:')), 'policy: every request goes to this server');
ok(sent.every(request => ![operator, process.env.AUTHZ_SECRET, page.token].some(secret => request.url().includes(secret))), 'policy: no address has a secret');

await browser.close();
done();
