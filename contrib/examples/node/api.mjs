// An API that needs an access token with the scope orders.read: it asks authz about the token of each request (RFC 7662).
//
//   PORT=8000 AUTHZ_INTROSPECT_URL=https://auth.example/introspect AUTHZ_CLIENT_ID=orders-api AUTHZ_CLIENT_SECRET=... node api.mjs
//
// The client AUTHZ_CLIENT_ID is the client of this API; its binding has "endpoints": ["introspect"].
import http from 'node:http';

const {AUTHZ_INTROSPECT_URL: url, AUTHZ_CLIENT_ID: id, AUTHZ_CLIENT_SECRET: secret, PORT: port = '8000'} = process.env;

const missing = ['AUTHZ_INTROSPECT_URL', 'AUTHZ_CLIENT_ID', 'AUTHZ_CLIENT_SECRET'].filter(name => !process.env[name]);
if (missing.length > 0) {
    console.error(`not started: set ${missing.join(', ')} in the environment`);
    process.exit(1);
}

const TIMEOUT = 5000; // milliseconds; a request waits no longer for an answer of the service
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]{1,2048}=*)$/i; // RFC 6750 section 2.1

// Client id and secret are form-encoded before they are joined (RFC 6749 section 2.3.1).
const basic = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64');

// Return the answer of POST /introspect. Do not keep it: a revocation or a change of policy counts at the next request only if
// the service is asked again.
async function introspect(token) {
    const answer = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        headers: {Authorization: `Basic ${basic}`, Accept: 'application/json'},
        body: new URLSearchParams({token}),
        signal: AbortSignal.timeout(TIMEOUT),
    });
    // 401: wrong client or secret. 403: the binding of this API lacks "endpoints": ["introspect"].
    if (answer.status !== 200) throw new Error(`the service answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
}

// Return {status, challenge, token}: status 200 permits the request; every other one is the answer to the caller.
async function check(authorization, scope) {
    if (authorization === undefined) return {status: 401, challenge: 'Bearer realm="api"'};
    const invalid = {status: 401, challenge: 'Bearer realm="api", error="invalid_token"'};
    const match = BEARER.exec(authorization);
    if (!match) return invalid;
    let token;
    try {
        token = await introspect(match[1]);
    } catch (fault) {
        // Refuse when unsure: without an answer of the service, no request passes.
        console.error(`introspection failed: ${fault.cause ?? fault}`);
        return {status: 503};
    }
    // A refresh token has no token_type and is no credential for an API. A token of another type is bound to a key (DPoP), and
    // this program cannot check the proof.
    if (token?.active !== true || token.token_type !== 'Bearer') return invalid;
    if (!String(token.scope ?? '').split(' ').includes(scope)) {
        return {status: 403, challenge: `Bearer realm="api", error="insufficient_scope", scope="${scope}"`};
    }
    return {status: 200, token};
}

http.createServer(async (request, response) => {
    const {status, challenge, token} = await check(request.headers.authorization, 'orders.read');
    if (challenge) response.setHeader('WWW-Authenticate', challenge);
    response.writeHead(status, {'Content-Type': 'application/json'});
    // `sub` names the caller: it is the user, or the client itself if no user signed in.
    const document = status === 200 ? {orders: [1, 2, 3], for: token.sub, client: token.client_id} : {error: status};
    response.end(JSON.stringify(document));
}).listen(Number(port), '127.0.0.1');
