// A person answers two CIBA requests by keyboard. See ciba.t. AUTHZ_PICTURES names a directory for pictures.

import path from 'node:path';

import { contrasts, done, is, launch, look, ok, open, pressEnterOn, sideways } from './browser.mjs';

const base = process.env.AUTHZ_BASE;
const browser = await launch();

async function poll(id) {
  const answer = await fetch(`${base}/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(process.env.AUTHZ_TILL).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'urn:openid:params:grant-type:ciba', auth_req_id: id }),
  });
  const body = await answer.json();
  return body.error ?? body.scope;
}

const heading = page => page.$eval('h1', e => e.textContent.trim());
const textOf = page => page.$eval('main', main => main.textContent);
async function isWell(page, name) {
  for (const scheme of ['light', 'dark']) {
    await look(page, [320, 800], scheme);
    const { pixels } = await sideways(page);
    const seen = await contrasts(page);
    ok(pixels <= 0 && seen[0].ratio >= 4.5, `${name}: fits 320 px, contrast 4.5 or more (${scheme})`, pixels, seen[0]);
  }
  if (process.env.AUTHZ_PICTURES) await page.screenshot({ path: path.join(process.env.AUTHZ_PICTURES, `${name}.png`), fullPage: true });
}

const ann = await open(browser, [320, 800]);
await ann.goto(`${base}/authorize/ciba`);
is(await heading(ann), 'Requests for your approval', 'list: after the sign-in at the provider, two requests wait');
ok((await textOf(ann)).includes('W4SCT') && (await textOf(ann)).includes('K9XPZ'), 'list: with their binding messages');
await isWell(ann, 'list');
is(await poll(process.env.AUTHZ_FIRST), 'authorization_pending', 'list: looking at it approves nothing');

await pressEnterOn(ann, (await ann.$eval('ul a', a => a.innerText)).trim());
is(await heading(ann), 'Approve the request of The till?', 'request: the page names the client');
const seen = await textOf(ann);
for (const text of ['orders.read', 'https://api.example/orders', 'till.example', 'ann@example.org', 'The corp accounts', 'minutes'])
  ok(seen.includes(text), `request: it shows ${text}`);
const size = await ann.$eval('.code', code => [code.textContent, parseFloat(getComputedStyle(code).fontSize)]);
ok(size[0].trim() === 'W4SCT' && size[1] >= 24, 'request: the binding message is large', size);
await isWell(ann, 'request');
await pressEnterOn(ann, 'Approve');
is([await heading(ann), ann.url()], ['Approved', `${base}/authorize/ciba?answered=approved`], 'Approve: Enter on it approves');
await isWell(ann, 'approved');
is(await poll(process.env.AUTHZ_FIRST), 'openid orders.read', 'Approve: the client gets its tokens');
is(await poll(process.env.AUTHZ_SECOND), 'authorization_pending', 'Approve: the other request waits on');

await ann.goBack();
await pressEnterOn(ann, 'Deny');
is(await heading(ann), 'This request is closed', 'Back: the form of an answered request does not count');

await ann.goto(`${base}/authorize/ciba`);
is(await heading(ann), 'Approve the request of The till?', 'request: the only one is shown at once');
await pressEnterOn(ann, 'Deny');
is(await heading(ann), 'Denied', 'Deny: Enter on it denies');
is(await poll(process.env.AUTHZ_SECOND), 'access_denied', 'Deny: the client learns it');

is(ann.faults, [], 'nothing offends the Content-Security-Policy');
await browser.close();
done();
