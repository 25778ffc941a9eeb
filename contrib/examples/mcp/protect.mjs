// How an MCP server protects itself with authz: it publishes its metadata (RFC 9728), by which clients find authz, and asks
// authz about the token of each request (RFC 7662). Settings in the environment:
//
//   AUTHZ_ISSUER         the issuer, for example https://auth.example
//   AUTHZ_CLIENT_ID      the client of this server; its binding has "endpoints": ["introspect"] and "resources": [MCP_RESOURCE]
//   AUTHZ_CLIENT_SECRET
//   MCP_RESOURCE         the address of this server as clients know it, for example https://orders.example/mcp
//
// DPoP-bound tokens are refused, because this program cannot check their proofs.
const { AUTHZ_ISSUER: issuer, AUTHZ_CLIENT_ID: id, AUTHZ_CLIENT_SECRET: secret, MCP_RESOURCE: resource } = process.env;

export const protectedHere = issuer !== undefined;
if (protectedHere && (!id || !secret || !resource)) throw new Error('AUTHZ_CLIENT_ID, AUTHZ_CLIENT_SECRET or MCP_RESOURCE is not set');

const BASE_SCOPE = 'orders:read'; // of every request
const TOOL_SCOPES = { ship_order: 'orders:write', refund_order: 'orders:write' }; // beside it, of calls
// Metadata and 401 name all scopes: clients register themselves for those, and authz gives them no others later.
const ALL_SCOPES = [...new Set([BASE_SCOPE, ...Object.values(TOOL_SCOPES)])];
const TIMEOUT = 5000; // milliseconds; a request waits no longer for an answer of authz
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]{1,2048}=*)$/i; // RFC 6750 section 2.1

// The document is at the origin of the server, with the path of the resource behind the well-known name.
const place = protectedHere ? new URL(resource) : undefined;
const address = place && `${place.origin}/.well-known/oauth-protected-resource${place.pathname}`;
export const metadata = {
    path: place && new URL(address).pathname,
    answer(response) {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ resource, authorization_servers: [issuer], scopes_supported: ALL_SCOPES, bearer_methods_supported: ['header'] }));
    },
};

// Return what authz says about a token. Do not keep it: a revocation or a change of policy counts at the next request only if
// authz is asked again.
async function introspect(token) {
    const basic = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64');
    const answer = await fetch(`${issuer}/introspect`, {
        method: 'POST', redirect: 'error', headers: { Authorization: `Basic ${basic}`, Accept: 'application/json' },
        body: new URLSearchParams({ token }), signal: AbortSignal.timeout(TIMEOUT),
    });
    // 401: wrong client or secret. 403: the binding of this server lacks "endpoints": ["introspect"].
    if (answer.status !== 200) throw new Error(`authz answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
}

// Return the scopes of a message: a batch needs those of all its calls.
function needed(body) {
    const called = [body].flat().filter((message) => message?.method === 'tools/call').map((message) => message.params?.name);
    return [...new Set([BASE_SCOPE, ...called.filter((name) => Object.hasOwn(TOOL_SCOPES, name)).map((name) => TOOL_SCOPES[name])])];
}

// The first line of every challenge names the metadata: without it an MCP client does not know where to sign in.
function challenge(response, status, error, scopes) {
    const fields = [`resource_metadata="${address}"`, `scope="${scopes.join(' ')}"`, ...(error ? [`error="${error}"`] : [])];
    response.writeHead(status, { 'WWW-Authenticate': `Bearer ${fields.join(', ')}`, 'Content-Type': 'text/plain' }).end(error);
    return false;
}

// Return true if the request may pass. Otherwise it has been answered.
export async function permitted(request, response, body) {
    if (request.headers.authorization === undefined) return challenge(response, 401, undefined, ALL_SCOPES);
    const match = BEARER.exec(request.headers.authorization);
    if (!match) return challenge(response, 401, 'invalid_token', ALL_SCOPES);
    let token;
    try {
        token = await introspect(match[1]);
    } catch (fault) {
        // Refuse when unsure: without an answer of authz, no request passes.
        console.error(`introspection failed: ${fault.cause ?? fault}`);
        response.writeHead(503, { 'Content-Type': 'text/plain' }).end();
        return false;
    }
    // A token for another server is not for this one, whoever shows it (RFC 8707).
    const meant = [token?.aud].flat().includes(resource);
    if (token?.active !== true || token.token_type !== 'Bearer' || !meant) return challenge(response, 401, 'invalid_token', ALL_SCOPES);
    const held = String(token.scope ?? '').split(' '), scopes = needed(body);
    return scopes.every((scope) => held.includes(scope)) || challenge(response, 403, 'insufficient_scope', scopes);
}
