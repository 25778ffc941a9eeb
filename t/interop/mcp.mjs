// The authorization flow of the MCP TypeScript SDK against a protected resource of this script: by client metadata document
// and by dynamic registration. Settings: ISSUER, RESOURCE_PORT (an unused port), CIMD_URL ("" for registration), REDIRECT_URI.
import http from 'node:http';
import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { Browser } from './browser.mjs';
import { is, ok, run } from './tap.mjs';

const { ISSUER, RESOURCE_PORT, CIMD_URL, REDIRECT_URI } = process.env;
const base = `http://127.0.0.1:${RESOURCE_PORT}`, serverUrl = `${base}/mcp`;
const how = CIMD_URL ? 'metadata document' : 'registration';

// The resource: it only names the authorization server for its tokens (RFC 9728).
const resource = http.createServer((req, res) => {
    if (req.url.startsWith('/.well-known/oauth-protected-resource')) {
        res.setHeader('Content-Type', 'application/json');
        return res.end(JSON.stringify({ resource: serverUrl, authorization_servers: [ISSUER], scopes_supported: ['openid', 'profile'] }));
    }
    res.writeHead(401, { 'WWW-Authenticate': `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"` }).end();
});

// The state that an MCP host keeps.
class Provider {
    constructor() { this.browser = new Browser(); this.redirected = 0; if (CIMD_URL) this.clientMetadataUrl = CIMD_URL; }
    get redirectUrl() { return REDIRECT_URI; }
    get clientMetadata() {
        return { client_name: 'MCP host', redirect_uris: [REDIRECT_URI], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' };
    }
    state() { return 'state-of-the-host'; }
    clientInformation() { return this.information; }
    saveClientInformation(information) { this.information = information; }
    tokens() { return this.kept; }
    saveTokens(tokens) { this.kept = tokens; }
    saveCodeVerifier(verifier) { this.verifier = verifier; }
    codeVerifier() { return this.verifier; }
    async redirectToAuthorization(url) {
        this.redirected++;
        this.asked = url;
        this.back = await this.browser.follow(url.href, REDIRECT_URI);
    }
}

await run(async () => {
    await new Promise((done) => resource.listen(Number(RESOURCE_PORT), '127.0.0.1', done));
    const provider = new Provider();
    is(await auth(provider, { serverUrl }), 'REDIRECT', `MCP SDK by ${how}: discovery leads to an authorization`);
    is(provider.asked.searchParams.get('resource'), serverUrl, `MCP SDK by ${how}: the resource is named (RFC 8707)`);
    is(provider.asked.searchParams.get('client_id') === CIMD_URL, Boolean(CIMD_URL), `MCP SDK by ${how}: the client is known by its ${how}`);
    is(provider.back.searchParams.get('state'), 'state-of-the-host', `MCP SDK by ${how}: state comes back`);
    ok(provider.back.searchParams.get('code'), `MCP SDK by ${how}: a code comes back`, provider.back.href);
    const options = { serverUrl, authorizationCode: provider.back.searchParams.get('code'), iss: provider.back.searchParams.get('iss') ?? undefined };
    is(await auth(provider, options), 'AUTHORIZED', `MCP SDK by ${how}: the code gives tokens`);
    const first = { ...provider.kept };
    ok(first.access_token && first.refresh_token && first.scope, `MCP SDK by ${how}: access token, refresh token and scope are said`, Object.keys(first));
    is(await auth(provider, { serverUrl }), 'AUTHORIZED', `MCP SDK by ${how}: the refresh token works without the user`);
    is(provider.redirected, 1, `MCP SDK by ${how}: ... and the user was not asked again`);
    ok(provider.kept.access_token !== first.access_token && provider.kept.refresh_token !== first.refresh_token, `MCP SDK by ${how}: a public client's refresh token is rotated`);
    // Hosts refresh in parallel: within the window each gets a pair (gateway-admin finding 7).
    const old = { ...provider.kept }, twins = [new Provider(), new Provider(), new Provider()];
    for (const twin of twins) Object.assign(twin, { information: provider.information, kept: { ...old } });
    is(await Promise.all(twins.map((twin) => auth(twin, { serverUrl }))), twins.map(() => 'AUTHORIZED'), `MCP SDK by ${how}: three hosts refresh the same token at the same moment`);
});
