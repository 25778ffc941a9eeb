// What has the focus, and ways through a page by Tab.

import { is } from './browser.mjs';

// Return what has the focus, also within the editor: {tag, name, inDialog, ring, box}.
export const active = page => page.evaluate(() => {
  const host = document.activeElement, inner = host.shadowRoot?.activeElement, e = inner ?? host;
  const style = getComputedStyle(inner ? inner.closest('.cm-editor') : e), { top, bottom } = e.getBoundingClientRect();
  const label = e.getAttribute('aria-label') ?? (e.labels?.length ? e.labels[0].innerText : e.innerText);
  return { tag: e.tagName, name: (label ?? '').trim(), inDialog: host.closest('dialog') !== null, ring: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth), box: { top, bottom } };
});

const MOST = 150;

// Press Tab (back: Shift+Tab) until the control whose name begins so has the focus. What has no ring is kept in page.ringless.
export async function tabTo(page, name, { back = false } = {}) {
  const now = await active(page);
  if (now.inDialog && now.name.startsWith(name)) return;
  if (back) await page.keyboard.down('Shift');
  try {
    for (let at = 0; at < MOST; at++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement.matches('.editor'))) await page.waitForFunction(() => document.activeElement.shadowRoot.querySelector('.cm-focused'), { polling: 'raf' });
      const stop = await active(page);
      if (stop.tag !== 'BODY' && stop.ring < 2) page.ringless.push(`${page.url()} ${stop.name}`);
      if (stop.name.startsWith(name)) return;
    }
  } finally {
    if (back) await page.keyboard.up('Shift');
  }
  throw new Error(`Tab does not come to ${name}`);
}

// Press Tab through the whole page. Return the controls that it does not come to, those out of the order of the document, and those
// without a ring.
export async function walk(page) {
  const count = await page.evaluate(() => {
    const all = [...document.querySelectorAll('a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex="0"]')];
    const seen = { wanted: all.filter(e => e.checkVisibility() && e.tabIndex >= 0), came: [], ringless: [] };
    globalThis.seen = seen;
    document.addEventListener('focusin', event => {
      const style = getComputedStyle(event.target);
      seen.came.push(event.target);
      if (!event.target.shadowRoot && (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 2)) seen.ringless.push(event.target.outerHTML.slice(0, 80));
    });
    document.querySelector('.skip').focus();
    return seen.wanted.length;
  });
  for (let at = 0; at < count + 3; at++) await page.keyboard.press('Tab');
  return page.evaluate(() => {
    const { wanted, came, ringless } = globalThis.seen, name = e => e.outerHTML.slice(0, 80);
    const first = came.slice(0, came.indexOf(came[0], 1) > 0 ? came.indexOf(came[0], 1) : undefined);
    const wrong = first.filter((e, at) => at > 0 && !(first[at - 1].compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING));
    return { missed: wanted.filter(e => !came.includes(e)).map(name), wrong: wrong.map(name), ringless };
  });
}

// Answer requests of the console to the admin API in the place of the service while act runs. answer(path) returns {status, json}, a
// promise of it, or undefined for what the service answers itself.
export async function instead(page, answer, act) {
  const handler = async request => {
    const at = /\/admin\/api\/(.*)$/.exec(request.url());
    const found = at ? await answer(at[1], request.method()) : undefined;
    if (!found) { await request.continue(); return; }
    const headers = { 'X-Request-ID': 'req-instead', 'X-Total-Count': String(found.json?.length ?? 0) };
    await request.respond({ status: found.status ?? 200, contentType: 'application/json', headers, body: JSON.stringify(found.json) });
  };
  await page.setRequestInterception(true);
  page.on('request', handler);
  try { await act(); } finally {
    page.off('request', handler);
    await page.setRequestInterception(false);
  }
}

// Return what sticks out of the page or of its box, or is cut.
export const overflow = page => page.evaluate(() => {
  const width = document.documentElement.clientWidth, out = [];
  if (document.documentElement.scrollWidth > width) out.push(`page ${document.documentElement.scrollWidth} > ${width}`);
  const wide = [...document.querySelectorAll('.panel, .box, .note, .refused, .done, dialog[open], .menu, button, .button, .pill, td, .top')].filter(e => e.checkVisibility() && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1);
  const cut = [...document.querySelectorAll('main *, .top *')].filter(e => e.checkVisibility() && ['hidden', 'clip'].includes(getComputedStyle(e).overflowY) && !e.matches('.hide, thead, progress, svg, svg *, input') && !e.closest('thead') && e.clientHeight > 1 && (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1));
  return [...out, ...wide.map(e => `wide ${e.tagName}.${e.className} ${e.innerText.slice(0, 30)}`), ...cut.map(e => `cut ${e.tagName}.${e.className} ${e.innerText?.slice(0, 30)}`)].slice(0, 6);
});

// The least size of targets (WCAG 2.2, 2.5.8), but of links within text: a box and its label are one.
export const small = page => page.evaluate(() => [...document.querySelectorAll('button, select, summary, input, .button')].filter(e => e.checkVisibility()).filter(e => {
  const { width, height } = (e.matches('[type=checkbox], [type=radio]') ? e.closest('.check, label') ?? e : e).getBoundingClientRect();
  return width < 23.5 || height < 23.5;
}).map(e => e.outerHTML.slice(0, 80)));

const SPACING = '* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important } p { margin-bottom: 2em !important }';

// The page at 400 % (320 px), with text at 200 %, with the spacing of text that a reader chose, and in the colours of the system: nothing is lost
// (WCAG 2.2, 1.4.4, 1.4.10, 1.4.12, 2.5.8).
export async function stretch(page, name, resize) {
  const faults = [], client = page.cdp ??= await page.createCDPSession();
  const look = async (how, width) => {
    await resize(page, [width, 900], 'light');
    faults.push(...(await overflow(page)).map(text => `${how}, ${width} px: ${text}`));
  };
  await look('400 %', 320);
  faults.push(...(await small(page)).map(text => `target below 24 px: ${text}`));
  await client.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } });
  await look('text at 200 %', 1280);
  const size = await page.evaluate(() => getComputedStyle(document.documentElement).fontSize);
  if (size !== '32px') faults.push(`the text is of ${size}`);
  await client.send('Page.setFontSizes', { fontSizes: { standard: 16, fixed: 13 } });
  await page.evaluate(text => { const sheet = new CSSStyleSheet(); sheet.replaceSync(text); document.adoptedStyleSheets = [sheet]; }, SPACING);
  for (const width of [360, 1280]) await look('spaced text', width);
  await page.evaluate(() => { document.adoptedStyleSheets = []; });
  await resize(page, [1440, 900], 'light');
  is(faults, [], `${name}: at 320 px, with text at 200 % and with spaced text nothing is cut or sticks out`);
}
