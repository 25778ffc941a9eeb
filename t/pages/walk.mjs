// What a person does in a browser who follows a guide: open an address, choose to be Alice, allow what is asked, until there is
// nothing more to press. Prints the heading of each page, and what the browser complains of. See t/contrib/walk.t.

import { launch, open, press } from './browser.mjs';

const browser = await launch();
const page = await open(browser);
const shows = () => page.$eval('body', body => (body.querySelector('h1') ?? body).innerText.trim());

await page.goto(process.argv[2]);
for (let steps = 0; steps < 6; steps++) {
  console.log(`the browser shows: ${await shows()}`);
  const next = await page.$('::-p-xpath(//a[contains(., "Alice")] | //button[contains(., "Allow")])');
  if (!next) break; // what the client shows at its end is its own
  for (const fault of page.faults.splice(0)) console.log(`the browser complains: ${fault}`);
  await Promise.all([page.waitForNavigation(), press(next)]);
}
await browser.close();
