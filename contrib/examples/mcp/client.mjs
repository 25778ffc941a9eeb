// An MCP client for the command line, made with the SDK of the protocol. It registers itself at the authorization server, and
// lets a person sign in when a server asks for a token or for more scopes.
//
//   node client.mjs ADDRESS list
//   node client.mjs ADDRESS call TOOL '{"order": 1}'
//
// It opens the page to sign in with the program that BROWSER names; without one it prints its address. What it is registered
// as and its tokens are kept in client.json beside it, which only you can read.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const CALLBACK = new URL(`http://127.0.0.1:${process.env.PORT ?? 8765}/callback`);
const [address, verb, tool, given = '{}'] = process.argv.slice(2);
if (!address || !(verb === 'list' || (verb === 'call' && tool))) {
    console.error('usage: client.mjs ADDRESS list | call TOOL ARGUMENTS');
    process.exit(2);
}

const file = new URL('client.json', import.meta.url);
const all = existsSync(file) ? JSON.parse(readFileSync(file)) : {};
const kept = all[address] ??= {};
const keep = (name, value) => { kept[name] = value; writeFileSync(file, JSON.stringify(all), { mode: 0o600 }); };

// Return the code of the next request to the address of the callback.
function awaitCode(state) {
    return new Promise((resolve, reject) => {
        const server = http.createServer((request, response) => {
            const { pathname, searchParams } = new URL(request.url, CALLBACK);
            if (pathname !== CALLBACK.pathname || searchParams.get('state') !== state) return response.writeHead(404).end();
            response.end('You can close this window.');
            server.close();
            server.closeAllConnections();
            const error = searchParams.get('error');
            return error ? reject(new Error(`${error}: ${searchParams.get('error_description')}`)) : resolve(searchParams.get('code'));
        }).listen(Number(CALLBACK.port), CALLBACK.hostname);
    });
}

// What the SDK asks of a client that signs people in.
const person = {
    redirectUrl: CALLBACK.href,
    clientMetadata: {
        client_name: 'Command line', redirect_uris: [CALLBACK.href], grant_types: ['authorization_code'], response_types: ['code'],
        token_endpoint_auth_method: 'none',
    },
    state() { return this.asked = randomUUID(); },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => keep('client', client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => keep('tokens', tokens),
    saveCodeVerifier(verifier) { this.verifier = verifier; },
    codeVerifier() { return this.verifier; },
    invalidateCredentials(what) { for (const name of what === 'all' ? ['client', 'tokens'] : [what]) keep(name, undefined); },
    redirectToAuthorization(url) {
        this.code = awaitCode(this.asked);
        console.error(`Sign in for: ${url.searchParams.get('scope')}`);
        if (process.env.BROWSER) spawn(process.env.BROWSER, [url.href], { stdio: ['ignore', 2, 2] });
        else console.error(`Open this address in your browser:\n${url.href}`);
    },
};

async function attempt() {
    const transport = new StreamableHTTPClientTransport(new URL(address), { authProvider: person });
    const client = new Client({ name: 'command-line', version: '1.0.0' });
    try {
        await client.connect(transport);
        if (verb === 'list') return (await client.listTools()).tools.map(({ name, description }) => `${name}: ${description}`);
        const answer = await client.callTool({ name: tool, arguments: JSON.parse(given) });
        if (answer.isError) process.exitCode = 1;
        return answer.content.map((part) => part.text ?? JSON.stringify(part));
    } catch (fault) {
        if (!(fault instanceof UnauthorizedError)) throw fault;
        await transport.finishAuth(await person.code);
        return undefined;
    } finally {
        await client.close();
    }
}

try {
    // The first sign-in, and one more if the call needs other scopes.
    let lines;
    for (let time = 0; time < 3 && !lines; time++) lines = await attempt();
    if (!lines) throw new Error('the server asks for another sign-in again and again');
    for (const line of lines) console.log(line);
} catch (fault) {
    console.error(`client.mjs: ${fault.message}`);
    process.exitCode = 1;
}
