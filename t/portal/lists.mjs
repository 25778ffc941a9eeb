// Sorting, the list of what needs attention, the question to a provider, and what a rollback is told before.

import { is, ok } from './browser.mjs';
import { fill, push, textOf, until, visit } from './driver.mjs';
import { instead } from './hands.mjs';

const column = (page, at) => page.$$eval('table tbody tr', (rows, place) => rows.map(row => row.children[place].innerText.split('\n')[0]), at);

async function sorting(page) {
  await visit(page, '#/clients', 'Customers');
  const sorted = (title, order) => page.waitForFunction((words, how) => [...document.querySelectorAll('th')].some(e => e.innerText.startsWith(words) && e.getAttribute('aria-sort') === how), {}, title, order);
  const settle = () => page.waitForNetworkIdle({ idleTime: 60 });
  await push(page, 'Made', 'thead');
  await sorted('Made', 'descending');
  await settle();
  is((await page.evaluate(() => location.hash)), '#/clients?sort=-createdAt', 'sorting: the address has it');
  const newest = await column(page, 0);
  await push(page, 'Made', 'thead');
  await sorted('Made', 'ascending');
  await settle();
  const oldest = await column(page, 0);
  ok(newest[0] !== oldest[0] && oldest[0] === 'Customers', 'sorting: the button of a column turns its order round, and says it', newest[0], oldest[0]);
  await push(page, 'Denied', 'thead');
  await sorted('Denied', 'descending');
  await settle();
  const denied = (await column(page, 4)).map(Number);
  is(denied, [...denied].sort((a, b) => b - a), 'sorting: by denials, the most first');
  await page.goBack();
  await sorted('Made', 'ascending');
  ok(true, 'sorting: Back undoes it');
}

const ENTRIES = [
  [{ kind: 'tools_waiting', name: 'notes', count: 2 }, '2 tools wait', '#/resources/notes'], [{ kind: 'resource_degraded', name: 'crm', detail: 'no answer', at: '2026-01-31T12:00:00Z' }, 'crm: no answer', '#/resources/crm'],
  [{ kind: 'connections_to_renew', name: 'crm', count: 1 }, 'crm: 1 account of people', '#/resources/crm?tab=connections'], [{ kind: 'key_ending', name: 'night', detail: 'owner', at: '2026-01-31T12:00:00Z' }, 'night, owner', '#/keys'],
  [{ kind: 'reason_new', name: 'too_late', count: 3 }, '3 denials too_late', '#/decisions?outcome=denied&reason=too_late'], [{ kind: 'clients_unused', count: 4 }, '4 clients without a request in 90 days', '#/clients?sort=lastUsedAt'],
  [{ kind: 'engines_differ', name: 'svc/decision/issue', count: 1, detail: 'r1', at: '2026-01-31T12:00:00Z' }, 'svc/decision/issue: OPA decided otherwise', '#/decisions?outcome=error&hours=24&endpoint=%28witness%29'],
  [{ kind: 'secret_ending', name: 'corp', at: '2026-01-31T12:00:00Z' }, 'corp: our secret there', '#/providers/corp'],
  [{ kind: 'provider_fault', name: 'corp', count: 2, detail: 'client_refused', at: '2026-01-31T12:00:00Z' }, 'corp: client_refused', '#/providers/corp'],
  [{ kind: 'sign_ins_shared', name: 'cli', count: 2, at: '2026-01-31T12:00:00Z' }, '2 sign-ins ended', '#/clients/cli'],
  [{ kind: 'redirect_shared', name: 'crm' }, 'crm: give its authorization server', '#/resources/crm'],
  [{ kind: 'of_a_later_version', name: '<b>x</b>' }, '<b>x</b>', undefined],
];

async function attention(page) {
  await instead(page, path => (path === 'attention' ? { json: ENTRIES.map(([entry]) => entry) } : undefined), async () => {
    await visit(page, '#/', 'Needs attention');
    await until(page, 'of_a_later_version');
    const rows = await page.$$eval('table[aria-label="Needs attention"] tbody tr', list => list.map(row => [row.innerText, row.querySelector('a')?.getAttribute('href')]));
    for (const [entry, words, href] of ENTRIES) ok(rows.some(([text, to]) => text.includes(words) && (to ?? undefined) === href), `attention: ${entry.kind} says what waits, and leads there`, rows);
  });
  await instead(page, path => (path === 'attention' ? { json: [] } : undefined), async () => {
    await visit(page, '#/clients', 'Customers');
    await visit(page, '#/', 'Needs attention');
    await until(page, 'Nothing fails, and nothing waits.');
    ok(true, 'attention: nothing waits');
  });
}

async function provider(page) {
  await visit(page, '#/providers?new=1', 'Ask the provider');
  const field = 'main form input:not([id])';
  await fill(page, field, process.env.AUTHZ_IDP);
  await push(page, 'Ask it');
  await until(page, 'It answers, with');
  ok(/It answers, with \d+ keys?/.test(await textOf(page)), 'provider check: one that answers, with the number of its keys');
  await fill(page, field, `${process.env.AUTHZ_IDP}/none`);
  await push(page, 'Ask it');
  await page.waitForSelector('main form p.state.warn');
  ok(true, 'provider check: one that has no metadata there');
  await fill(page, field, 'ftp://login.example');
  await push(page, 'Ask it');
  await page.waitForSelector('main form p.state.no');
  ok(!(await page.evaluate(async () => (await fetch('../admin/api/identity-providers')).json())).some(one => one.issuer.startsWith('ftp:')), 'provider check: one with no address of a provider; nothing is stored');
}

async function rollback(page) {
  const latest = await page.evaluate(async () => (await fetch('../admin/api/bundle-audit/latest')).json());
  const older = await page.evaluate(async id => (await (await fetch('../admin/api/bundle-audit?size=50')).json()).find(row => row.id < id).id, latest.id);
  const refusal = { status: 422, json: { error: 'bundle_not_activated', error_description: 'custom/x.rego:1: no <b>' } };
  await instead(page, (path, method) => (method === 'POST' && path.includes('/rollback') ? refusal : undefined), async () => {
    await visit(page, `#/revisions/${older}`, 'Roll back to');
    await push(page, 'Roll back to');
    await until(page, 'It would be refused: custom/x.rego:1: no <b>');
    ok(true, 'rollback: a dry run that is refused says so before');
    await page.type('#confirm-name', String(older));
    await page.keyboard.press('Enter');
    await until(page, '(422 bundle_not_activated)');
    is(await page.evaluate(() => [document.activeElement.id, document.querySelector('dialog').open]), ['confirm-fault', true], 'rollback: ... a refusal stays in the dialog and has the focus');
    await push(page, 'Cancel', 'dialog');
  });
}

export default async function lists(page) {
  await sorting(page);
  await attention(page);
  await provider(page);
  await rollback(page);
}
