// A person connects two accounts by keyboard. See link.t. AUTHZ_PICTURES names a directory for pictures.

import path from 'node:path';

import { contrasts, done, is, launch, look, ok, open, pressEnterOn, sideways } from './browser.mjs';

const base = process.env.AUTHZ_BASE;
const browser = await launch();

const heading = page => page.$eval('h1', e => e.textContent.trim());
const textOf = page => page.$eval('main', main => main.textContent);
async function isWell(page, name) {
  for (const width of [320, 1280])
    for (const scheme of ['light', 'dark']) {
      await look(page, [width, 800], scheme);
      const { pixels } = await sideways(page);
      const seen = await contrasts(page);
      ok(pixels <= 0 && seen[0].ratio >= 4.5, `${name}: fits ${width} px, contrast 4.5 or more (${scheme})`, pixels, seen[0]);
    }
  if (process.env.AUTHZ_PICTURES) await page.screenshot({ path: path.join(process.env.AUTHZ_PICTURES, `${name}.png`), fullPage: true });
}

const ann = await open(browser, [320, 800]);
await ann.goto(process.env.AUTHZ_NOTES);
is(await heading(ann), 'Connect your account at The notes?', 'link: after the sign-in at the provider, the page of the link');
const seen = await textOf(ann);
for (const text of ['The app', 'notes.read', 'Notes Incorporated', '127.0.0.1', 'ann@example.org', 'The corp accounts'])
  ok(seen.includes(text), `link: it shows ${text}`);
await isWell(ann, 'link');
await pressEnterOn(ann, 'Connect');
is([await heading(ann), ann.url()], ['Connected', `${base}/gateway/connect?answered=connected`], 'Connect: Enter on it leads to the upstream and back');
ok((await textOf(ann)).includes('ann-at-notes'), 'connections: the account is shown');
await isWell(ann, 'connected');

await ann.goBack();
await ann.goto(process.env.AUTHZ_NOTES);
is(await heading(ann), 'This link cannot be used', 'link: it is good once');
await isWell(ann, 'link-used');

await ann.goto(process.env.AUTHZ_KEYED);
await pressEnterOn(ann, 'Connect');
ok((await textOf(ann)).includes('Make one in the settings of the archive.'), 'secret: the page says where it comes from');
const label = await ann.$eval('#secret', input => [input.labels[0].textContent, input.type, input.autocomplete]);
is(label, ['Key of the archive', 'password', 'off'], 'secret: its field has a label, and is not remembered');
await isWell(ann, 'secret');
await ann.focus('#secret');
await ann.keyboard.type('bad-key');
await pressEnterOn(ann, 'Connect');
ok((await ann.$eval('[role=alert]', e => e.textContent)).includes('refused'), 'secret: one that the upstream refuses is asked for again');
is(await ann.$eval('#secret', input => input.value), '', 'secret: the field is empty again');
await isWell(ann, 'secret-refused');
await ann.focus('#secret');
await ann.keyboard.type('good-key');
await pressEnterOn(ann, 'Connect');
is(await heading(ann), 'Connected', 'secret: a good one is stored');

await ann.goto(`${base}/gateway/connect`);
is(await heading(ann), 'Your connections', 'connections: the list');
await isWell(ann, 'connections');
await pressEnterOn(ann, 'Disconnect The keyed');
is(await heading(ann), 'Disconnected', 'Disconnect: Enter on it disconnects');
ok(!(await textOf(ann)).includes('The keyed'), 'connections: the other one stays alone');
await isWell(ann, 'disconnected');

is(ann.faults, [], 'nothing offends the Content-Security-Policy');
await browser.close();
done();
