// Every tool of the example server, called directly and through the gateway: the answers are the same. Settings: DIRECT (the server),
// URL (the endpoint of its resource), TOKEN.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { is, ok, run } from './tap.mjs';

const { DIRECT, URL: address, TOKEN } = process.env;

// Arguments of the tools that need some, or that take long without.
const given = {
    echo: { message: 'hello' },
    'get-annotated-message': { messageType: 'error', includeImage: true },
    'get-resource-links': { count: 2 },
    'get-resource-reference': { resourceType: 'Text', resourceId: 1 },
    'get-structured-content': { location: 'Chicago' },
    'get-sum': { a: 2, b: 3 },
    'gzip-file-as-resource': { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' },
    'trigger-long-running-operation': { duration: 1, steps: 2 },
};
// The name of a session and the time are no part of an answer: a resource says to the second when it was made.
const plain = (answer) => JSON.parse(JSON.stringify({ content: answer.content, structuredContent: answer.structuredContent, isError: answer.isError ?? false })
    .replaceAll(/session [0-9a-f-]{36}/g, 'session').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(/\d{1,2}:\d\d:\d\d(\s[AP]M)?/g, 'time'));
const parts = ({ name, title, description, inputSchema, outputSchema, annotations = {} }) => ({ name, title, description, inputSchema, outputSchema, annotations: Object.entries(annotations).sort() });

async function connected(url, headers) {
    const client = new Client({ name: 'host', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    return client;
}

await run(async () => {
    const direct = await connected(DIRECT, {}), behind = await connected(address, { Authorization: `Bearer ${TOKEN}` });
    // One that needs a task cannot be called through the gateway, which serves none of these (gateway-admin.md 1.5).
    const known = (await direct.listTools()).tools.filter(({ execution }) => execution?.taskSupport !== 'required'), served = (await behind.listTools()).tools;
    is(served.map(({ name }) => name), known.map(({ name }) => name).sort(), 'server-everything: the same tools are served');
    for (const tool of known) {
        const mine = served.find(({ name }) => name === tool.name);
        is(mine && parts(mine), parts(tool), `server-everything: ${tool.name} is described alike`);
        const call = { name: tool.name, arguments: given[tool.name] ?? {} };
        const said = await direct.callTool(call), passed = await behind.callTool(call);
        is(plain(passed), plain(said), `server-everything: ${tool.name} answers alike`);
    }
    ok(known.length >= 12, 'server-everything: there are tools', known.length);
    await direct.close();
    await behind.close();
});
