// The client of contrib/quickstart's demonstration provider, signed in at by a person. See t/contrib/quickstart.t. Prints the
// milliseconds from the start of the browser to the page that greets the person.

import { contrasts, done, is, launch, ok, open, sideways } from './browser.mjs';

const url = process.env.AUTHZ_TRIAL;
const began = Date.now();
const browser = await launch();
const page = await open(browser);
const heading = page => page.$eval('h1', e => e.textContent.trim());

async function press(page, words) {
  const link = await page.waitForSelector(`::-p-xpath(//a[contains(., "${words}")])`);
  await Promise.all([page.waitForNavigation(), link.click()]);
}

async function isWell(page, name) {
  for (const [size, scheme] of [[[1280, 800], 'light'], [[320, 800], 'dark']]) {
    await page.setViewport({ width: size[0], height: size[1] });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    const { pixels, out } = await sideways(page);
    const seen = await contrasts(page);
    ok(pixels <= 0 && seen[0].ratio >= 4.5, `${name}, ${size[0]} px, ${scheme}: fits, contrast 4.5 or more`, pixels, out, seen[0]);
  }
  await page.setViewport({ width: 1280, height: 800 });
}

await page.goto(url);
is(await heading(page), 'Demonstration client', 'the client has a page to begin at');
await isWell(page, 'client');
await press(page, 'Sign in');
is(await heading(page), 'Who are you?', 'the provider asks who it is');
is(await page.$$eval('.choices a', all => all.map(e => e.textContent.split(' ')[0])), ['Alice', 'Bob', 'Carol'], '... and knows three people');
ok((await page.$eval('main', e => e.innerText)).includes('demonstration'), '... and says that it is a demonstration');
await isWell(page, 'provider');
await press(page, 'Bob Brown');
is(await heading(page), 'You are signed in', 'the person is signed in');
console.log(`# milliseconds: ${Date.now() - began}`);
const text = await page.$eval('main', e => e.innerText);
ok(text.includes('Hello Bob Brown.') && text.includes('Policy has just decided that the access token is good.'), '... with name, and a token that policy allows', text);
await isWell(page, 'signed in');
await press(page, 'Sign in as another person');
is(await heading(page), 'Who are you?', 'another person can sign in');
await press(page, 'Cancel');
ok((await page.$eval('main', e => e.innerText)).includes('access_denied'), '... and whoever cancels is not signed in');
is([page.faults, page.loads], [[], []], 'the pages load nothing else, and nothing is refused by their policy');
await browser.close();
done();
