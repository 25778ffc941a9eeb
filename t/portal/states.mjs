// Each page while it loads, when its data cannot be read, when there are none, and when a save is refused.

import { is, ok } from './browser.mjs';
import { FEW, measure, push, signIn, tab, textOf, until, visit } from './driver.mjs';
import { instead, overflow } from './hands.mjs';

const DOWN = { status: 503, json: { error: 'policy_unavailable', error_description: 'The engine <b>rests</b>' } };
// The page, and the data that it cannot do without.
const PAGES = [
  ['#/', 'governance/report'], ['#/decisions', 'audit-logs/search'], ['#/decisions?open=1', 'audit-logs/1'], ['#/clients', 'clients'], ['#/clients/crm', 'clients/crm'], ['#/people', 'subjects'], ['#/people/ann', 'sessions'],
  ['#/providers', 'identity-providers'], ['#/providers/h1', 'identity-providers/h1'], ['#/providers?new=1', 'schemas/'], ['#/resources', 'managed-resources'], ['#/resources/notes', 'managed-resources/notes'], ['#/resources?new=1', 'schemas/'], ['#/connectors', 'connectors'], ['#/connectors/github', 'connectors/github'],
  ['#/rules', 'policy-rules'], ['#/data', 'policy-data'], ['#/data/svc.operator.controls.client', 'policy-data/by-key'], ['#/controls', 'controls'], ['#/controls/client', 'controls/client'], ['#/try', 'audit-logs/search'], ['#/revisions', 'bundle-audit?'], ['#/revisions/1', 'bundle-audit/1'], ['#/report', 'governance/report'], ['#/keys', 'admin-keys'], ['#/system', 'settings'],
];

async function errors(page) {
  const faults = [];
  let down = true;
  for (const [place, needs] of PAGES) {
    down = true;
    await instead(page, path => (down && path.startsWith(needs) ? DOWN : undefined), async () => {
      await page.goto(`${page.url().replace(/#.*/, '')}${place}`);
      const alert = await page.waitForSelector('main [role=alert]');
      await page.waitForFunction(() => document.activeElement.tagName === 'H1');
      const text = await alert.evaluate(e => e.innerText);
      if (!/cannot be (read|made)/.test(text) || !text.includes('503 policy_unavailable · The engine <b>rests</b> · request req-instead')) faults.push(`${place}: ${text}`);
      faults.push(...(await overflow(page)).map(one => `${place}: ${one}`));
      const before = (await page.$$('main [role=alert]')).length;
      down = false;
      await push(page, 'Try again', 'main');
      await page.waitForFunction(count => document.querySelectorAll('main [role=alert]').length < count, {}, before);
    });
  }
  is(faults, [], 'error: each page says what failed, the code and the request id, has h1 in focus, and reads again by "Try again"');
}

async function loading(page) {
  const faults = [];
  for (const [place, needs] of PAGES.filter((one, at) => at % 3 === 0)) {
    let release;
    const held = new Promise(resolve => { release = resolve; });
    await instead(page, path => (path.startsWith(needs) ? held : undefined), async () => {
      await page.goto(`${page.url().replace(/#.*/, '')}${place}`);
      await page.waitForSelector('main .grey');
      if (await page.$eval('main .grey', e => e.getAttribute('role')) !== 'status') faults.push(`${place}: no status`);
      release();
      await page.waitForFunction(() => !document.querySelector('main .grey'));
    });
  }
  is(faults, [], 'loading: pages show grey lines, and a status for readers');

  // Again: the old rows stay under a line, which does not move for those who asked so.
  await visit(page, '#/clients', 'Customers');
  let release;
  const held = new Promise(resolve => { release = resolve; });
  await instead(page, path => (path.startsWith('clients?') ? held : undefined), async () => {
    await push(page, 'Made', 'thead');
    await page.waitForSelector('.busy-line');
    const motions = () => page.evaluate(() => document.getAnimations({ subtree: true }).filter(one => one.playState === 'running').length);
    ok(await motions() > 0 && (await textOf(page, 'table')).includes('Customers'), 'loading again: the old rows stay, and a line runs above them');
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
    is(await motions(), 0, 'loading again: with prefers-reduced-motion nothing moves (2.3.3)');
    await page.emulateMediaFeatures([]);
    release();
    await page.waitForFunction(() => !document.querySelector('.busy-line'));
  });
}

const NOTHING = [
  ['#/clients', 'clients', [], 'No client yet.', 'New client'], ['#/people', 'subjects', [], 'No person signed in yet.'], ['#/providers', 'identity-providers', [], 'No identity provider yet.', 'New provider'],
  ['#/resources', 'managed-resources', [], 'No resource yet.', 'New resource'], ['#/decisions', 'audit-logs/search', { content: [] }, 'No decision yet.', 'make a client'], ['#/revisions', 'bundle-audit?', [], 'No revision yet.'],
  ['#/try', 'audit-logs/search', { content: [] }, 'No question is recorded.'], ['#/clients/crm', 'audit-logs/search', { content: [] }, 'It has asked for nothing yet.'], ['#/clients/crm?tab=tokens', 'tokens', { content: [], last: true }, 'No live token.'],
  ['#/resources/notes?tab=connections', 'managed-resources/notes/connections', [], 'No account is connected.'], ['#/system', 'engines', [], 'No engine has asked for the policy.'],
];
const NO_MATCH = [
  ['#/clients?q=none-such', 'No client matches.'], ['#/people?q=none-such', 'No person matches.'], ['#/resources?q=none-such', 'No resource matches.'], ['#/connectors?q=none-such', 'No connector matches.'], ['#/revisions?triggeredBy=none-such', 'No revision matches.'], ['#/system?q=none-such', 'No setting matches.'],
];

async function empty(page) {
  const faults = [];
  for (const [place, needs, json, words, button] of NOTHING) {
    await instead(page, path => (path.startsWith(needs) ? { json } : undefined), async () => {
      await visit(page, place, words);
      const box = await page.evaluate(text => [...document.querySelectorAll('.in')].find(e => e.innerText.includes(text))?.innerText ?? '', words);
      if (box.length < words.length + 20) faults.push(`${place}: says no more than ${box}`);
      if (button && !box.includes(button)) faults.push(`${place}: no ${button}`);
    });
  }
  is(faults, [], 'empty: each list says what it is for, and has the way to the first one');
  for (const [place, words] of NO_MATCH) {
    await visit(page, place, words);
    ok(await page.$eval('main .in a', e => e.checkVisibility()), `no match: ${place} has the way to all`);
  }
}

async function refused(browser) {
  const page = await tab(browser);
  await signIn(page, process.env.AUTHZ_OWNER);
  await visit(page, '#/keys?new=1', 'New admin key');
  await push(page, 'Make the key');
  await until(page, 'Not saved');
  is(await page.$eval('.refused', e => e === document.activeElement), true, 'refused: a key without a label; the summary has the focus');
  await push(page, 'label', '.refused');
  is(await page.evaluate(() => document.activeElement.id), 'f-label', 'refused: ... and leads to its field');
  await measure(page, 'refused key', FEW);
  await page.keyboard.type('made by hand');
  await push(page, 'Make the key');
  await page.waitForFunction(() => document.activeElement.id === 'shown');
  ok(/ak_\S+/.test(await textOf(page, '.secret')), 'keys: the new key is shown once, and has the focus');
  await push(page, 'I have it');
  await page.waitForFunction(() => !document.querySelector('.secret') && document.activeElement.tagName === 'H1');
  ok(true, 'keys: ... and is gone after "I have it"');
  is([page.violations, page.dialogs], [[], []], 'keys: no violation of the policy');
  await page.close();
}

export default async function states(browser, page) {
  await errors(page);
  await loading(page);
  await empty(page);
  await refused(browser);
}
