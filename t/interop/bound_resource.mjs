// A plain resource server for tokens that are bound to a key (RFC 9449 7): it introspects the token, and checks the proof itself,
// with `jose`. Settings: PORT, ISSUER, CLIENT_ID, CLIENT_SECRET.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import * as jose from 'jose';

const { PORT, ISSUER, CLIENT_ID, CLIENT_SECRET } = process.env;
const here = `http://127.0.0.1:${PORT}`;
const basic = `Basic ${Buffer.from(`${encodeURIComponent(CLIENT_ID)}:${encodeURIComponent(CLIENT_SECRET)}`).toString('base64')}`;

async function introspect(token) {
    const answer = await fetch(`${ISSUER}/introspect`, { method: 'POST', headers: { authorization: basic }, body: new URLSearchParams({ token }) });
    return answer.json();
}

// Return the fault of a request, or undefined.
async function fault(request) {
    const [scheme, token] = (request.headers.authorization ?? '').split(' ');
    if (scheme.toLowerCase() !== 'dpop' || !token) return 'no token with the scheme DPoP';
    const about = await introspect(token);
    if (!about.active) return 'the token is not active';
    if (about.token_type !== 'DPoP' || !about.cnf?.jkt) return 'the token is not bound';
    const { payload, protectedHeader } = await jose.jwtVerify(request.headers.dpop ?? '', jose.EmbeddedJWK, { typ: 'dpop+jwt', algorithms: ['ES256', 'RS256'], maxTokenAge: 60 });
    if (await jose.calculateJwkThumbprint(protectedHeader.jwk) !== about.cnf.jkt) return 'the proof is made with another key than cnf.jkt names';
    if (payload.htm !== request.method || payload.htu !== here + request.url) return 'the proof is for another request';
    if (payload.ath !== createHash('sha256').update(token).digest('base64url')) return 'ath is not the hash of the token';
    return undefined;
}

createServer(async (request, response) => {
    const why = await fault(request).catch((error) => String(error));
    if (why === undefined) return response.writeHead(200, { 'content-type': 'application/json' }).end('{"fruit":"pear"}');
    return response.writeHead(401, { 'www-authenticate': 'DPoP error="invalid_token"', 'content-type': 'text/plain' }).end(why);
}).listen(Number(PORT), '127.0.0.1');
