// A picture of the first page of the console, for t/portal/picture.

import { launch, look } from './browser.mjs';
import { signIn, tab, until } from './driver.mjs';

const browser = await launch();
const page = await tab(browser);
await signIn(page, process.env.AUTHZ_KEY);
await until(page, 'Last revisions');
await look(page, [1440, 900], 'light');
await page.evaluate(() => document.activeElement?.blur());
await page.waitForNetworkIdle({ idleTime: 60 });
await page.screenshot({ path: process.env.AUTHZ_FILE });
await browser.close();
