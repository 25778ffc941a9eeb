// Texts of others in each field that the console shows stay texts, fit, and are quoted where they are copied into a shell.

import { execFileSync } from 'node:child_process';

import { is, look, ok } from './browser.mjs';
import { fill, push, textOf, until, visit } from './driver.mjs';
import { overflow } from './hands.mjs';

const TEXTS = JSON.parse(process.env.AUTHZ_HOSTILE);
const env = { ...process.env, SVC_ADMIN_API_KEY: process.env.AUTHZ_OPERATOR, PATH: `${process.env.AUTHZ_BIN}:${process.env.PATH}` };
const run = (line, cwd) => execFileSync('sh', ['-c', line], { env, cwd, encoding: 'utf8', maxBuffer: 1 << 24 });
// What a reader sees of a text: characters that cannot be seen as numbers, and no more than 200.
const HIDDEN = /[\p{Cc}\p{Cf}\u034f\u115f\u1160\u3164\uffa0]/gu;
const seen = text => text.replace(HIDDEN, one => (one === '\t' || one === '\n' ? one : `⟨U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)).slice(0, 200);

// The texts of the page that are not there, and what became more than a text.
const judge = (page, texts) => page.evaluate(wanted => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), all = [];
  while (walker.nextNode()) all.push(walker.currentNode.data);
  all.push(...[...document.querySelectorAll('input, textarea, option')].map(e => e.value));
  return {
    missing: wanted.filter(text => !all.some(one => one.includes(text))),
    made: [...document.querySelectorAll('main :is(img, script, iframe, style, base, meta, object, embed, template, link)')].map(e => e.outerHTML.slice(0, 80)),
    handlers: [...document.querySelectorAll('main *')].filter(e => e.getAttributeNames().some(name => name.startsWith('on'))).length,
    links: [...document.links].filter(e => e.origin !== location.origin).map(e => e.href.slice(0, 80)),
  };
}, texts);

async function stays(page, place, words, texts = TEXTS) {
  await visit(page, place, words);
  is(await judge(page, texts.map(seen)), { missing: [], made: [], handlers: 0, links: [] }, `hostile texts: ${texts.length} on ${place} are texts`);
  const faults = [];
  for (const width of [360, 1440]) {
    await look(page, [width, 900], 'light');
    faults.push(...(await overflow(page)).map(text => `${width} px: ${text}`));
  }
  await look(page, [1440, 900], 'light');
  is(faults, [], `hostile texts: ... and fit on ${place}`);
}

async function inEditor(page, text) {
  await page.waitForFunction(() => document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-line'), { polling: 'raf' });
  ok((await page.$eval('.editor >>> .cm-content', e => e.textContent)).includes(text), `hostile texts: ${text} is a text in the editor`);
}

// The functions that make the lines, with each text, against what a shell makes of them.
async function quoting(page) {
  const made = await page.evaluate(async texts => {
    const { curl, quoteJson, shell } = await import(new URL('text.js', document.querySelector('script[type=module]').src).href);
    return texts.map(text => ({ words: `f ${shell(text)}`, curl: curl('PUT', `clients/${encodeURIComponent(text)}`, { name: text }), json: `f ${quoteJson({ name: text, secret: '~mark~V~mark~' }, '~mark~')}` }));
  }, TEXTS);
  const args = line => run(`set -e; V='se"cr'"'"'et'; f() { printf '%s\\0' "$@"; }; curl() { f "$@"; }\n${line}`).split('\0').slice(0, -1);
  const wrong = [];
  made.forEach((lines, at) => {
    const text = TEXTS[at], [word] = args(lines.words), all = args(lines.curl), [json] = args(lines.json);
    const body = JSON.parse(all[all.indexOf('-d') + 1]);
    if (word !== text) wrong.push(`word ${at}: ${word}`);
    if (body.name !== text || !all.at(-1).endsWith(encodeURIComponent(text).replaceAll("'", '%27')) && !all.at(-1).endsWith(encodeURIComponent(text))) wrong.push(`curl ${at}: ${all.at(-1)}`);
    if (json !== `{"name":${JSON.stringify(text)},"secret":"se"cr'et"}`.replace(HIDDEN, one => [...Array(one.length).keys()].map(i => `\\u${one.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''))) wrong.push(`json ${at}: ${json}`);
    if (HIDDEN.test(Object.values(lines).join('').replaceAll('\n', ''))) wrong.push(`hidden ${at}`);
    HIDDEN.lastIndex = 0;
  });
  is(wrong, [], 'copied lines: a shell reads each text as it is, and no character that cannot be seen is in a line');
}

// Lines as the form of a new client shows them, run.
async function lines(page) {
  const names = [`O'Brien "x" $HOME \\ \`id\` $(touch gone)`, '"},{"admin":true,"x":"', '\u{1f469} =cmd|\'/c calc\'!A0 \u05e9\u05dc\u05d5\u05dd', '{{7*7}}${7*7}<img src=x onerror=alert(1)>; touch gone'];
  for (const [at, name] of names.entries()) {
    const made = at === 1 ? '--line-1' : `line-${at}`; // an operand that looks like an option
    await visit(page, '#/clients?new=1', 'New client');
    await fill(page, '#f-clientId', made);
    await fill(page, '#f-clientName', name);
    const tool = at % 2 ? 'authzctl' : 'curl';
    await push(page, tool, '.same');
    run(await textOf(page, '.same .cmd'));
    is((await page.evaluate(async id => (await fetch(`../admin/api/clients/${id}`)).json(), made)).clientName, name, `copied lines: ${tool} makes the client with the name ${at} as typed`);
  }
}

export default async function hostile(page) {
  await stays(page, '#/clients', 'Customers');
  await stays(page, '#/data', 'svc.entitlements');
  await stays(page, '#/rules', 'Choose a rule', TEXTS.filter(text => !text.includes('/') && !/\s/.test(text)));
  await stays(page, '#/people', 'Last sign-in');
  await stays(page, '#/keys', 'Signing keys');
  await stays(page, '#/providers', 'Our client there');
  await stays(page, '#/resources', 'Upstream');
  await stays(page, '#/resources/hostile', 'no client sees them');
  ok(!/served/.test((await textOf(page, 'table[aria-label=Tools]')).replaceAll('not served', '')), 'resources: no tool of a disabled resource is said to be served');
  await stays(page, '#/decisions?requestId=hostile', 'newest first');
  await stays(page, '#/revisions', 'Each save of policy', TEXTS.slice(0, 40));
  await stays(page, '#/', 'Needs attention', []);
  for (const at of [1, 20, 31, 45]) {
    const text = TEXTS[at], id = encodeURIComponent(text);
    await stays(page, `#/clients/${id}`, 'Get a token', [text]);
    await stays(page, `#/people/${id}`, 'Last decisions', [text]);
    await stays(page, `#/resources/hostile?tool=${id}`, 'Try a tool', [text]);
    await stays(page, `#/providers/h${at + 1}`, 'To register', [text]);
    await stays(page, `#/rules/custom/h/${id}`, 'Text', [text]);
    await inEditor(page, seen(text));
  }
  await stays(page, '#/data/example.hostile', 'What it may hold', []);
  for (const at of [0, 19, 22]) await inEditor(page, `"${seen(TEXTS[at])}"`);
  await visit(page, `#/decisions?requestId=hostile&clientId=${encodeURIComponent(TEXTS[19])}`, 'newest first');
  await page.keyboard.press(']');
  await until(page, 'The caller was told');
  ok((await textOf(page, '.verdict')).includes(seen(TEXTS[19])), 'hostile texts: a decision shows what reorders text as a number');
  await quoting(page);
  await lines(page);
}
