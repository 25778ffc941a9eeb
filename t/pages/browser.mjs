// A browser for tests of pages: starts Chromium, opens pages, and measures them for readers and keyboards. Prints TAP.

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

// Chromium's sandbox does not work as root; a small /dev/shm should not make the tests fail.
export function launch(...more) {
  const args = [...more, '--disable-dev-shm-usage'];
  if (process.getuid() === 0) args.push('--no-sandbox');
  return puppeteer.launch({ executablePath: process.env.AUTHZ_CHROMIUM, args, acceptInsecureCerts: true });
}

// Open a tab that records console messages and network requests, except for the pages that it navigates to.
export async function open(browser, size = [1280, 800], scheme = 'light') {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(120000); // a busy machine is no fault
  page.faults = [];
  page.loads = [];
  page.on('console', message => {
    // The status of the page (400 and the like) is not a fault of the page.
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

// Return the pixels by which a page is too wide, and the elements that stick out.
export function sideways(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const out = [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > width + 0.5);
    return { pixels: document.documentElement.scrollWidth - width, out: out.map(e => e.tagName) };
  });
}

// Return the contrast (WCAG 2.2, 1.4.3) of every visible text with the colours behind it, worst first.
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

// Return every control of the page, in document order.
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

// Click on an element once it is laid out and stands still: on a busy machine the page may still be opening around it.
export function press(element) {
  return element.asLocator().click();
}

// Press Tab up to the control of that name, then Enter, and wait for the next page.
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

// Start a server of the test on a free port: {server, origin}.
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
