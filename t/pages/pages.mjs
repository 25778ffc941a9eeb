// Every page with short and hostile values, in both colour schemes, narrow and wide. See pages.t.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

import { contrasts, controls, done, is, launch, listen, look, ok, open, pressEnterOn, send, sideways, tabStops } from './browser.mjs';

const LONG = 'Supercalifragilisticexpialidocious'.repeat(5);
const ADDRESS = 'https://api.example/a/very/long/path/that/no/blank/breaks/' + 'x'.repeat(120);

const person = { subject_name: 'Ada Lovelace', idp_name: 'Example Corporation' };
const scopes = [{ name: 'openid', text: 'See who you are' }, { name: 'notes.read', text: '' }];
const links = [{ text: 'Privacy policy', href: 'https://assistant.example/privacy', host: 'assistant.example' }, { text: 'Terms of service', href: 'https://legal.example/terms', host: 'legal.example' }];
const consent = { ...person, links, client_name: 'Notebook Assistant', client_id: 'c1', client_host: 'assistant.example', redirect_host: 'assistant.example', scopes, resource: 'https://api.example/mcp', id: 'form-token', action: '/answer' };
const ciba = { ...person, client_name: 'The till', client_id: 'till', client_host: 'till.example', verified: true, binding_message: 'A-12 W4SCT', binding_words: [{ word: 'A-12' }, { word: 'W4SCT' }], scopes, resource: 'https://api.example/mcp', time_left: '4 minutes', logout_href: '/to/logout', request: '0193a7c2-6f3e-7b21-9d54-2f6a1c0e8b77', token: 'form-token', action: '/answer' };

// A name and a logo of the operator. Its script, and the address that it loads, would show as faults and loads.
const brandDir = fs.mkdtempSync(path.join(process.env.TMPDIR ?? os.tmpdir(), 'authz-brand-'));
fs.writeFileSync(path.join(brandDir, 'logo.svg'), `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 40" onload="console.log('onload')">
<style>rect { fill: #8a1538 }</style><script>console.log('script')</script><image href="http://127.0.0.1:9/x.png" width="1" height="1"/>
<rect width="120" height="40" rx="6"/><circle cx="20" cy="20" r="10" fill="#fff"/></svg>`);
const brand = (name, logo) => ({ SVC_PAGES_NAME: name, ...(logo ? { SVC_WWW_DIR: brandDir, SVC_PAGES_LOGO: logo } : {}) });

const LOGO = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mPoErXAihiGlgQAFYM1wcsIRvgAAAAASUVORK5CYII=';

const cases = {
  'error 400': ['error', { status: 400, error: 'invalid_request', text: 'The redirect_uri is not registered for this client' }],
  'error 400, again': ['error', { refused: true, error: 'invalid_request', text: 'This sign-in is unknown, already used or expired', request_id: 'r1', again_href: '/authorize?client_id=till' }],
  'error 400, declined, with a link': ['error', { status: 400, error: 'access_denied', text: 'The user denied the request', back_href: 'https://assistant.example/cb?error=access_denied', back_place: 'assistant.example' }],
  'error 503, with a long link': ['error', { status: 503, error: 'temporarily_unavailable', text: LONG, back_href: ADDRESS, back_place: LONG }],
  'error 403': ['error', { status: 403, error: 'access_denied', text: 'This request does not wait any more: it was answered, or its time is over' }],
  'error 429': ['error', { status: 429, error: 'too_many_requests', text: 'Too many requests' }],
  'error 410, of a link': ['error', { status: 410, error: 'link_expired', text: 'The time of this link is over' }],
  'error 403, of the console': ['error', { status: 403, error: 'access_denied', text: 'The person has no role', path: '/admin/session/callback' }],
  'error 500': ['error', { status: 500, error: 'server_error', text: LONG }],
  'error 503': ['error', { status: 503, error: 'temporarily_unavailable', text: 'The service is not available' }],
  'busy': ['busy', {}],
  'choose': ['choose', { client_name: 'Expense Reports', providers: [{ name: 'Example Corporation', href: '/to/a' }, { name: 'Partner Network', href: '/to/b' }] }],
  'choose, long': ['choose', { client_name: LONG, links: [{ text: 'Privacy policy', href: '/to/p', host: LONG }], providers: [{ name: LONG, href: '/to/a' }, { name: '<b>b</b>', href: '/to/b' }] }],
  'choose, with logos of providers': ['choose', { client_name: 'Expense Reports', providers: [{ name: 'Example Corporation', host: 'idp.example', href: '/to/a', logo: LOGO }, { name: LONG, href: '/to/b', logo: LOGO }, { name: 'Partner Network', href: '/to/c' }] }],
  'consent': ['consent', consent],
  'consent, loopback and details': ['consent', { ...consent, loopback: true, switch_href: '/switch', details: [{ text: ADDRESS }, { text: '{}', title: ADDRESS, members: [{ name: 'actions', text: 'read, write' }, { name: LONG, text: ADDRESS }] }] }],
  'consent, private scheme, long': ['consent', { ...consent, client_name: LONG, client_host: LONG, redirect_host: LONG, private_scheme: true, resource: ADDRESS, scopes: [{ name: ADDRESS, text: '' }, { name: LONG, text: LONG }], subject_name: LONG, idp_name: LONG }],
  'consent, little': ['consent', { ...person, client_id: 'c1', verified: true, redirect_host: 'crm.example', id: 'x', action: '/answer' }],
  'approval': ['ciba', ciba],
  'approval, no message, registered itself': ['ciba', { ...ciba, binding_message: undefined, verified: false, client_name: undefined, scopes: [], resource: undefined }],
  'approval, long': ['ciba', { ...ciba, client_name: LONG, client_host: LONG, binding_message: 'W'.repeat(64), binding_words: [{ word: 'W'.repeat(64) }], resource: ADDRESS, scopes: [{ name: ADDRESS, text: '' }], details: [{ text: `{"type":"${ADDRESS}"}` }], subject_name: LONG, idp_name: LONG, list_href: '/to/list' }],
  'approvals': ['ciba_list', { ...person, logout_href: '/to/logout', requests: [{ client: 'The till', message: 'W4SCT', time_left: '4 minutes', href: '/to/one' }, { client: LONG, message: '', time_left: '30 seconds', href: '/to/two' }] }],
  'approvals, approved': ['ciba_list', { ...person, logout_href: '/to/logout', approved: true, requests: [] }],
  'approvals, denied': ['ciba_list', { ...person, logout_href: '/to/logout', denied: true, requests: [] }],
  'account, empty': ['account', { ...person, logout_href: '/to/logout', sessions: [{ name: 'Corp', since: '2026-01-31 12:00', until: '2026-01-31 12:30', current: true }] }],
  'account, ended': ['account', { ...person, ended: true, logout_href: '/to/logout', action: '/answer', approvals_href: '/to/approvals',
    sessions: [{ id: 's1', token: 't', name: LONG, since: '2026-01-31 12:00', until: '2026-01-31 12:30' }],
    applications: [{ id: 'crm', token: 't', name: LONG, scopes: ADDRESS, since: '2026-01-31' }],
    connections: [{ name: LONG, account: LONG, since: '2026-01-31', action: '/answer', token: 't' }],
    approvals: [{ id: 'a1', token: 't', name: 'The till', message: 'W4SCT', waits: true, until: '2026-01-31 12:30' }],
    delegations: [{ id: 'd1', token: 't', name: LONG, to: LONG, scopes: 'view', until: '2026-01-31' }] }],
  'logout': ['logout', { ...person, client_name: 'Expense Reports', token: 'logout-token', action: '/answer' }],
  'signed out': ['signed_out', { client_name: 'Expense Reports' }],
  'signed out, with a link': ['signed_out', { back_href: 'https://assistant.example/bye', back_place: 'assistant.example' }],
  'home': ['home', { issuer: 'https://login.example', discovery_href: '/to/discovery', health_href: '/to/health', reader_href: '/to/reader', account_href: '/to/account', connections_href: '/to/connections' }],
  'home, without reader and gateway': ['home', { issuer: 'https://login.example', discovery_href: '/to/discovery', health_href: '/to/health' }],
  'away': ['away', { provider: 'Corporate account', client_name: 'The till', providers: [{ name: 'Partners', host: 'idp.partner.example', href: '/to/partner' }, { name: 'x', href: '/to/x' }], again_href: '/to/again', leave_href: 'https://app.example/cb?error=temporarily_unavailable', leave_place: 'app.example', leave_stranger: true, request_id: 'r1' }],
  'away, not set up': ['away', { provider: 'Corporate account', fault: 'claims_incomplete', fault_claim: 'groups', client_name: 'The till', providers: [{ name: 'Partners', host: 'idp.partner.example', href: '/to/partner' }], leave_href: 'https://app.example/cb?error=server_error', leave_place: 'app.example', request_id: 'r1' }],
  'away, long and alone': ['away', { provider: LONG, providers: [], request_id: 'r1' }],
  'home, with a long issuer, name and logo': ['home', { issuer: ADDRESS, discovery_href: '/to/discovery', health_href: '/to/health' }, brand('Example Corporation', 'logo.svg')],
  'not found': ['not_found', { request_id: '0193a7c2-6f3e-7b21-9d54-2f6a1c0e8b77' }],
  'choose, with name and logo': ['choose', { client_name: 'Expense Reports', providers: [{ name: 'Example Corporation', href: '/to/a' }, { name: 'Partner Network', href: '/to/b' }] }, brand('Example Corporation & Sons', 'logo.svg')],
  'signed out, with a long name and a logo': ['signed_out', {}, brand(LONG.slice(0, 64), 'logo.svg')],
  'error 400, with a name': ['error', { status: 400, error: 'invalid_request', text: 'The redirect_uri is not registered for this client' }, brand('<b>Example</b>')],
};

// ---- two sites: ours with the pages, and the client's

let client, posted = [];
const formAction = { consent: () => client };

function render([name, values, env]) {
  const more = formAction[name] ? [formAction[name]()] : [];
  const out = execFileSync(process.env.AUTHZ_RENDER, [name, JSON.stringify(values), ...more], { env: { ...process.env, ...env } }).toString();
  const end = out.indexOf('\r\n\r\n');
  const headers = out.slice(0, end).split('\r\n').map(line => line.split(/: (.*)/s));
  return { status: Number(headers[0][1]), headers: headers.slice(1), body: out.slice(end + 4) };
}

function answerPost(req, res) {
  let body = '';
  req.on('data', piece => (body += piece));
  req.on('end', () => {
    posted.push({ form: Object.fromEntries(new URLSearchParams(body)), origin: req.headers.origin, referer: req.headers.referer });
    res.writeHead(302, { Location: `${client}/callback?code=x` });
    res.end();
  });
}

const ours = await listen((req, res) => {
  const url = new URL(req.url, 'http://x');
  const page = cases[url.searchParams.get('case')];
  if (req.method === 'POST') return answerPost(req, res);
  if (url.pathname.startsWith('/to/')) return send(res, { status: 200, headers: [['Content-Type', 'text/plain']], body: 'there' });
  if (!page) return send(res, { status: 404, headers: [], body: '' });
  const answer = render(url.searchParams.has('de') ? [page[0], page[1], { ...page[2], AUTHZ_LANGUAGE: 'de' }] : page);
  if (url.searchParams.has('broken')) answer.body = answer.body.replace('--page:', '--pages:');
  if (url.searchParams.has('closed')) answer.headers = answer.headers.map(([n, v]) => [n, n === 'Content-Security-Policy' ? v.replace(client, '') : v]);
  return send(res, answer);
});
// The client's own page, or the page to which it redirects.
let onward = null;
const atClient = (req, res) => onward ? send(res, { status: 302, headers: [['Location', onward]], body: '' }) : send(res, { status: 200, headers: [['Content-Type', 'text/plain']], body: `client ${req.url}` });
const theirs = await listen(atClient);
client = theirs.origin;
const address = (name, more = '') => `${ours.origin}/?case=${encodeURIComponent(name)}${more}`;

// ---- the tests

const browser = await launch();

async function looksRight(page, name) {
  for (const size of [[320, 800], [1280, 800]])
    for (const scheme of ['light', 'dark']) {
      const where = `${name}: ${size[0]} px, ${scheme}`;
      await look(page, size, scheme);
      const { pixels, out } = await sideways(page);
      ok(pixels <= 0 && out.length === 0, `${where}: nothing is to be scrolled for sideways (WCAG 1.4.10)`, pixels, out);
      const seen = await contrasts(page);
      ok(seen.length > 0 && seen[0].ratio >= 4.5, `${where}: contrast of ${seen.length} texts is 4.5 or more (WCAG 1.4.3)`, seen.slice(0, 3));
    }
}

// The pages on which axe-core looks: one of each kind of content.
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const LOOKED_AT = ['error 503, with a long link', 'choose, with logos of providers', 'consent, loopback and details', 'approval', 'account, ended', 'home', 'away', 'logout'];

async function isAccessible(page, name) {
  await look(page, [1280, 800], 'light');
  await page.evaluate(AXE);
  const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'], preload: false }));
  is(found.violations.flatMap(one => one.nodes.map(node => `${one.id}: ${node.target.join(' ')}`)), [], `${name}: axe-core finds nothing (WCAG 2.2 AA)`);
}

// Type, space and radius are those of the console (gateway-admin.md 7.5).
async function looksLikeTheConsole(page, name) {
  await look(page, [1280, 800], 'light');
  const seen = await page.evaluate(() => {
    const style = selector => getComputedStyle(document.querySelector(selector));
    const type = selector => `${style(selector).fontSize}/${style(selector).lineHeight} ${style(selector).fontWeight}`;
    return { h1: type('h1'), text: type('body'), second: type('.name'), card: `${style('main').padding} ${style('main').borderRadius}`, button: style('button').borderRadius };
  });
  is(seen, { h1: '20px/28px 600', text: '14px/20px 400', second: '12px/16px 400', card: '24px 6px', button: '4px' }, `${name}: type, space and radius are those of the console`);
}

// AUTHZ_PICTURES names a directory for pictures of all pages, for people who look at them.
async function keepPicture(page, name) {
  for (const width of process.env.AUTHZ_PICTURES ? [320, 1280] : []) {
    await look(page, [width, 800], 'light');
    await page.screenshot({ path: path.join(process.env.AUTHZ_PICTURES, `${name.replace(/[^a-z0-9]+/gi, '-')}-${width}.png`) });
  }
}

async function isBuiltRight(page, name) {
  const built = await page.evaluate(() => ({
    lang: document.documentElement.lang,
    title: document.title.trim() !== '',
    h1: document.querySelectorAll('h1').length,
    main: document.querySelectorAll('main').length,
    mode: document.compatMode,
    scripts: document.querySelectorAll('script').length,
    said: document.body.innerText.trim().length > 40,
  }));
  is(built, { lang: 'en', title: true, h1: 1, main: 1, mode: 'CSS1Compat', scripts: 0, said: true }, `${name}: language, title, one heading, one main part, no script`);
}

// The header: the name as text, and the logo, which is drawn, in a size that leaves room for the name.
async function showsBrand(page, env, name) {
  const seen = await page.evaluate(() => {
    const image = document.querySelector('header img');
    return { name: document.querySelector('header span').textContent, title: document.title, drawn: image ? image.complete && image.naturalWidth > 0 : null,
      high: image ? image.getBoundingClientRect().height : 0, alt: image ? image.alt : null, plain: document.querySelectorAll('header svg').length };
  });
  is(seen.name, env.SVC_PAGES_NAME, `${name}: SVC_PAGES_NAME is in the header, as text`);
  ok(seen.title.endsWith(` – ${env.SVC_PAGES_NAME}`), `${name}: ... and ends the title`, seen);
  if (env.SVC_PAGES_LOGO) ok(seen.drawn && seen.high >= 24 && seen.high <= 48 && seen.alt === '' && seen.plain === 0, `${name}: SVC_PAGES_LOGO is drawn in place of the shipped picture, and is silent for readers`, seen);
  else ok(seen.drawn === null && seen.plain === 1, `${name}: without a logo the shipped picture stays`, seen);
}

// Words of German are longer. An element that an English page has too would be one that has no text in the file.
async function speaksGerman(page, name, english) {
  await page.goto(address(name, '&de'));
  await look(page, [320, 800], 'light');
  const { pixels, out } = await sideways(page);
  const seen = await page.evaluate(() => ({ lang: document.documentElement.lang, h1: document.querySelector('h1').textContent }));
  ok(pixels <= 0 && out.length === 0, `${name}: in German nothing is to be scrolled for sideways either`, pixels, out);
  ok(seen.lang === 'de' && seen.h1 !== english, `${name}: the heading is in German`, seen);
}

async function worksByKeyboard(page, name) {
  await look(page, [320, 800], 'light');
  const wanted = await controls(page);
  const stops = await tabStops(page);
  is(stops.map(stop => stop.name), wanted, `${name}: Tab comes to each of ${wanted.length} controls in order (WCAG 2.1.1, 2.4.3)`);
  ok(stops.every(stop => stop.outline >= 2 && stop.inView), `${name}: each shows that it has the focus (WCAG 2.4.7)`, stops);
  ok(stops.every(stop => !stop.block || stop.height >= 44), `${name}: each is large enough for a finger (WCAG 2.5.5)`, stops);
}

for (const [name, page] of Object.entries(cases)) {
  const tab = await open(browser);
  const answer = await tab.goto(address(name));
  is(answer.status(), page[1].status ?? 200, `${name}: is answered`);
  await isBuiltRight(tab, name);
  await looksRight(tab, name);
  await worksByKeyboard(tab, name);
  if (page[2]) await showsBrand(tab, page[2], name);
  if (LOOKED_AT.includes(name)) await isAccessible(tab, name);
  if (name === 'consent') await looksLikeTheConsole(tab, name);
  await keepPicture(tab, name);
  await speaksGerman(tab, name, await tab.$eval('h1', e => e.textContent));
  is(tab.faults, [], `${name}: the browser has nothing to complain of, nothing offends the Content-Security-Policy`);
  is(tab.loads, [], `${name}: no other request is sent to any server`);
  await tab.browserContext().close();
}

// The browser must report a wrong hash; otherwise its silence above would prove nothing.
{
  const tab = await open(browser);
  await tab.goto(address('logout', '&broken'));
  ok(tab.faults.some(text => /Content Security Policy|style-src/.test(text)), 'a style that was changed is refused by its hash, and that would be seen', tab.faults);
  await tab.browserContext().close();
}

async function answers(name, control, more = '') {
  posted = [];
  const tab = await open(browser, [320, 800]);
  await tab.goto(address(name, more));
  await pressEnterOn(tab, control);
  const at = tab.url();
  const faults = tab.faults;
  await tab.browserContext().close();
  return { at, faults, posted };
}

for (const decision of [['Allow', 'allow'], ['Cancel', 'deny']]) {
  const seen = await answers('consent', decision[0]);
  is(seen.posted.map(p => p.form), [{ id: 'form-token', decision: decision[1] }], `consent: Enter on ${decision[0]} posts the form token and ${decision[1]}, once`);
  is(seen.at, `${client}/callback?code=x`, `consent: the redirect to the client's origin is followed (decisions.md "Consent")`);
  is(seen.faults, [], 'consent: and nothing offends the Content-Security-Policy');
  is(seen.posted.map(p => [p.origin, p.referer]), [['null', undefined]], 'consent: the form sends no referrer (Referrer-Policy)');
}
{
  const seen = await answers('consent', 'Allow', '&closed');
  ok(seen.at !== `${client}/callback?code=x` && seen.faults.some(text => /form-action/.test(text)), 'consent: an origin that form-action does not name is not reached, so naming it is needed', seen);
}
{
  const maker = await listen((req, res) => send(res, { status: 200, headers: [['Content-Type', 'text/plain']], body: 'maker' }), '127.0.0.1', 'https');
  onward = `${maker.origin}/done`;
  const seen = await answers('consent', 'Allow');
  is(seen.at, onward, 'consent: a client that sends the browser on by https to another host works');
  maker.server.close();
  onward = null;
}
{
  const seen = await answers('logout', 'Sign out');
  is(seen.posted.map(p => p.form), [{ token: 'logout-token' }], 'logout: Enter posts the token');
  const chosen = await answers('choose', 'Partner Network');
  is(chosen.at, `${ours.origin}/to/b`, 'choose: Enter on the second provider leads to it');
}
{
  const loopback = await listen(atClient, '::1').catch(() => null);
  const before = client;
  if (loopback) {
    client = loopback.origin;
    const seen = await answers('consent', 'Allow');
    is(seen.at, `${client}/callback?code=x`, 'consent: a redirect to [::1], which no policy can name, is followed (RFC 8252 7.3)');
    loopback.server.close();
    client = before;
  }
}

await browser.close();
fs.rmSync(brandDir, { recursive: true });
ours.server.close();
theirs.server.close();
done();
