// The console without a mouse.

import { is, ok, tabStops } from './browser.mjs';
import { editor, heading, until, visit } from './driver.mjs';

const focused = page => page.evaluate(() => document.activeElement.tagName + (document.activeElement.innerText ?? '').slice(0, 20));

export default async function keyboard(page) {
  await visit(page, '#/', 'Needs attention');
  await page.waitForFunction(() => document.activeElement.tagName === 'H1');
  is([await focused(page), await page.title()], ['H1Overview', 'Overview · Console'], 'keyboard: after a change of place h1 has the focus, and the title follows');
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await until(page, 'Programs that may ask');
  is(await heading(page), 'Clients', 'keyboard: g and a letter go to a page');
  await page.keyboard.press('/');
  is(await page.evaluate(() => document.activeElement.type), 'search', 'keyboard: / goes to Find');
  await page.keyboard.type('crm');
  await page.keyboard.press('Enter');
  await until(page, 'Get a token');
  is(await heading(page), 'Customers', 'keyboard: Find opens a client by its id');
  await page.waitForFunction(() => document.activeElement.tagName === 'H1');
  await page.keyboard.press('?');
  await until(page, 'This list');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !document.querySelector('dialog'));
  ok(true, 'keyboard: ? lists the keys, Esc closes the list');
  const stops = await tabStops(page);
  ok(stops.length > 10 && stops.every(stop => stop.outline >= 2 && stop.inView), 'keyboard: each stop has a ring and is in view (WCAG 2.2 2.4.7)', stops.filter(stop => stop.outline < 2 || !stop.inView));
  await visit(page, '#/data/svc.operator.controls.client?as=json', 'What it may hold');
  const content = await editor(page);
  await content.focus();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  ok(await page.evaluate(() => !document.activeElement.closest('.editor')), 'keyboard: Esc, then Tab leaves the editor (WCAG 2.2 2.1.2)');
}
