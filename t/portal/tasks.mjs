// The ten tasks of the console by keys alone: Tab, Shift+Tab, Enter, Space, Escape, arrows and the letters that "?" lists (WCAG 2.2, 2.1.1,
// 2.1.2, 2.4.3, 2.4.7).

import { is, ok } from './browser.mjs';
import { combine, heading, textOf, until, visit } from './driver.mjs';
import { active, tabTo, walk } from './hands.mjs';

const { AUTHZ_UPSTREAM: upstream } = process.env;
const api = (page, path) => page.evaluate(async at => (await fetch(`../admin/api/${at}`)).json(), path);
const enter = page => page.keyboard.press('Enter');

async function keys(page, ...names) {
  for (const name of names) await page.keyboard.press(name);
}

// Wait until h1 has the focus, as after each change of place.
const onHeading = (page, text) => page.waitForFunction(words => document.activeElement.tagName === 'H1' && document.activeElement.innerText.includes(words), {}, text);

async function find(page, text, words) {
  await keys(page, '/');
  await page.keyboard.type(text);
  await enter(page);
  await until(page, words);
}

async function opens(page, words) {
  await enter(page);
  await until(page, words);
}

async function why(page) {
  const [row] = (await api(page, 'audit-logs/search?clientId=crm&outcome=denied&size=1')).content;
  await find(page, row.requestId, 'Asked again');
  await onHeading(page, 'Decisions');
  ok((await textOf(page, '.verdict')).length > 10, 'task 1, why was this denied: Find opens the decision of a request');
  await find(page, 'crm', 'Last decisions');
  await onHeading(page, 'Customers');
  await tabTo(page, 'All');
  await opens(page, 'newest first');
  is(await page.evaluate(() => location.hash), '#/decisions?clientId=crm', 'task 2, what did it do: the decisions of a client');
}

async function grant(page) {
  await page.goto(page.url().replace(/#.*/, '#/decisions?clientId=crm&outcome=denied'));
  await until(page, 'newest first');
  await keys(page, ']');
  await until(page, 'Entitle it…');
  await tabTo(page, 'Entitle it…');
  await opens(page, 'Its binding');
  await onHeading(page, 'Customers');
  await tabTo(page, 'Scopes');
  await combine(page, 'End');
  await enter(page);
  await page.keyboard.type('crm.admin');
  await tabTo(page, 'Review draft');
  await opens(page, 'What this save changes');
  await onHeading(page, 'Review draft');
  await until(page, 'Asked again');
  await tabTo(page, 'Why this change');
  await page.keyboard.type('Entitled by hand');
  const { nextId } = await api(page, 'bundle-audit/latest');
  await page.waitForFunction(words => [...document.querySelectorAll('main button')].some(e => e.innerText === words), {}, `Save as ${nextId}`);
  ok(true, 'save: the button says the number of the revision that it makes');
  await enter(page);
  await until(page, 'is active.');
  await onHeading(page, 'Revision');
  is(await heading(page), `Revision ${nextId}`, 'task 3, grant the missing right: saved by keys, and the revision has that number');
  return nextId;
}

async function rule(page) {
  await keys(page, 'g', 'r');
  await until(page, 'Choose a rule');
  await tabTo(page, 'hours.rego');
  await enter(page);
  await page.waitForFunction(() => document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content'), { polling: 'raf' });
  await onHeading(page, 'hours.rego');
  await tabTo(page, 'custom/issue/hours.rego');
  await combine(page, 'End');
  await page.keyboard.type('minutes := limit');
  await combine(page, 's');
  await until(page, 'does not compile');
  is((await active(page)).name.startsWith('Refused: the draft does not compile.'), true, 'task 4, change a rule: a refused check has the focus');
  await keys(page, 'F8');
  await page.waitForFunction(() => document.activeElement.matches('.editor'));
  ok(true, 'task 4: F8 leads to the line');
  for (let at = 0; at < 'limit'.length; at++) await keys(page, at ? 'Backspace' : 'End');
  await keys(page, 'Backspace');
  await page.keyboard.type('60');
  await combine(page, 'Enter');
  await until(page, 'What this save changes');
  await combine(page, 'Enter');
  await until(page, 'is active.');
  await onHeading(page, 'Revision');
  ok((await textOf(page, '.diff')).includes('minutes := 60'), 'task 4: ... written in the editor and saved by Ctrl+Enter twice');
}

async function stop(page) {
  await find(page, 'crm', 'Last decisions');
  await onHeading(page, 'Customers');
  await tabTo(page, 'Disable…');
  await opens(page, 'Disable crm?');
  const seen = new Set();
  for (let at = 0; at < 6; at++) {
    const { inDialog, tag, name } = await active(page);
    seen.add(inDialog || tag === 'BODY' ? 'held' : name);
    if (at > 2) await page.keyboard.down('Shift');
    await keys(page, 'Tab');
    await page.keyboard.up('Shift');
  }
  is([...seen], ['held'], 'task 5, stop a client: the dialog takes the focus and holds it');
  await keys(page, 'Escape');
  await page.waitForFunction(() => !document.querySelector('dialog'));
  is((await active(page)).name, 'Disable…', 'task 5: Escape closes it, and the button that opened it has the focus again');
  await opens(page, 'Disable crm?');
  await tabTo(page, 'Disable it');
  await enter(page);
  await page.waitForFunction(() => !document.querySelector('dialog') && document.activeElement.innerText === 'Enable…');
  ok((await api(page, 'clients/crm')).enabled === false, 'task 5: ... also after the change, when it is the way back');
  await opens(page, 'Enable crm?');
  await tabTo(page, 'Enable it');
  await enter(page);
  await page.waitForFunction(() => document.activeElement.innerText === 'Disable…');
  ok((await api(page, 'clients/crm')).enabled, 'task 5: ... which works too');
}

async function make(page) {
  await keys(page, 'g', 'c');
  await until(page, 'Programs that may ask');
  await keys(page, 'n');
  await page.waitForSelector('#f-clientId');
  await tabTo(page, 'Client id');
  await page.keyboard.type('by-hand');
  await tabTo(page, 'Redirect URIs');
  await page.keyboard.type('http://shop.example/cb');
  await tabTo(page, 'Create client');
  await opens(page, 'Not saved');
  ok((await active(page)).name.startsWith('Not saved'), 'task 6, make a client: a refused save has the focus');
  await tabTo(page, 'redirectUris');
  await enter(page);
  is((await active(page)).name, 'Redirect URIs', 'task 6: ... and leads to the field');
  await combine(page, 'a');
  await keys(page, 'Delete');
  await tabTo(page, 'Create client');
  await opens(page, 'The secret of');
  await page.waitForFunction(() => document.activeElement.id === 'secret');
  ok(true, 'task 6: the secret has the focus');
  await tabTo(page, 'I have it');
  await opens(page, 'Its binding');
  await onHeading(page, 'by-hand');
  ok(true, 'task 6: ... and the client is opened');
}

async function judge(page) {
  await keys(page, 'g', 'o');
  await until(page, 'Needs attention');
  await tabTo(page, 'notes: the upstream changed its tools');
  await opens(page, 'clients see them as');
  await onHeading(page, 'Notes');
  await tabTo(page, 'add_note');
  await opens(page, 'What the upstream changed');
  await tabTo(page, 'Approve this text…', { back: true });
  await opens(page, 'Approve add_note?');
  await page.keyboard.type('other');
  await enter(page);
  await until(page, 'Type add_note.');
  is((await active(page)).name.startsWith('Type add_note'), true, 'task 7, judge a tool: another name is refused, and the field has the focus');
  await combine(page, 'a');
  await page.keyboard.type('add_note');
  await enter(page);
  await page.waitForFunction(() => !document.querySelector('dialog, .change'));
  await page.waitForFunction(() => document.activeElement !== document.body);
  is([(await api(page, 'managed-resources/notes')).tools[0].pin.status, (await active(page)).tag], ['approved', 'H1'], 'task 7: approved, and h1 has the focus, since the button is gone');
}

async function undo(page, saved) {
  await keys(page, 'g', 'v');
  await until(page, 'Entitled by hand');
  await tabTo(page, String(saved));
  await opens(page, 'Roll back to');
  await onHeading(page, `Revision ${saved}`);
  await tabTo(page, `Roll back to ${saved}…`);
  await opens(page, 'Asked again');
  await until(page, 'Rules: 0 added, 1 changed, 0 deleted. Rows: 0 added, 0 changed, 0 deleted.');
  ok(true, 'task 8, undo the last save: the dialog says what the rollback would change');
  ok((await active(page)).name.startsWith('Type'), 'task 8: ... and the field for the number has the focus');
  await page.keyboard.type(String(saved));
  await opens(page, 'is active.');
  await onHeading(page, 'Revision');
  is((await api(page, 'bundle-audit/latest')).message, `Back to ${saved}`, 'task 8: rolled back by keys');
}

async function serve(page) {
  await keys(page, 'g', 'm');
  await until(page, 'New resource');
  await keys(page, 'n');
  await until(page, 'Address of the upstream');
  for (const [label, text] of [['Name in addresses', 'by-hand'], ['Name', 'By hand'], ['Address of the upstream', upstream], ['Scope of routes', 'hand.use']]) {
    await tabTo(page, label);
    await page.keyboard.type(text);
  }
  await tabTo(page, 'Create resource');
  await opens(page, 'Read tools');
  await onHeading(page, 'By hand');
  await tabTo(page, 'Read tools');
  await enter(page);
  await page.waitForSelector('main .done');
  await page.waitForFunction(() => document.activeElement.innerText === 'Read tools');
  is((await api(page, 'managed-resources/by-hand')).tools.map(tool => tool.name), ['add_note'], 'task 9, put an MCP server behind the gateway: its tools are read, and the button that waited has the focus again');
}

async function report(page) {
  await tabTo(page, 'Report', { back: true });
  await opens(page, 'Decisions a day');
  await onHeading(page, 'Report');
  await page.evaluate(() => { const make = URL.createObjectURL; URL.createObjectURL = blob => { globalThis.saved = blob; return make.call(URL, blob); }; });
  await tabTo(page, 'CSV');
  await enter(page);
  await page.waitForFunction(() => globalThis.saved);
  ok((await page.evaluate(() => globalThis.saved.text())).startsWith('"day","allowed"'), 'task 10, report of the month: CSV');
}

// The frame: skip link, menu of who is signed in, keys that dialogs keep to themselves, and no page that holds Tab.
async function frame(page) {
  await page.evaluate(() => document.querySelector('.skip').focus());
  const { box } = await active(page);
  await enter(page);
  ok(box.top >= 0 && (await active(page)).tag === 'H1', 'frame: the skip link is seen when it has the focus, and leads to h1 (2.4.1)');
  await tabTo(page, 'key of operator', { back: true });
  await enter(page);
  await page.waitForFunction(() => document.activeElement.matches('.menu input'));
  await keys(page, 'ArrowDown');
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
  ok(true, 'frame: arrows choose the colours');
  await keys(page, 'ArrowUp', 'Escape');
  ok((await active(page)).name.startsWith('key of operator'), 'frame: Escape closes the menu, and its button has the focus again');
  await visit(page, '#/decisions?clientId=crm', 'newest first');
  await keys(page, ']');
  await until(page, 'Copy link');
  await tabTo(page, 'As curl');
  await enter(page);
  await page.waitForSelector('dialog[open]');
  await keys(page, 'Escape');
  await page.waitForFunction(() => !document.querySelector('dialog'));
  is([(await active(page)).name, await page.evaluate(() => location.hash.includes('open='))], ['As curl', true], 'frame: Escape closes a dialog alone, and the decision behind it stays');
  await keys(page, 'Escape');
  await page.waitForFunction(() => !location.hash.includes('open='));
  ok(true, 'frame: ... which the next one closes');
  await tabTo(page, 'Remove the filter client');
  await enter(page);
  await page.waitForFunction(() => !location.hash.includes('clientId') && document.activeElement.matches('.pills button'));
  ok(true, 'frame: a filter that goes leaves the focus among the others');
  for (const [place, words] of [['#/', 'Needs attention'], ['#/clients/crm', 'Last decisions'], ['#/resources/notes', 'Try a tool'], ['#/data/svc.operator.controls.client', 'What it may hold'], ['#/keys', 'Signing keys']]) {
    await visit(page, place, words);
    const { missed, wrong, ringless } = await walk(page);
    is([missed, wrong, ringless], [[], [], []], `frame: Tab comes to each control of ${place} in its order, with a ring`);
  }
}

export default async function tasks(page) {
  page.ringless = [];
  await visit(page, '#/', 'Needs attention');
  await why(page);
  const saved = await grant(page);
  await rule(page);
  await stop(page);
  await make(page);
  await judge(page);
  await undo(page, saved);
  await serve(page);
  await report(page);
  await frame(page);
  is(page.ringless, [], 'focus: each stop of the tasks has a ring of at least 2 px');
}
