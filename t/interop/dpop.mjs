// DPoP as others speak it: `oauth4webapi` through code, userinfo, refresh and a resource server of its own, and hostile proofs made
// by `jose`. Settings: ISSUER, REDIRECT_URI, RESOURCE, CLIENT_ID, CLIENT_SECRET (of a client that need not use DPoP), NONCES: the
// service demands nonces.
import { createHash } from 'node:crypto';
import * as jose from 'jose';
import * as oauth from 'oauth4webapi';
import { Browser } from './browser.mjs';
import { fails, is, ok, run } from './tap.mjs';

const { ISSUER, REDIRECT_URI, RESOURCE, CLIENT_ID, CLIENT_SECRET } = process.env;
const nonces = process.env.NONCES === 'true';
const plain = { [oauth.allowInsecureRequests]: true };
const name = nonces ? 'with nonces' : 'without nonces';
let challenges = 0;

await run(async () => {
    const issuer = new URL(ISSUER);
    const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, plain));
    is(as.dpop_signing_alg_values_supported, ['ES256', 'RS256'], `oauth4webapi, ${name}: discovery names the algorithms (RFC 9449 5.1)`);
    for (const [method, alg] of [['none', 'ES256'], ['client_secret_basic', 'RS256']])
        await flow(as, method, alg);
    is(challenges > 0, nonces, `oauth4webapi, ${name}: the client ${nonces ? 'met' : 'never met'} use_dpop_nonce`);
    if (!nonces) await hostile();
});

// Call twice if the first answer asks for a nonce (RFC 9449 8).
async function again(call) {
    try {
        return await call();
    } catch (error) {
        if (!oauth.isDPoPNonceError(error)) throw error;
        challenges++;
        return call();
    }
}

async function flow(as, method, alg) {
    const say = (text) => `oauth4webapi, ${name}, ${method}, ${alg}: ${text}`;
    const metadata = { redirect_uris: [REDIRECT_URI], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
                       token_endpoint_auth_method: method, dpop_bound_access_tokens: true };
    const client = await oauth.processDynamicClientRegistrationResponse(await oauth.dynamicClientRegistrationRequest(as, metadata, plain));
    is(client.dpop_bound_access_tokens, true, say('a client registers for bound tokens (RFC 9449 5.2)'));
    const auth = method === 'none' ? oauth.None() : oauth.ClientSecretBasic(client.client_secret);
    const pair = await oauth.generateKeyPair(alg);
    const DPoP = oauth.DPoP(client, pair), bound = { DPoP, ...plain };

    const verifier = oauth.generateRandomCodeVerifier(), state = oauth.generateRandomState(), nonce = oauth.generateRandomNonce();
    const url = new URL(as.authorization_endpoint);
    for (const [key, value] of Object.entries({ client_id: client.client_id, redirect_uri: REDIRECT_URI, response_type: 'code', scope: 'openid profile',
                                                code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256', state, nonce,
                                                dpop_jkt: await DPoP.calculateThumbprint() }))
        url.searchParams.set(key, value);
    const params = oauth.validateAuthResponse(as, client, await new Browser().follow(url.href, REDIRECT_URI), state);

    const redeem = (options) => again(async () => oauth.processAuthorizationCodeResponse(as, client,
        await oauth.authorizationCodeGrantRequest(as, client, auth, params, REDIRECT_URI, verifier, options), { expectedNonce: nonce, requireIdToken: true }));
    await fails(() => redeem(plain), /invalid_request|invalid_grant/, say('no proof: refused'));
    await fails(async () => redeem({ DPoP: oauth.DPoP(client, await oauth.generateKeyPair('ES256')), ...plain }), /invalid_grant/, say('another key than dpop_jkt: refused (RFC 9449 10)'));
    const tokens = await redeem(bound);
    is(tokens.token_type, 'dpop', say('the code gives a bound token'));

    const sub = oauth.getValidatedIdTokenClaims(tokens).sub;
    const user = await again(async () => oauth.processUserInfoResponse(as, client, sub, await oauth.userInfoRequest(as, client, tokens.access_token, bound)));
    ok(user.name, say('userinfo answers it with a proof (RFC 9449 7)'), user);
    await fails(async () => oauth.processUserInfoResponse(as, client, sub, await oauth.userInfoRequest(as, client, tokens.access_token, plain)), /401|WWW-Authenticate|invalid_token/i, say('... not as Bearer'));

    const fruit = await again(async () => oauth.protectedResourceRequest(tokens.access_token, 'GET', new URL(`${RESOURCE}/fruit`), undefined, undefined, bound));
    is((await fruit.json()).fruit, 'pear', say('a resource server accepts it by introspection and cnf.jkt'));
    const stolen = oauth.DPoP(client, await oauth.generateKeyPair('ES256'));
    await fails(async () => oauth.protectedResourceRequest(tokens.access_token, 'GET', new URL(`${RESOURCE}/fruit`), undefined, undefined, { DPoP: stolen, ...plain }), /invalid_token|401/, say('... not with another key'));

    const refresh = (options) => again(async () => oauth.processRefreshTokenResponse(as, client, await oauth.refreshTokenGrantRequest(as, client, auth, tokens.refresh_token, options)));
    const refreshed = await refresh(bound);
    is([refreshed.token_type, refreshed.refresh_token], ['dpop', tokens.refresh_token], say('a refresh gives a bound token and keeps the refresh token'));
    await fails(() => refresh(plain), /invalid_request/, say('... not without proof'));
    if (method === 'none')
        await fails(() => refresh({ DPoP: stolen, ...plain }), /invalid_grant/, say('... nor with another key (RFC 9449 5)'));
}

// ---- proofs that only an attacker makes

async function hostile() {
    const es = await jose.generateKeyPair('ES256', { extractable: true }), jwk = await jose.exportJWK(es.publicKey);
    const htu = `${ISSUER}/token`, now = Math.floor(Date.now() / 1000);
    const claims = (more) => ({ jti: crypto.randomUUID(), htm: 'POST', htu, iat: now, ...more });
    const sign = (payload, header, key = es.privateKey) => new jose.SignJWT(payload).setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk, ...header }).sign(key);
    const by = async (alg, header, options) => {
        const pair = await jose.generateKeyPair(alg, { extractable: true, ...options });
        return sign(claims(), { alg, jwk: await jose.exportJWK(pair.publicKey), ...header }, pair.privateKey);
    };
    const b64 = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const good = await sign(claims());
    const [head, body, signature] = good.split('.');
    const type = async (...proofs) => {
        const answer = await fetch(`${ISSUER}/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials' }),
            headers: [['authorization', `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`], ...proofs.map((proof) => ['dpop', proof])] });
        return (await answer.json()).token_type;
    };
    is(await type(good), 'DPoP', 'jose: a good proof');
    const pem = await jose.exportSPKI(es.publicKey);
    const cases = [
        ['alg none without signature', `${b64({ typ: 'dpop+jwt', alg: 'none', jwk })}.${b64(claims())}.`],
        ['alg none with a signature', `${b64({ typ: 'dpop+jwt', alg: 'none', jwk })}.${b64(claims())}.${signature}`],
        ['HS256 with the text of the public key as its secret', await sign(claims(), { alg: 'HS256' }, new TextEncoder().encode(pem))],
        ['HS256 with a symmetric jwk', await sign(claims(), { alg: 'HS256', jwk: { kty: 'oct', k: 'AAAA' } }, new TextEncoder().encode('\0\0\0'))],
        ['ES384', await by('ES384')],
        ['PS256', await by('PS256')],
        ['EdDSA', await by('EdDSA')],
        ['the private key in the header', await sign(claims(), { jwk: await jose.exportJWK(es.privateKey) })],
        ['the key of another', await sign(claims(), { jwk: await jose.exportJWK((await jose.generateKeyPair('ES256')).publicKey) })],
        ['jku in place of jwk', await sign(claims(), { jwk: undefined, jku: `${ISSUER}/.well-known/jwks.json` })],
        ['an ID token type', await sign(claims(), { typ: 'JWT' })],
        ['a logout token type', await sign(claims(), { typ: 'logout+jwt' })],
        ['an unknown crit', `${b64({ typ: 'dpop+jwt', alg: 'ES256', jwk, crit: ['exp'], exp: 1 })}.${body}.${signature}`],
        ['the claims of another proof', `${head}.${b64(claims())}.${signature}`],
        ['the header of another proof', `${b64({ typ: 'dpop+jwt', alg: 'ES256', jwk, x: 1 })}.${body}.${signature}`],
        ['a signature in DER', `${head}.${body}.${Buffer.concat([Buffer.from('3044022000', 'hex'), Buffer.from(signature, 'base64url')]).toString('base64url')}`],
        ['a signature of zeros', `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`],
        ['padding', `${good}=`],
        ['the JSON form', JSON.stringify({ payload: body, protected: head, signature })],
        ['a fourth part', `${good}.${body}`],
        ['nested objects as jti', await sign(claims({ jti: { a: 1 } }))],
        ['htu of another server', await sign(claims({ htu: 'https://evil.example/token' }))],
        ['htu of another endpoint', await sign(claims({ htu: `${ISSUER}/introspect` }))],
        ['an iat of next year', await sign(claims({ iat: now + 365 * 86400 }))],
        ['an iat beyond all numbers', `${head}.${Buffer.from('{"jti":"a","htm":"POST","iat":1e400}').toString('base64url')}.${signature}`],
        ['a proof that was used before', good],
    ];
    for (const [what, proof] of cases)
        is(await type(proof), 'Bearer', `jose: ${what} is ignored (specification 4.4)`);
    is(await type(await sign(claims()), await sign(claims())), 'Bearer', 'jose: two good proofs in two headers are ignored (RFC 9449 4.3)');
    const ath = createHash('sha256').update('x').digest('base64url');
    is(await type(await sign(claims({ ath, nonce: 'unknown', aud: ISSUER }))), 'DPoP', 'jose: members that do not matter here are ignored');
}
