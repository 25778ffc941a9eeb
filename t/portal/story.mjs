// The story: make a client, entitle it, get a token with the shown line, find its decision, write a rule, see the refusal at its
// line, mend it, see what the save would change, save, see the denial, roll back.

import { execFileSync } from 'node:child_process';

import { is, ok } from './browser.mjs';
import { FEW, combine, editor, fill, heading, measure, push, textOf, until, visit, write } from './driver.mjs';

const RULE = (line, client) => `package custom.issue\n\ndeny contains {\n\t"code": "story_closed", "category": "client",\n\t"message": "the shop is closed",\n} if {\n\t${line} == "${client}"\n}\n`;

export default async function story(page) {
  const client = 'story-client';
  const token = secret => JSON.parse(execFileSync('sh', ['-c', line], { env: { ...process.env, CLIENT_SECRET: secret }, encoding: 'utf8' }));
  let line;

  // A client, by the key n.
  await visit(page, '#/clients', 'clients');
  await page.keyboard.press('n');
  await page.waitForSelector('#f-clientId');
  is(await heading(page), 'New client', 'story: n opens the form of a new client');
  await fill(page, '#f-redirectUris', 'http://shop.example/cb');
  await page.keyboard.press('Tab');
  await push(page, 'Create client');
  await until(page, 'Not saved');
  ok((await textOf(page, '.refused')).includes('redirectUris'), 'story: a refusal names the field');
  is(await page.$eval('.refused', e => e === document.activeElement), true, 'story: ... and its summary has the focus');
  is(await page.$eval('#f-redirectUris', e => [e.getAttribute('aria-invalid'), e.value]), ['true', 'http://shop.example/cb'], 'story: ... the field is marked, and nothing typed is lost');
  await measure(page, 'refused form', FEW);
  await fill(page, '#f-redirectUris', ' ');
  await page.keyboard.press('Tab');
  await fill(page, '#f-clientId', client);
  await fill(page, '#f-clientName', 'Story <b>client</b>');
  await push(page, 'Create client');
  await until(page, 'The secret of');
  const secret = await textOf(page, '.secret');
  ok(/^\S{32,}$/.test(secret), 'story: the secret is shown once');
  await measure(page, 'secret', FEW);
  await push(page, 'I have it');
  await until(page, 'Its binding');
  ok(!(await page.evaluate(() => document.documentElement.outerHTML)).includes(secret), 'story: ... and is gone after "I have it"');
  is(await heading(page), 'Story <b>client</b>', 'story: the name of the client is text');

  // Its rights, through the draft.
  await page.waitForSelector('fieldset input[type=checkbox]');
  await (await page.$('fieldset input[type=checkbox]')).click();
  await fill(page, '#f-scopes', 'orders.read');
  await page.keyboard.press('Tab');
  await push(page, 'Review draft', 'main');
  await until(page, 'What this save changes');
  await until(page, 'Asked again');
  ok((await textOf(page, '.diff')).includes('orders.read'), 'story: the review shows the difference');
  await measure(page, 'review', FEW);
  await fill(page, '#message', 'Rights of the story');
  await push(page, 'Save', 'main');
  await until(page, 'is active.');
  ok((await textOf(page)).includes('Rights of the story'), 'story: the save is a revision with its message');

  // A token by the line that the page shows, and its decision.
  await visit(page, `#/clients/${client}`, 'Get a token');
  line = await textOf(page, '#token-line');
  const answer = token(secret);
  page.token = answer.access_token;
  ok(!line.includes(secret) && answer.scope === 'orders.read', 'story: the shown line gets a token, and has no secret', line);
  await visit(page, `#/decisions?clientId=${client}`, 'allowed');
  ok((await textOf(page, 'table')).includes('get a token'), 'story: the decision is in the list');

  // A rule with a fault: refused at its line.
  await visit(page, '#/rules?new=1', 'New rule');
  await fill(page, '#new-path', 'custom/issue/story.rego');
  await page.keyboard.press('Enter');
  await write(page, RULE('input.cliemt.id + limit', client));
  await combine(page, 's');
  await until(page, 'does not compile');
  const faults = await page.$$eval('.editor >>> .fault', list => list.map(e => e.textContent));
  ok(faults.length > 0 && /limit/.test(faults.join()), 'story: Ctrl+S checks, and the fault stands below its line in the words of the engine', faults);
  is(await page.$eval('.editor >>> .fault-line', e => e.textContent.includes('limit')), true, 'story: ... the line is marked');
  ok(/stays active/.test(await textOf(page, '.refused')), 'story: ... and the refusal says what stays active');
  await measure(page, 'rule refused', FEW);

  // Mended, foretold, saved.
  await write(page, RULE('input.client.id', client));
  await combine(page, 's');
  await until(page, 'The draft compiles');
  await combine(page, 'Enter');
  await until(page, 'would be denied');
  const figures = await page.$$eval('.figures > div', list => list.map(e => e.innerText.split('\n').slice(0, 2).join(' ')));
  ok(figures.includes('Newly denied 1') && figures.includes('Newly allowed 0'), 'story: the review foretells the denial', figures);
  await measure(page, 'review with effect', FEW);
  await fill(page, '#message', 'The shop closes');
  await combine(page, 'Enter');
  await until(page, 'The shop closes');
  await until(page, 'is active.');
  const saved = Number((await heading(page)).split(' ')[1]);
  ok((await textOf(page, '.diff')).includes('story_closed'), 'story: Ctrl+Enter saves, and the revision shows what it changed');
  await measure(page, 'revision', FEW);

  // The denial, and why.
  ok(token(secret).error !== undefined, 'story: the token is denied now');
  await visit(page, `#/decisions?clientId=${client}&outcome=denied`, 'denied');
  await page.keyboard.press(']');
  await until(page, 'The shop is closed');
  await until(page, 'the same');
  is(await textOf(page, '.verdict h2'), 'The shop is closed.', 'story: the verdict is the message as a sentence, not the code');
  ok((await textOf(page, '.lines .hit')).includes('story_closed'), 'story: the reason leads to its line of the rule');
  await push(page, 'custom/issue/story.rego', 'main');
  await editor(page);
  ok((await page.evaluate(() => location.hash)).includes('line='), 'story: ... which opens in the editor');

  // Back.
  await visit(page, `#/revisions/${saved - 1}`, 'Roll back');
  await push(page, 'Roll back to');
  await until(page, 'would be allowed');
  await measure(page, 'rollback', FEW);
  await page.type('#confirm-name', '7777');
  await page.keyboard.press('Enter');
  await until(page, `Type ${saved - 1}.`);
  await fill(page, '#confirm-name', String(saved - 1));
  await page.keyboard.press('Enter');
  await until(page, 'is active.');
  ok(Number((await heading(page)).split(' ')[1]) > saved, 'story: a rollback asks for the number, and is a revision of its own');
  is(token(secret).scope, 'orders.read', 'story: the client gets tokens again');
}
