// The 2.x client of the MCP TypeScript SDK calls tools for which its person must open a page: it answers input_required by itself.
// Settings: URL (of the endpoint), TOKEN, COOKIES (of the person's browser, as a Cookie header), DECISION (the button that the
// person presses), TOOL, EXPECT (done or refused), AGAIN (1: a second call asks again).
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Browser } from './browser.mjs';
import { is, ok, run } from './tap.mjs';

const { URL: address, TOKEN, COOKIES, DECISION, TOOL, EXPECT, AGAIN } = process.env;
const browser = new Browser();
browser.cookies.set(new URL(address).host, new Map(COOKIES.split('; ').map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), pair.slice(at + 1)];
})));

// Opens the page, presses the button, and follows where that leads.
async function visit(url) {
    const page = await (await browser.request(url)).text();
    const form = browser.form(page, '/authorize/ciba') ?? browser.form(page, '/gateway/link');
    ok(form, 'the page has its form', page);
    let answer = await browser.request(new URL(form.action, url).href, {
        method: 'POST', body: new URLSearchParams({ ...form.fields, decision: DECISION }) });
    for (let at = url; answer.status >= 300 && answer.status < 400; answer = await browser.request(at))
        at = new URL(answer.headers.get('Location'), at).href;
    is(answer.status, 200, 'the person answers on the page');
}

await run(async () => {
    const opened = [];
    const client = new Client({ name: 'host', version: '1.0.0' },
        { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { url: {} } } });
    client.setRequestHandler('elicitation/create', async (request) => {
        is(request.params.mode, 'url', 'the SDK hands over an elicitation by URL');
        opened.push(request.params.url);
        await visit(request.params.url);
        return { action: 'accept' };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } } }));
    const answer = await client.callTool({ name: TOOL, arguments: { id: '1' } });
    is(opened.length, 1, `${TOOL}: the person opens one page`);
    is(answer.isError ?? false, EXPECT !== 'done', `${TOOL}: the call that the SDK repeats is ${EXPECT}`);
    await client.callTool({ name: TOOL, arguments: { id: '1' } });
    is(opened.length, AGAIN ? 2 : 1, `${TOOL}: a second call ${AGAIN ? 'asks again' : 'asks nothing'}`);
    await client.close();
});
