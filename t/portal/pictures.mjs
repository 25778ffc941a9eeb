// Pictures of each page of the console, for t/portal/picture --all: into the folder AUTHZ_FILE, named as the page.

import { launch, look } from './browser.mjs';
import { push, signIn, tab } from './driver.mjs';

// [name, place, button to press].
const CRM = 'crm-of-the-northern-branch', SETTLEMENT = 'settlement-and-invoicing-of-the-northern-branch-eu-central-1-prd';
const RULE = encodeURIComponent('custom/gateway/refunds.rego'), BROKEN = encodeURIComponent('custom/issue/hours_of_the_northern_branch_draft.rego');
const PERSON = encodeURIComponent('auth0|6f9a1c0e5d4b4c2f9f0a7e1d3c5b7a9f1e2d3c4b5a69788796a5b4c3d2e1f00f');
const PAGES = [
  ['overview', '#/'], ['overview-30', '#/?days=30'], ['decisions', '#/decisions'], ['decisions-errors', '#/decisions?outcome=error'], ['decisions-none', '#/decisions?reason=none_such'],
  ['decision', '#/decisions?outcome=denied', 'get a token'],
  ['clients', '#/clients'], ['client', `#/clients/${SETTLEMENT}`], ['client-rights', '#/clients/support-agent?tab=rights'], ['client-settings', '#/clients/shop-web?tab=settings'], ['client-tokens', '#/clients/support-agent?tab=tokens'], ['client-new', '#/clients?new=1'],
  ['people', '#/people'], ['people-sessions', '#/people?tab=sessions'], ['people-consents', '#/people?tab=consents'], ['people-delegations', '#/people?tab=delegations'], ['people-resources', '#/people?tab=resources'], ['people-waiting', '#/people?tab=approvals'],
  ['person', '#/people/mira'], ['person-long', `#/people/${PERSON}`],
  ['providers', '#/providers'], ['provider', '#/providers/corp'], ['provider-new', '#/providers?new=1'],
  ['resources', '#/resources'], ['resource', `#/resources/${CRM}`], ['resource-edit', `#/resources/${CRM}?tab=edit`], ['resource-connections', `#/resources/${CRM}?tab=connections`], ['resource-pending', '#/resources/wiki'],
  ['connectors', '#/connectors'], ['rules', '#/rules'], ['rule', `#/rules/${RULE}`], ['rule-broken', `#/rules/${BROKEN}`],
  ['data', '#/data'], ['row', '#/data/svc.operator.controls.client'], ['row-own', '#/data/example.refunds'], ['controls', '#/controls'], ['control', '#/controls/client'],
  ['try', '#/try'], ['revisions', '#/revisions'], ['report', '#/report'], ['keys', '#/keys'], ['system', '#/system'], ['review', '#/review'], ['unknown', '#/nowhere'],
];

const browser = await launch();
const page = await tab(browser);
await look(page, [1440, 900], 'light');
await signIn(page, process.env.AUTHZ_KEY);
const shoot = async (name, place, button) => {
  await page.goto(`${process.env.AUTHZ_BASE}/portal/${place}`);
  await page.waitForSelector('main h1');
  await page.waitForNetworkIdle({ idleTime: 150 });
  if (button) {
    await push(page, button, 'table').catch(error => console.error(`${name}: ${error.message}`));
    await page.waitForNetworkIdle({ idleTime: 300 });
  }
  await page.evaluate(() => document.activeElement?.blur());
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) console.error(`${name}: ${wide} pixels too wide`);
  await page.screenshot({ path: `${process.env.AUTHZ_FILE}/${name}.png`, fullPage: true });
};
for (const one of PAGES) await shoot(...one);
// A draft that the service refuses, and the narrow pages.
await page.evaluate(() => sessionStorage.setItem('authz.draft', JSON.stringify({ base: null, rules: { 'custom/issue/hours.rego': 'package custom.issue\n\ndeny contains "x" if input.acton.name == "x"\n' }, data: {}, deleteRules: [], deleteData: [] })));
await shoot('review-draft', '#/review');
await page.evaluate(() => sessionStorage.removeItem('authz.draft'));
await look(page, [390, 844], 'dark');
for (const [name, place, button] of PAGES.filter(([one]) => ['overview', 'decisions', 'clients', 'client', 'resources', 'person-long'].includes(one))) await shoot(`${name}-narrow`, place, button);
await browser.close();
