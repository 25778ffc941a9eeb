// A user's way through the service, by keyboard. See flow.t.

import { createHash, randomBytes } from 'node:crypto';

import { contrasts, done, is, launch, listen, ok, open, pressEnterOn, send, sideways } from './browser.mjs';

const base = process.env.AUTHZ_BASE;
const text = [['Content-Type', 'text/html; charset=utf-8']];

// The client's site, and that of a program on this computer, which redirects to a page of its vendor.
const site = await listen((req, res) => send(res, { headers: text, body: `<title>client</title>${req.url.split('?')[0]}` }), '127.0.0.1', 'https');
const program = await listen((req, res) => send(res, { status: 302, headers: [['Location', `https://app.example/done${new URL(req.url, 'http://x').search}`]] }));
const browser = await launch(`--host-resolver-rules=MAP app.example ${new URL(site.origin).host}`);
const back = { wiki: 'https://app.example/cb', tool: `${program.origin}/cb` };

function authorize(client, more = {}) {
  const challenge = createHash('sha256').update(randomBytes(32)).digest('base64url');
  const param = { response_type: 'code', client_id: client, redirect_uri: back[client], scope: 'openid email', state: 'st', code_challenge: challenge, code_challenge_method: 'S256', ...more };
  return `${base}/authorize?${new URLSearchParams(param)}`;
}

const heading = page => page.$eval('h1', e => e.textContent.trim());
const textOf = page => page.$eval('body', e => e.innerText);
const back_of = page => Object.fromEntries(new URL(page.url()).searchParams);

async function isWell(page, name) {
  const { pixels } = await sideways(page);
  const seen = await contrasts(page);
  ok(pixels <= 0 && seen[0].ratio >= 4.5, `${name}: fits 320 px, contrast 4.5 or more`, pixels, seen[0]);
}

// ---- an error page

const ann = await open(browser, [320, 800]);
const answer = await ann.goto(authorize('wiki', { redirect_uri: 'https://evil.example/cb' }));
is([answer.status(), new URL(ann.url()).origin], [400, base], 'error: an address that is not registered gets a page, never a redirect (RFC 6749 4.1.2.1)');
is(await heading(ann), 'This sign-in cannot continue', 'error: it says what happened');
ok((await textOf(ann)).includes(answer.headers()['x-request-id']), 'error: and has the request id of the answer');
is([answer.headers()['x-frame-options'], answer.headers()['referrer-policy'], answer.headers()['x-content-type-options'], answer.headers()['cache-control'], answer.headers()['access-control-allow-origin']], ['DENY', 'no-referrer', 'nosniff', 'no-store', undefined], 'error: headers of oauth.md 3.2');
await isWell(ann, 'error');

// ---- chooser, identity provider, consent, client

await ann.goto(authorize('wiki'));
is(await heading(ann), 'Sign in', 'choose: several providers and nothing says which');
is(await ann.$$eval('.choices a', links => links.map(link => [...link.querySelectorAll('img')].map(img => [img.complete, img.naturalWidth, img.width, img.alt]))), [[[true, 8, 32, '']], []], 'choose: the logo of a provider is drawn beside its name, and needs no other server (decisions.md "Logos of providers")');
await isWell(ann, 'choose');
await pressEnterOn(ann, 'The partner accounts 127.0.0.1');
is(await heading(ann), 'Allow The wiki to access your account?', 'consent: after the provider, a client that registered itself is asked for');
ok((await textOf(ann)).includes('The partner accounts'), 'consent: names the provider');
ok((await textOf(ann)).includes('app.example'), 'consent: and where the browser goes');
await isWell(ann, 'consent');
await pressEnterOn(ann, 'Allow');
is(new URL(ann.url()).origin + new URL(ann.url()).pathname, back.wiki, 'consent: Enter on Allow leads to the client, the policy of the page lets it');
is([back_of(ann).state, back_of(ann).iss, (back_of(ann).code ?? '').length > 20], ['st', base, true], 'consent: with code, state and iss');

await ann.goto(authorize('wiki'));
ok(ann.url().startsWith(`${back.wiki}?`) && back_of(ann).code, 'single sign-on: the second time nothing is asked', ann.url());

// ---- a program on this computer

await ann.goto(authorize('tool'));
ok((await textOf(ann)).includes('A program on this computer'), 'consent: a loopback redirect is warned of');
await pressEnterOn(ann, 'Allow');
ok(ann.url().startsWith('https://app.example/done?') && back_of(ann).code, 'consent: the program gets the code, and may send the browser on to its maker', ann.url(), ann.faults);
await ann.goto(authorize('tool'));
await pressEnterOn(ann, 'Cancel');
is(await heading(ann), 'No access was given', 'consent: asked again (loopback is not remembered); Cancel leads to a page, as nobody vouches for the program');
await isWell(ann, 'declined');
await pressEnterOn(ann, 'Return to 127.0.0.1');
is([back_of(ann).error, back_of(ann).state], ['access_denied', 'st'], 'declined: its link tells the client so (decisions.md "Errors at /authorize")');

// ---- a popup keeps its opener, a frame stays empty

await ann.goto('https://app.example/');
const [popup] = await Promise.all([
  new Promise(resolve => ann.once('popup', resolve)),
  ann.evaluate(url => void window.open(url, 'signin', 'popup'), authorize('tool')),
]);
await popup.waitForSelector('button');
await pressEnterOn(Object.assign(popup, { faults: [] }), 'Cancel');
await pressEnterOn(popup, 'Return to 127.0.0.1');
is(await popup.evaluate(() => [location.pathname, window.opener !== null]), ['/done', true], 'popup: an application that signs in through one still sees it come back');
await popup.close();
const before = ann.faults.length;
await ann.evaluate(url => {
  const frame = document.createElement('iframe');
  frame.src = url;
  document.body.append(frame);
  return new Promise(resolve => (frame.onload = resolve));
}, authorize('tool'));
// Chromium may name either of the two headers.
ok(ann.faults.slice(before).some(t => /frame-ancestors|X-Frame-Options/.test(t)), 'frame: our pages are shown in none (clickjacking; oauth.md 3.2)', ann.faults.slice(before));
ann.faults.length = before;

// ---- sign-out

await ann.goto(`${base}/logout?${new URLSearchParams({ client_id: 'wiki', post_logout_redirect_uri: 'https://app.example/bye' })}`);
ok((await heading(ann)).startsWith('Sign out of '), 'logout: without proof the person is asked');
await isWell(ann, 'logout');
await pressEnterOn(ann, 'Sign out');
ok(ann.url().startsWith(`${base}/logout/return?`), 'logout: a client that registered itself gets no redirect (RFC 9700 4.11.2): Enter leads through the provider to the last page', ann.url());
is(await heading(ann), 'You are signed out', '... which says so');
await pressEnterOn(ann, 'Return to app.example');
is(ann.url(), 'https://app.example/bye', '... and has a link to the client, the policy of the page lets it');
await ann.goto(authorize('wiki'));
is(await heading(ann), 'Sign in', 'logout: the session is over');
await pressEnterOn(ann, 'The corp accounts 127.0.0.1');
await pressEnterOn(ann, 'Cancel');
await ann.goto(`${base}/logout`);
await pressEnterOn(ann, 'Sign out');
is(await heading(ann), 'You are signed out', 'logout: without a client the way ends here');
await isWell(ann, 'signed out');

is(ann.faults, [], 'all the way: the browser has nothing to complain of');
is(ann.loads.filter(url => url.startsWith(base)), [], 'all the way: nothing but pages is asked of us');

await browser.close();
site.server.close();
program.server.close();
done();
