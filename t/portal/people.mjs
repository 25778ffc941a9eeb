// Lists of what people hold and grant, changes by administrators, and what the first data cost. See people.t.

import { done, is, launch, ok } from './browser.mjs';
import { FEW, confirm, measure, push, signIn, tab, textOf, until, visit } from './driver.mjs';

const browser = await launch();
const page = await tab(browser);
const sent = [];
page.on('request', request => sent.push(request.url()));
const rows = (label = '') => page.$$eval(`table${label && `[aria-label="${label}"]`} tbody tr`, list => list.map(e => e.innerText.replace(/\s+/g, ' ')));

async function all() {
  await signIn(page, process.env.AUTHZ_KEY);
  await until(page, 'Last revisions');
  await page.waitForNetworkIdle({ idleTime: 60 });
  const asked = () => sent.filter(url => url.includes('/admin/api/'));
  ok(asked().length > 0 && asked().length <= 10, 'figures: the first data need at most 10 requests', asked());
  ok(!sent.some(url => url.includes('codemirror')), 'figures: ... and the editor is not loaded');
  const reasons = await rows('Denied, by reason');
  const numbers = reasons.map(one => Number(/ ([\d,]+) (?:new|[\d,]+)$/.exec(one)?.[1].replaceAll(',', '')));
  ok(numbers.length > 1 && numbers.every((one, at) => at === 0 || one <= numbers[at - 1]), 'overview: reasons in the order of their numbers, with those of the period before', reasons);
  ok(reasons.some(one => /^refund_too_large [\d,]+ new/.test(one)), 'overview: ... a new one is marked', reasons);
  await measure(page, 'overview, filled');
  for (const [place, words] of [['#/decisions', 'newest first'], ['#/clients', 'Support agent'], ['#/clients/support-agent', 'Last decisions'], ['#/people', 'Mira Halden'], ['#/resources', 'Orders'], ['#/revisions', 'OPS-1182'], ['#/report', 'By endpoint'], ['#/system', 'Audit log']]) {
    sent.length = 0;
    await visit(page, place, words);
    ok(asked().length <= 10, `figures: ${place} needs at most 10 requests`, asked());
  }
  sent.length = 0;
  await visit(page, '#/rules/custom/gateway/refunds.rego', 'refunds.rego');
  await page.waitForFunction(() => document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content'), { polling: 'raf' });
  is(sent.filter(url => url.includes('codemirror')).length, 1, 'figures: the editor is loaded when a rule is opened');

  // ---- what people hold and grant, of all

  for (const [name, words, count] of [['sessions', '10.20.4.17', 8], ['consents', 'Halden shop', 8], ['delegations', 'Photos', 4], ['resources', 'Contracts', 4], ['approvals', 'Refund H-20931', 1]]) {
    await visit(page, `#/people?tab=${name}`, words);
    is((await rows()).length, count, `people: the list of ${name}`);
    await measure(page, `people, ${name}`, name === 'delegations' ? undefined : FEW);
  }
  await visit(page, '#/people?tab=delegations', 'Photos');
  await push(page, '+ state');
  await page.select('.pills select', 'live');
  await until(page, '2 entries');
  ok((await rows()).every(row => row.includes('live')) && (await page.evaluate(() => location.hash)).includes('state=live'), 'people: a filter is in the address');
  await visit(page, '#/people?tab=constructor', 'Mira Halden');
  ok(true, 'people: a tab that is no list shows the people');
  await visit(page, '#/people?tab=delegations&subjectId=nobody', 'None matches');
  await push(page, 'Remove the filters');
  await until(page, '4 entries');
  ok(true, 'people: no match says so, with the way to all');
  await push(page, 'UMA resources', '.tabs');
  await until(page, 'Contracts');
  ok((await textOf(page, 'table')).includes('Contracts <b>2026</b>') && await page.$('main table b') === null, 'people: the name of a resource is text');
  await push(page, '1', 'table');
  await until(page, 'Jonas Weber');
  ok(/resourceId=/.test(await page.evaluate(() => location.hash)), 'people: a resource leads to its delegations');

  // ---- of one person and one client

  await visit(page, '#/people/mira', 'Refund H-20931');
  is(await page.$$eval('main h2', list => list.map(e => e.innerText)), ['Person', 'Sessions', 'Tokens', 'Consents', 'Accounts elsewhere', 'Last decisions', 'Waiting approvals', 'Delegations', 'UMA resources'], 'person: all that a person holds, grants and is asked');
  is([(await rows('Sessions')).length, (await rows('Delegations')).length, (await rows('UMA resources')).length], [2, 1, 2], 'person: ... those of this person alone, and delegations that are live');
  is(await textOf(page, 'h1'), 'Mira Halden', 'person: the page has the name of the person');
  await measure(page, 'person, filled');
  await page.locator('[aria-label="Withdraw the consent of mira for shop-web"]').click();
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label="Consents"] tbody tr').length === 1);
  ok(true, 'person: a consent is withdrawn');
  await push(page, 'Sign out everywhere');
  const api = `${process.env.AUTHZ_BASE}/admin/api/sessions`, headers = { 'X-Admin-API-Key': process.env.AUTHZ_KEY };
  const [first] = await (await fetch(`${api}?subjectId=mira`, { headers })).json();
  is((await fetch(`${api}/${first.sid}`, { method: 'DELETE', headers })).status, 204, 'person: one of the sessions ends while the question is open');
  await confirm(page, 'mira');
  await page.waitForFunction(() => !document.querySelector('dialog') && !document.querySelector('table[aria-label="Sessions"]'));
  ok(true, 'person: after the sign-out no session is left');
  is(await (await fetch(`${api}?subjectId=mira`, { headers })).json(), [], 'person: ... by the API too');
  await visit(page, '#/clients/shop-web?tab=people', 'UMA resources');
  is((await rows('Consents')).length, 3, 'client: the people who consented to it');
  await visit(page, '#/clients/support-agent?tab=people', 'Refund H-20931');
  await measure(page, 'client, people', FEW);

  // ---- changes by administrators

  await visit(page, '#/clients/support-agent?tab=changes', 'create client');
  const changes = await rows('Changes');
  ok(changes.length === 1 && /create client .* allowed/.test(changes[0]), 'client: who changed it, from the audit log', changes);
  await measure(page, 'client, changes', FEW);
  await visit(page, '#/data/example.refunds', 'Who reads it');
  await until(page, 'custom/gateway/refunds.rego');
  ok(true, 'data: the rules that read a row');
  await visit(page, '#/providers/corp', 'Home issuer');
  await until(page, 'people keep their sub' );
  await measure(page, 'provider, filled');
  await visit(page, '#/revisions', 'OPS-1182');
  await page.$eval('input[type="datetime-local"]', e => { e.value = new Date(Date.now() + 60000).toISOString().slice(0, 16); });
  await push(page, 'Open', '.pills');
  await page.waitForFunction(() => /^#\/revisions\/\d+$/.test(location.hash));
  await until(page, 'Refunds up to 500');
  ok(true, 'revisions: the policy at a moment');
  await visit(page, '#/keys', 'Signing keys');
  await push(page, 'New key for ID tokens');
  await page.waitForSelector('dialog[open]');
  await push(page, 'Make it active', 'dialog');
  await page.waitForFunction(() => [...document.querySelectorAll('table[aria-label="Signing keys"] tr')].some(row => /ID tokens/.test(row.innerText) && /retired/.test(row.innerText)));
  ok(true, 'keys: an owner makes the next signing key active');
  await measure(page, 'keys, filled');

  // ---- a shadow in place of a save

  await visit(page, '#/data/example.refunds?as=json', 'What it may hold');
  await page.evaluate(() => { sessionStorage.setItem('authz.draft', JSON.stringify({ rules: {}, data: { 'example.refunds': '{"limit": 700}' }, deleteRules: [], deleteData: [] })); });
  await page.reload();
  await visit(page, '#/review', 'Watch it first');
  await push(page, 'Run as a shadow');
  await until(page, 'one decision in 10 is compared');
  await measure(page, 'shadow', FEW);
  await push(page, 'Drop…');
  await push(page, 'Drop it', 'dialog');
  await page.waitForFunction(() => /dropped/.test(document.querySelector('main').innerText));
  ok(true, 'shadow: a draft runs as a shadow, and is dropped');
}

try { await all(); } catch (error) {
  console.log(`# at ${page.url()}\n# ${(await textOf(page, 'body')).slice(0, 2000).replaceAll('\n', '\n# ')}\n# ${[...page.violations, ...page.faults].join('\n# ')}`);
  throw error;
}

is(page.violations, [], 'policy: the browser reports no violation');
is(page.faults, [], 'policy: the console of the browser is empty');
await browser.close();
done();
