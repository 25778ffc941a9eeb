// A browser for tests of pages: starts Chromium, opens pages, and measures what a reader and a keyboard meet. Prints TAP.

import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';

import puppeteer from 'puppeteer-core';

let count = 0, failed = 0;

export function ok(passed, name, ...seen) {
  count++;
  if (!passed) failed++;
  console.log(`${passed ? 'ok' : 'not ok'} ${count} - ${name.replace(/[\r\n#]/g, ' ')}`);
  if (!passed) for (const line of seen) console.log(`#   ${typeof line === 'string' ? line : JSON.stringify(line)}`);
  return passed;
}

export function is(seen, wanted, name) {
  return ok(JSON.stringify(seen) === JSON.stringify(wanted), name, 'seen:', seen, 'wanted:', wanted);
}

export function done() {
  console.log(`1..${count}`);
  process.exitCode = failed > 0 ? 1 : 0;
}

// Root may not use Chromium's sandbox; a small /dev/shm is no reason to fail.
export function launch(...more) {
  const args = [...more, '--disable-dev-shm-usage'];
  if (process.getuid() === 0) args.push('--no-sandbox');
  return puppeteer.launch({ executablePath: process.env.AUTHZ_CHROMIUM, args, acceptInsecureCerts: true });
}

// A tab of its own that notes what the console says and what is asked of the network, besides pages that were navigated to.
export async function open(browser, size = [1280, 800], scheme = 'light') {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.faults = [];
  page.loads = [];
  page.on('console', message => {
    // The page's own status, 400 and the like, is no fault of the page.
    if (!/^Failed to load resource: the server responded with a status of \d+/.test(message.text())) page.faults.push(message.text());
  });
  page.on('pageerror', error => page.faults.push(String(error)));
  page.on('request', request => {
    if (!request.isNavigationRequest() && !request.url().startsWith('data:')) page.loads.push(request.url());
  });
  await look(page, size, scheme);
  return page;
}

export async function look(page, [width, height], scheme) {
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
}

// The pixels that a reader would have to scroll sideways for, and what sticks out.
export function sideways(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const out = [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > width + 0.5);
    return { pixels: document.documentElement.scrollWidth - width, out: out.map(e => e.tagName) };
  });
}

// Contrast (WCAG 2.2, 1.4.3) of every text that is shown, against the colours behind it, worst first.
export function contrasts(page) {
  return page.evaluate(() => {
    const parse = text => {
      const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
      return { r, g, b, a };
    };
    const over = (top, under) => ({ a: 1, ...Object.fromEntries(['r', 'g', 'b'].map(c => [c, top[c] * top.a + under[c] * (1 - top.a)])) });
    const linear = c => ((c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const luminance = c => 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
    const behind = element => {
      const colour = parse(getComputedStyle(element).backgroundColor);
      if (colour.a === 1) return colour;
      return over(colour, element.parentElement ? behind(element.parentElement) : { r: 255, g: 255, b: 255, a: 1 });
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const seen = [];
    for (let node; (node = walker.nextNode());) {
      const element = node.parentElement;
      if (!node.data.trim() || !element.checkVisibility()) continue;
      const back = behind(element);
      const pair = [luminance(over(parse(getComputedStyle(element).color), back)), luminance(back)].sort((a, b) => b - a);
      seen.push({ ratio: (pair[0] + 0.05) / (pair[1] + 0.05), text: node.data.trim().slice(0, 40) });
    }
    return seen.sort((a, b) => a.ratio - b.ratio);
  });
}

// Every control of the page, in the order it stands there.
export function controls(page) {
  return page.evaluate(() => [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea')].map(e => e.textContent.trim() || e.name));
}

// Return the elements that Tab reaches until it reaches the first again or leaves the page, and how each shows its focus.
export async function tabStops(page) {
  const stops = [];
  for (let i = 0; i < 50; i++) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(() => {
      const e = document.activeElement;
      if (!e || e === document.body || e.dataset.seen) return null;
      e.dataset.seen = '1';
      const style = getComputedStyle(e);
      const box = e.getBoundingClientRect();
      return {
        name: e.textContent.trim() || e.name,
        outline: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth),
        inView: box.top >= -1 && box.bottom <= innerHeight + 1,
        height: box.height,
        block: style.display !== 'inline',
      };
    });
    if (!stop) break;
    stops.push(stop);
  }
  await page.evaluate(() => document.querySelectorAll('[data-seen]').forEach(e => delete e.dataset.seen));
  return stops;
}

// Tab until the control of that name, then Enter; waits for where that leads.
export async function pressEnterOn(page, name) {
  for (let i = 0; i < 50; i++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(n => (document.activeElement?.textContent ?? '').trim() === n, name)) {
      await Promise.all([page.waitForNavigation({ timeout: 5000 }).catch(error => page.faults.push(`no navigation: ${error.message}`)), page.keyboard.press('Enter')]);
      return;
    }
  }
  throw new Error(`Tab does not come to ${name}`);
}

// A server of the test on a free port: {server, origin}.
export function listen(handler, host = '127.0.0.1', scheme = 'http') {
  const tls = () => ({ key: fs.readFileSync(process.env.AUTHZ_TLS_KEY), cert: fs.readFileSync(process.env.AUTHZ_TLS_CERT) });
  return new Promise((resolve, reject) => {
    const server = (scheme === 'https' ? https.createServer(tls(), handler) : http.createServer(handler)).on('error', reject);
    server.listen(0, host, () => resolve({ server, origin: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${server.address().port}` }));
  });
}

export function send(res, { status = 200, headers = [], body = '' }) {
  res.statusCode = status;
  for (const [name, value] of headers) res.setHeader(name, value);
  res.end(body);
}
