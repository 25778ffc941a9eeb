// Each page at three widths in both colour schemes, and texts of others as text.

import { is, look as resize, ok } from './browser.mjs';
import { FEW, heading, measure, push, textOf, until, visit } from './driver.mjs';
import { stretch } from './hands.mjs';

const STATES = ['no match', 'rights', 'settings', 'no such page'];

export default async function look(page) {
  for (const [name, place, words] of [
    ['overview', '#/', 'Needs attention'], ['decisions', '#/decisions', 'newest first'], ['no match', '#/decisions?reason=none_such', 'No decision matches'], ['clients', '#/clients', 'Customers'],
    ['client', '#/clients/crm', 'Last decisions'], ['rights', '#/clients/crm?tab=rights', 'Its binding'], ['settings', '#/clients/crm?tab=settings', 'PKCE is required'], ['rules', '#/rules', 'Choose a rule'], ['data', '#/data', 'svc.entitlements'],
    ['row', '#/data/svc.operator.controls.client', 'What it may hold'], ['revisions', '#/revisions', 'The shop closes'], ['system', '#/system', 'Readiness'],
    ['controls', '#/controls', 'what each of them decides'], ['control', '#/controls/client', 'client_disabled'], ['try', '#/try', 'Nothing is issued'], ['report', '#/report', 'By endpoint'],
    ['keys', '#/keys', 'Signing keys'], ['people', '#/people', 'No person signed in yet'], ['person', '#/people/crm', 'None is live'], ['resources', '#/resources', 'stock'], ['resource', '#/resources/stock', 'JSON'],
    ['no such page', '#/nowhere', 'No such page'],
  ]) {
    await visit(page, place, words);
    await measure(page, name, STATES.includes(name) ? FEW : undefined);
    await stretch(page, name, resize);
  }
  await visit(page, '#/controls', 'Denied today');
  await page.waitForFunction(() => [...document.querySelectorAll('tr')].some(row => row.innerText.includes('entitlements') && /^[1-9]/.test(row.lastElementChild.innerText)));
  ok(true, 'controls: each tells how often it denied today');
  await visit(page, '#/decisions?clientId=crm&outcome=denied', 'denied');
  await push(page, 'get a token', 'table');
  await until(page, 'Asked again');
  await until(page, 'scope_not_entitled');
  await measure(page, 'decision');
  await push(page, 'Question', '.tabs');
  await until(page, '"evaluation"');
  await measure(page, 'question', FEW);

  // The colours of the system: what is chosen differs from what is not, in shape or colour.
  const client = page.cdp;
  await client.send('Emulation.setEmulatedMedia', { features: [{ name: 'forced-colors', value: 'active' }] });
  const pair = (chosen, other) => page.evaluate((a, b) => {
    const of = selector => { const style = getComputedStyle(document.querySelector(selector)); return [style.backgroundColor, style.color].join(); };
    return of(a) !== of(b);
  }, chosen, other);
  is([await page.evaluate(() => matchMedia('(forced-colors: active)').matches), await pair('.rail a[aria-current]', '.rail a:not([aria-current])'), await pair('.tabs [aria-selected=true]', '.tabs [aria-selected=false]')], [true, true, true], 'forced colours: the page and the tab that are open can be told from the others');
  await client.send('Emulation.setEmulatedMedia', { features: [] });
  await resize(page, [1440, 900], 'light');

  // A token leads to its decisions, and no address has it.
  const { token } = page;
  await page.type('.find input', token);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.startsWith('#/decisions?flowId='));
  await until(page, 'get a token');
  ok(!page.url().includes(token), 'find: a token leads to the rows of its flow, and is in no address');
  await page.type('.find input', process.env.AUTHZ_SECRET);
  await page.keyboard.press('Enter');
  await until(page, 'No token of this service');
  is(await page.$eval('.find input', e => e.value), '', 'find: a secret is looked up nowhere, and the field forgets it');

  // Filters and the way back.
  await visit(page, '#/decisions', 'newest first');
  await push(page, '+ outcome');
  await page.select('.pills select', 'denied');
  await page.waitForFunction(() => location.hash === '#/decisions?outcome=denied');
  await page.waitForFunction(() => { const states = [...document.querySelectorAll('table .state')]; return states.length > 0 && states.every(e => e.textContent === 'denied'); });
  ok(true, 'filters: the address has them, and the list shows no other row');
  await page.goBack();
  await page.waitForFunction(() => location.hash === '#/decisions');
  ok(true, 'filters: Back undoes one');

  // Hostile texts.
  await visit(page, '#/clients', 'evil');
  const cell = await page.$$eval('td:first-child', list => list.map(e => e.innerText).find(text => text.includes('evil')));
  ok(cell.includes('"><img src=x onerror=alert(1)>⟨U+202E⟩txt.exe') && await page.$('main img') === null, 'hostile texts: markup is text, and what reorders text is shown as a number', cell);
  await push(page, '"><img', 'table');
  await until(page, 'Facts');
  ok((await heading(page)).startsWith('"><img') && (await page.evaluate(() => location.hash)) === '#/clients/evil%2Fa%20b', 'hostile texts: an id with a slash and a blank stays one part of the address');
  await visit(page, `#/decisions?clientId=${encodeURIComponent('<svg onload=alert(1)>')}`, 'No decision matches');
  ok((await textOf(page, '.pills')).includes('<svg onload=alert(1)>'), 'hostile texts: so does a filter of the address');
  await visit(page, `#/decisions?subjectId=${'x'.repeat(5000)}`, 'No decision matches');
  ok((await textOf(page, '.pills')).includes('(5,000 characters)') && (await textOf(page)).includes('all 5,000 characters'), 'hostile texts: a long one is cut, with a way to the rest');
}
