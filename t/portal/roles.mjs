// An auditor looks and changes nothing; a session that ended; the sign-out.

import { is, ok } from './browser.mjs';
import { FEW, base, measure, push, signIn, tab, textOf, until, visit } from './driver.mjs';

const { AUTHZ_AUDITOR: auditor, AUTHZ_OPERATOR: operator } = process.env;

export default async function roles(browser, page) {
  const look = await tab(browser);
  await signIn(look, auditor);
  ok((await textOf(look, '.top')).includes('auditor'), 'roles: the bar names the role');
  const writes = /^(New|Delete|Disable|Enable|Install|Uninstall|Sync|Probe|Read tools|Approve|Turn|Call it|Disconnect|Add one|Forget|Remove|Create|Save|Check|Discard|Review|Roll back|Revoke)/;
  for (const [place, words] of [['#/clients', 'Customers'], ['#/clients/crm', 'Facts'], ['#/clients/crm?tab=rights', 'Its binding'], ['#/clients/crm?tab=settings', 'PKCE is required'], ['#/clients?new=1', 'New client'], ['#/rules', 'Choose a rule'], ['#/rules/svc/lib/answer.rego', 'shipped'], ['#/data/svc.operator.controls.client', 'What it may hold'], ['#/revisions/1', 'Facts'],
    ['#/providers', 'corp'], ['#/providers/corp', 'To register'], ['#/providers?new=1', 'New identity provider'], ['#/connectors/generic-rest', 'Manifest'], ['#/connectors/github', 'Install'], ['#/resources/stock?tool=move', 'Try a tool'],
    ['#/resources/generic-rest?tab=edit', 'Credential for the upstream'], ['#/resources?new=1', 'New resource'], ['#/system', 'Settings in force'], ['#/try', 'Recorded questions']]) {
    await visit(look, place, words);
    const buttons = await look.$$eval('main button, main a.button', list => list.filter(e => e.checkVisibility() && !e.disabled).map(e => e.innerText.trim()));
    is(buttons.filter(text => writes.test(text)), [], `roles: an auditor has no button that writes on ${place}`);
  }
  await visit(look, '#/clients/crm?tab=rights', 'Its binding');
  ok((await textOf(look)).includes('Your role is auditor; operator may save this'), 'roles: the form names the role that may');
  await measure(look, 'may not', FEW);
  is(await look.evaluate(async () => (await fetch('../admin/api/clients', { method: 'POST', headers: { 'X-Authz-Console': '1', 'Content-Type': 'application/json' }, body: '{"clientId":"x","clientType":"public"}' })).status), 403, 'roles: ... and the service refuses its write');
  is(look.violations, [], 'roles: no violation of the policy');

  // The session ends while a form is open.
  await visit(page, '#/clients?new=1', 'New client');
  await page.type('#f-clientId', 'kept');
  await page.evaluate(() => fetch('../admin/session', { method: 'DELETE', headers: { 'X-Authz-Console': '1' } }));
  await push(page, 'Create client');
  await until(page, 'Your session ended');
  await measure(page, 'signed out', FEW);
  await page.type('dialog #key', operator);
  await page.keyboard.press('Enter');
  await until(page, 'The secret of');
  ok((await textOf(page)).includes('kept'), 'session: after the sign-in in the dialog the save goes on, and nothing typed is lost');

  await push(page, 'key of operator');
  await page.evaluate(() => { window.kept = window.fetch; window.fetch = (at, how) => how?.method === 'DELETE' ? Promise.resolve(new Response('', { status: 503 })) : window.kept(at, how); });
  await push(page, 'Sign out');
  await until(page, 'The service answered 503. You may still be signed in');
  is(await page.evaluate(async () => (await fetch('../admin/session')).status), 200, 'session: a sign-out that fails is told, and the page stays');
  await page.evaluate(() => { window.fetch = window.kept; });
  await Promise.all([page.waitForNavigation(), push(page, 'Sign out')]);
  await page.waitForSelector('#key');
  is(await page.evaluate(async () => (await fetch('../admin/session')).status), 401, 'session: the sign-out ends it');
  is(await page.evaluate(() => Object.keys(sessionStorage)), [], 'session: ... and the draft is gone');
  ok(page.url().startsWith(`${base}/portal/`), 'session: the page asks for a key again');
}
