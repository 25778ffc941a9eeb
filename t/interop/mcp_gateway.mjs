// A client of the MCP TypeScript SDK at our gateway, through authorization. Settings: LINE (1: the 1.x SDK; 2: the 2.x SDK), URL (of
// the endpoint), CIMD_URL ("" for registration), REDIRECT_URI, PREFIX (of tool names), STEP_UP (a tool that needs another scope,
// or "").
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Browser } from './browser.mjs';
import { is, ok, run } from './tap.mjs';

const { LINE, URL: address, CIMD_URL, REDIRECT_URI, PREFIX, STEP_UP } = process.env;
const line = `MCP SDK ${LINE}.x`, modern = LINE === '2';

// The state that an MCP host keeps.
class Provider {
    constructor() { this.browser = new Browser(); this.asked = []; if (CIMD_URL) this.clientMetadataUrl = CIMD_URL; }
    get redirectUrl() { return REDIRECT_URI; }
    get clientMetadata() {
        // The 1.x SDK refreshes its token in place of asking for more scopes, so it gets no refresh token here.
        const grants = modern ? ['authorization_code', 'refresh_token'] : ['authorization_code'];
        return { client_name: 'MCP host', redirect_uris: [REDIRECT_URI], grant_types: grants, response_types: ['code'], token_endpoint_auth_method: 'none' };
    }
    state() { return 'state-of-the-host'; }
    clientInformation() { return this.information; }
    saveClientInformation(information) { this.information = information; }
    tokens() { return this.kept; }
    saveTokens(tokens) { this.kept = tokens; }
    saveCodeVerifier(verifier) { this.verifier = verifier; }
    codeVerifier() { return this.verifier; }
    async redirectToAuthorization(url) {
        this.asked.push(url);
        this.back = await this.browser.follow(url.href, REDIRECT_URI);
    }
}

const provider = new Provider();
const transport = () => new (modern ? StreamableHTTPClientTransport : OldTransport)(new URL(address), { authProvider: provider });
const client = () => modern
    ? new Client({ name: 'host', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    : new OldClient({ name: 'host', version: '1.0.0' });

// Does what a host does when the SDK says that the person must sign in: opens the page, and comes back with the code.
async function authorized(code) {
    const way = { transport: transport(), client: client() };
    try {
        return await code(way);
    } catch (error) {
        ok(/Unauthorized|UnauthorizedError|authoriz/i.test(`${error.name} ${error.message} ${error.code ?? ''}`), `${line}: the person is asked to sign in`, String(error.stack));
        await way.transport.finishAuth(provider.back.searchParams.get('code'), provider.back.searchParams.get('iss') ?? undefined);
        return code({ transport: transport(), client: client() });
    }
}

await run(async () => {
    const host = await authorized(async (way) => { await way.client.connect(way.transport); return way.client; });
    is(provider.asked.length, 1, `${line}: the challenge led to one sign-in`);
    is(provider.asked[0].searchParams.get('resource'), address, `${line}: the resource is the endpoint (RFC 8707)`);
    is(host.getServerVersion()?.name, 'authz', `${line}: the server names itself`);
    if (modern) is(host.getProtocolEra?.() ?? 'modern', 'modern', `${line}: revision 2026-07-28 is agreed on`);

    const listed = await host.listTools();
    const names = listed.tools.map((tool) => tool.name);
    ok(names.length > 0, `${line}: the tools are listed`, names);
    is(names, [...names].sort(), `${line}: ... sorted by name`);
    ok(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name)), `${line}: ... with names that every host accepts`, names);
    if (names.includes(`${PREFIX}hello`)) {
        const answer = await host.callTool({ name: `${PREFIX}hello`, arguments: { who: 'world' } });
        ok(!answer.isError && answer.content[0].type === 'text', `${line}: a tool of a route is called`, answer);
        const wrong = await host.callTool({ name: `${PREFIX}hello`, arguments: { who: 7 } });
        ok(wrong.isError === true, `${line}: wrong arguments are told to the model`, wrong);
    }
    let failed;
    try { await host.callTool({ name: 'nothing', arguments: {} }); } catch (error) { failed = error; }
    is(failed?.code, -32602, `${line}: an unknown tool is an error of the protocol`);

    if (names.includes(`${PREFIX}sum_up`)) {
        const sum = await host.callTool({ name: `${PREFIX}sum_up`, arguments: { a: 2, b: 3 } });
        is(sum.structuredContent, { sum: 5 }, `${line}: a tool of an MCP upstream answers with structure`);
        const said = await host.callTool({ name: `${PREFIX}echo`, arguments: { text: 'same' } });
        is(said.content, [{ type: 'text', text: 'same' }], `${line}: ... and with text`);
        const bad = await host.callTool({ name: `${PREFIX}fail`, arguments: {} });
        ok(bad.isError === true && bad.content[0].text === 'it failed', `${line}: ... and its failure is one`, bad);
    }

    if (STEP_UP) {
        const up = await authorized((way) => way.client.connect(way.transport).then(() => way.client.callTool({ name: STEP_UP, arguments: {} })));
        ok(!up.isError, `${line}: a tool that needs more scopes is called after a new sign-in`, up);
        is(provider.asked.length, 2, `${line}: ... of which there was one`);
        ok(provider.kept.scope.split(' ').includes(STEP_UP.replace('__', ':')), `${line}: ... and the token has the scope`, provider.kept.scope);
    }
    await host.close();
});
