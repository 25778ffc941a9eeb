// Tabs of one browser that sign in at once. See tabs.t.

import { createHash, randomBytes } from 'node:crypto';

import { done, is, launch, listen, ok, send } from './browser.mjs';

const base = process.env.AUTHZ_BASE;
const site = await listen((req, res) => send(res, { headers: [['Content-Type', 'text/html; charset=utf-8']], body: '<title>client</title>back' }));
const back = `${site.origin}/cb`;
const browser = await launch();

function authorize(state, more = {}) {
  const challenge = createHash('sha256').update(randomBytes(32)).digest('base64url');
  const param = { response_type: 'code', client_id: 'crm', redirect_uri: back, scope: 'openid email', state, code_challenge: challenge, code_challenge_method: 'S256', ...more };
  return `${base}/authorize?${new URLSearchParams(param)}`;
}

// The state of the answer that a tab has, if the tab is at the client with a code.
function got(page) {
  const url = new URL(page.url());
  return url.href.startsWith(back) && (url.searchParams.get('code') ?? '').length > 20 ? url.searchParams.get('state') : page.url();
}

// Wait until a tab is at the client. The page "One moment, please" of a service whose places for sign-ins are taken loads again by itself.
async function arrive(tab) {
  for (const end = Date.now() + 60000; !tab.url().startsWith(back) && Date.now() < end;) await new Promise(resolve => setTimeout(resolve, 100));
}

// ---- F1: eight tabs wake at once, in a browser without a cookie

const states = Array.from({ length: 8 }, (_, i) => `tab${i}`);
for (let round = 1; round <= 3; round++) {
  const context = await browser.createBrowserContext();
  const tabs = await Promise.all(states.map(() => context.newPage()));
  await Promise.all(tabs.map((tab, i) => tab.goto(authorize(states[i]), { timeout: 120000 })));
  await Promise.all(tabs.map(arrive));
  is(tabs.map(got), states, `eight tabs of a browser without a cookie, round ${round}: each is signed in at its client (world.md F1)`);
  const left = (await context.cookies()).map(cookie => cookie.name).filter(name => name.includes('svc_flow_'));
  is(left, [], '... and no mark of a single sign-in is left');
  await context.close();
}

// ---- F2: the callback is loaded again

const context = await browser.createBrowserContext();
const page = await context.newPage();
const callbacks = [];
page.on('request', request => {
  if (request.isNavigationRequest() && request.url().includes('/authorize/callback/')) callbacks.push(request.url());
});
await page.goto(authorize('first'));
is([got(page), callbacks.length], ['first', 1], 'a sign-in by one callback');
await page.goto(callbacks[0]);
is(got(page), 'first', 'the callback of the history, loaded again: the session answers its request (world.md F2)');
const answer = await page.goto(callbacks[0]);
is(answer.status(), 400, '... once');
ok(!(await page.content()).includes('code_challenge'), '... and the page of the third time has nothing of the request');

await browser.close();
site.server.close();
done();
