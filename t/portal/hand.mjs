// The console by hand. See hand.t.

import { done, is, launch } from './browser.mjs';
import { base, signIn, tab, textOf } from './driver.mjs';
import attacks from './attacks.mjs';
import hostile from './hostile.mjs';
import lists from './lists.mjs';
import states from './states.mjs';
import tasks from './tasks.mjs';

const browser = await launch();
const page = await tab(browser);
await signIn(page, process.env.AUTHZ_OPERATOR);
try {
  await tasks(page);
  await hostile(page);
  await lists(page);
  await states(browser, page);
  await attacks(browser, page);
} catch (error) {
  console.log(`# at ${page.url()}\n# ${(await textOf(page, 'body')).slice(0, 2000).replaceAll('\n', '\n# ')}\n# ${[...page.violations, ...page.faults].join('\n# ')}`);
  throw error;
}
is([page.violations, page.dialogs], [[], []], 'policy: the browser reports no violation of the Content-Security-Policy or of Trusted Types, and no text opened a dialog');
is(page.requested.filter(url => !url.startsWith(base) && !url.startsWith('data:') && !url.startsWith('blob:')), [], 'policy: no text made the browser ask another server');
await browser.close();
done();
