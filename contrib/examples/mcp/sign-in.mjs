// An identity provider (OpenID Connect) for trying things out on one machine: it believes everybody who types a name. Never
// let authz trust it where it matters.
//
//   PORT=9000 REDIRECT_URI=http://127.0.0.1:8080/authorize/callback/demo node sign-in.mjs
//
// The client of authz is `authz` with the secret `demo`.
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import http from 'node:http';

const { PORT = '9000', REDIRECT_URI } = process.env;
const issuer = `http://127.0.0.1:${PORT}`, client = 'authz', secret = 'demo';
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = { ...publicKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
const codes = new Map();

const json = (document, status = 200) => ({ status, type: 'application/json', body: JSON.stringify(document) });
const escape = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
const encode = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');

function idToken(claims) {
    const now = Math.floor(Date.now() / 1000);
    const head = encode({ alg: 'RS256', kid: key.kid, typ: 'JWT' });
    const body = encode({ iss: issuer, aud: client, iat: now, auth_time: now, exp: now + 300, ...claims });
    return `${head}.${body}.${sign('sha256', Buffer.from(`${head}.${body}`), privateKey).toString('base64url')}`;
}

function authorize(query) {
    if (query.get('client_id') !== client || query.get('redirect_uri') !== REDIRECT_URI) return json({ error: 'invalid_request' }, 400);
    const name = query.get('name');
    if (!name) {
        const fields = [...query].map(([field, value]) => `<input type="hidden" name="${escape(field)}" value="${escape(value)}">`).join('');
        const form = `<form action="/authorize">${fields}<label>Your name: <input name="name" required autofocus></label> <button>Sign in</button></form>`;
        return { status: 200, type: 'text/html; charset=utf-8', body: `<!DOCTYPE html><title>Sign in</title><h1>Sign in</h1>${form}` };
    }
    const code = randomUUID();
    codes.set(code, { name, nonce: query.get('nonce') ?? undefined, challenge: query.get('code_challenge') });
    return { status: 303, location: `${REDIRECT_URI}?${new URLSearchParams({ code, state: query.get('state') ?? '' })}` };
}

function token(form, authorization = '') {
    const [id, word] = Buffer.from(authorization.replace(/^Basic /i, ''), 'base64').toString().split(':');
    if ((form.get('client_id') ?? id) !== client || (form.get('client_secret') ?? word) !== secret) return json({ error: 'invalid_client' }, 401);
    const asked = codes.get(form.get('code'));
    codes.delete(form.get('code'));
    const shown = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    if (!asked || (asked.challenge && asked.challenge !== shown)) return json({ error: 'invalid_grant' }, 400);
    const claims = { sub: asked.name, name: asked.name, nonce: asked.nonce };
    return json({ access_token: randomUUID(), token_type: 'Bearer', expires_in: 300, id_token: idToken(claims) });
}

const discovery = {
    issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'], subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'], scopes_supported: ['openid', 'profile'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
};

http.createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, issuer);
    let body = '';
    for await (const chunk of request) body += chunk;
    const answer = {
        '/.well-known/openid-configuration': () => json(discovery),
        '/jwks': () => json({ keys: [key] }),
        '/authorize': () => authorize(searchParams),
        '/token': () => token(new URLSearchParams(body), request.headers.authorization),
    }[pathname]?.() ?? json({ error: 'not_found' }, 404);
    const head = answer.location ? { Location: answer.location } : { 'Content-Type': answer.type };
    response.writeHead(answer.status, { ...head, 'Cache-Control': 'no-store' }).end(answer.body);
}).listen(Number(PORT), '127.0.0.1');
