// What the parts of console.mjs share: a page that reports each violation of its policy, and ways to use it as a person does.

import fs from 'node:fs';
import { createRequire } from 'node:module';

import { look, ok, open, sideways } from './browser.mjs';

export const { AUTHZ_BASE: base, AUTHZ_PICTURES: pictures } = process.env;
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const ALL = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };
// The rules whose outcome hangs on the width and the colours.
const SOME = { type: 'rule', values: ['color-contrast', 'target-size'] };
const LOOKS = [[1440, 'light'], [768, 'light'], [360, 'light'], [360, 'dark'], [768, 'dark'], [1440, 'dark']];
export const FEW = [LOOKS[0], LOOKS[3]];

// Open a tab of its own browser context, whose requests and violations are kept.
export async function tab(browser) {
  const page = await open(browser, [1440, 900]);
  page.setDefaultTimeout(Number(process.env.AUTHZ_PATIENCE ?? 1) * 60000);
  page.violations = [];
  page.dialogs = [];
  page.requested = [];
  page.on('request', request => page.requested.push(request.url()));
  await page.exposeFunction('reportViolation', text => page.violations.push(text));
  await page.evaluateOnNewDocument(() => document.addEventListener('securitypolicyviolation', event => globalThis.reportViolation(`${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`)));
  page.on('dialog', dialog => { page.dialogs.push(dialog.message()); dialog.dismiss(); });
  return page;
}

export const heading = page => page.$eval('main h1', e => e.textContent);
export const textOf = async (page, selector = 'main') => (await page.waitForSelector(selector)).evaluate(e => e.innerText);

// Wait until the text of the page, its dialogs included, has the words.
export const until = (page, words) => page.waitForFunction(text => document.body.innerText.includes(text), {}, words);

// Go to a place of the console, and wait until its h1 is there and nothing is read any more.
export async function visit(page, place, words) {
  await page.goto(`${base}/portal/${place}`);
  await page.waitForSelector('main h1');
  if (words) await until(page, words);
  await page.waitForNetworkIdle({ idleTime: 60 });
}

export async function signIn(page, key) {
  await page.goto(`${base}/portal/`);
  await page.waitForSelector('#key');
  await page.type('#key', key);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.rail');
}

// Press the button or link with this text; the first that begins so.
export async function push(page, text, within = 'body') {
  const found = await page.waitForFunction((words, root) => [...document.querySelectorAll(`${root} button, ${root} a, ${root} summary`)].filter(e => e.checkVisibility() && !e.disabled).find(e => e.innerText.trim().startsWith(words)), {}, text, within);
  await found.asElement().asLocator().click();
}

export async function fill(page, selector, text) {
  await page.waitForSelector(selector);
  await page.$eval(selector, e => { e.focus(); e.select?.(); });
  await page.keyboard.press('Backspace');
  await page.keyboard.type(text);
}

// Type the name that a dialog asks for, and confirm. The dialog takes the focus when it opens.
export async function confirm(page, name) {
  await page.waitForSelector('dialog[open] #confirm-name');
  await fill(page, '#confirm-name', name);
  await page.keyboard.press('Enter');
}

// Wait for the text of the editor. Its shadow root changes without a change of the document, so each frame is looked at.
export async function editor(page) {
  const found = await page.waitForFunction(() => document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content'), { polling: 'raf' });
  return found.asElement();
}

// Replace the text of the editor.
export async function write(page, text) {
  const content = await editor(page);
  await content.focus();
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await page.keyboard.up('Control');
  await page.keyboard.sendCharacter(text);
}

export async function combine(page, key) {
  await page.keyboard.down('Control');
  await page.keyboard.press(key);
  await page.keyboard.up('Control');
}

// axe-core would read style sheets as text (preload), which the policy of the page refuses.
// Measure what is shown at three widths in both colour schemes, or in the few of a state of a page: nothing sticks out, and axe-core finds nothing.
export async function measure(page, name, looks = pictures ? [...LOOKS, [1920, 'light']] : LOOKS) {
  const faults = [];
  await page.evaluate(`if (!globalThis.axe) { ${AXE} }`);
  for (const [width, scheme] of looks) {
    await look(page, [width, 900], scheme);
    const { pixels, out } = await sideways(page);
    if (pixels > 0) faults.push(`${width} ${scheme}: ${pixels} px too wide: ${out.join(' ')}`);
    const found = await page.evaluate(runOnly => globalThis.axe.run(document, { runOnly, resultTypes: ['violations'], preload: false, elementRef: false }), width === 1440 && scheme === 'light' ? ALL : SOME);
    faults.push(...found.violations.flatMap(one => one.nodes.map(node => `${width} ${scheme}: ${one.id}: ${node.target.join(' ')} ${node.any[0]?.message ?? ''}`)));
    if (pictures) await page.screenshot({ path: `${pictures}/${name.replace(/\W+/g, '-')}-${width}-${scheme}.png`, fullPage: true });
  }
  await look(page, [1440, 900], 'light');
  ok(faults.length === 0, `${name}: fits ${looks.map(([width, scheme]) => `${width} px ${scheme}`).join(', ')}, and axe-core finds nothing (WCAG 2.2 AA)`, ...faults.slice(0, 6));
}
