// Clients that sign assertions in place of a secret (private_key_jwt): `oauth4webapi` and the certified `openid-client`, each with
// RS256, PS256, ES256 and Ed25519, which `oauth4webapi` names as RFC 9864 does; Authlib's style of aud; and assertions of an
// attacker, made by `jose`. Settings: ISSUER, CLIENT_ID, KEY_DIR with NAME.pem, a PKCS#8 key for each name below.
import { readFileSync } from 'node:fs';
import * as jose from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { is, ok, run } from './tap.mjs';

const { ISSUER, CLIENT_ID, KEY_DIR } = process.env;
const plain = { [oauth.allowInsecureRequests]: true };
const algorithms = { RS256: 'rsa', PS256: 'rsa', ES256: 'ec', Ed25519: 'ed' };

await run(async () => {
    const as = await oauth.processDiscoveryResponse(new URL(ISSUER), await oauth.discoveryRequest(new URL(ISSUER), plain));
    for (const [alg, kid] of Object.entries(algorithms)) {
        ok(as.token_endpoint_auth_signing_alg_values_supported.includes(alg), `discovery names ${alg} (RFC 8414 2)`);
        const key = await jose.importPKCS8(readFileSync(`${KEY_DIR}/${kid}.pem`, 'utf8'), alg);
        await strict(as, alg, { key, kid });
        await certified(alg, { key, kid });
    }
    await hostile();
});

// oauth4webapi: token, introspection and revocation, each with an assertion of its own.
async function strict(as, alg, key) {
    const us = { client_id: CLIENT_ID };
    const auth = oauth.PrivateKeyJwt(key);
    const tokens = await oauth.processClientCredentialsResponse(as, us, await oauth.clientCredentialsGrantRequest(as, us, auth, { scope: 'introspection' }, plain));
    ok(tokens.access_token, `oauth4webapi: ${alg}: an assertion gives a token`);
    const shown = await oauth.processIntrospectionResponse(as, us, await oauth.introspectionRequest(as, us, auth, tokens.access_token, plain));
    is([shown.active, shown.client_id], [true, CLIENT_ID], `oauth4webapi: ${alg}: ... introspects it`);
    await oauth.processRevocationResponse(await oauth.revocationRequest(as, us, auth, tokens.access_token, plain));
    const gone = await oauth.processIntrospectionResponse(as, us, await oauth.introspectionRequest(as, us, auth, tokens.access_token, plain));
    is(gone.active, false, `oauth4webapi: ${alg}: ... and revokes it`);

    const to = (aud) => oauth.PrivateKeyJwt(key, { [oauth.modifyAssertion]: (_header, claims) => { claims.aud = aud; } });
    const ask = (how) => oauth.clientCredentialsGrantRequest(as, us, how, {}, plain);
    const refused = async (how, name) => {
        const answer = await ask(how);
        is([answer.status, (await answer.json()).error], [401, 'invalid_client'], `oauth4webapi: ${alg}: ${name} is invalid_client`);
    };
    ok((await ask(to(as.token_endpoint))).ok, `oauth4webapi: ${alg}: the token endpoint as aud, as Authlib and Spring send it (oauth.md J6)`);
    await refused(to('https://other.example'), 'another server as aud');
    const once = oauth.PrivateKeyJwt(key, { [oauth.modifyAssertion]: (_header, claims) => { claims.jti = `once-${alg}`; } });
    ok((await ask(once)).ok, `oauth4webapi: ${alg}: a jti is good once`);
    await refused(once, 'the second use of a jti (oauth.md J7)');
    const stranger = await jose.generateKeyPair(alg);
    await refused(oauth.PrivateKeyJwt({ key: stranger.privateKey, kid: key.kid }), "a stranger's key with the right kid");
}

async function certified(alg, key) {
    const config = await client.discovery(new URL(ISSUER), CLIENT_ID, undefined, client.PrivateKeyJwt(key), { execute: [client.allowInsecureRequests] });
    const tokens = await client.clientCredentialsGrant(config, { scope: 'introspection' });
    ok(tokens.access_token, `openid-client: ${alg}: an assertion gives a token`);
    ok((await client.tokenIntrospection(config, tokens.access_token)).active, `openid-client: ${alg}: ... introspects it`);
    await client.tokenRevocation(config, tokens.access_token);
    ok(!(await client.tokenIntrospection(config, tokens.access_token)).active, `openid-client: ${alg}: ... and revokes it`);
}

// ---- assertions that only an attacker makes

async function hostile() {
    const pem = readFileSync(`${KEY_DIR}/ec.pem`, 'utf8'), key = await jose.importPKCS8(pem, 'ES256', { extractable: true });
    const jwk = await jose.exportJWK(key), { d, ...open } = jwk, now = Math.floor(Date.now() / 1000);
    const stranger = await jose.generateKeyPair('ES256', { extractable: true }), theirs = await jose.exportJWK(stranger.publicKey);
    const claims = (more) => ({ iss: CLIENT_ID, sub: CLIENT_ID, aud: ISSUER, jti: crypto.randomUUID(), iat: now, exp: now + 60, ...more });
    const sign = (payload, header, by = key) => new jose.SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'ec', ...header }).sign(by);
    const b64 = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const secret = new TextEncoder().encode(await jose.exportSPKI(await jose.importJWK({ ...open, alg: 'ES256' }, 'ES256', { extractable: true })));
    const ask = async (assertion) => {
        const answer = await fetch(`${ISSUER}/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials',
            client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', client_assertion: assertion }) });
        return [answer.status, (await answer.json()).error];
    };
    const good = await sign(claims()), [head, body, signature] = good.split('.');
    is(await ask(good), [200, undefined], 'jose: a good assertion');
    const cases = [
        ['alg none without signature', `${b64({ alg: 'none', kid: 'ec' })}.${b64(claims())}.`],
        ['alg none with a signature', `${b64({ alg: 'none', kid: 'ec' })}.${b64(claims())}.${signature}`],
        ['HS256 with the text of the public key as its secret', await sign(claims(), { alg: 'HS256' }, secret)],
        ["a stranger's key in jwk", await sign(claims(), { jwk: theirs }, stranger.privateKey)],
        ["a stranger's key at jku", await sign(claims(), { jku: 'https://evil.example/jwks' }, stranger.privateKey)],
        ["a stranger's key under a kid of its own", await sign(claims(), { kid: 'mine', jwk: theirs }, stranger.privateKey)],
        ['the kid of an RSA key', await sign(claims(), { kid: 'rsa' })],
        ['the claims of another assertion', `${head}.${b64(claims())}.${signature}`],
        ['the header of another assertion', `${b64({ alg: 'ES256', kid: 'ec', x: 1 })}.${body}.${signature}`],
        ['a signature of zeros', `${head}.${b64(claims())}.${Buffer.alloc(64).toString('base64url')}`],
        ['an unknown crit', `${b64({ alg: 'ES256', kid: 'ec', crit: ['x'], x: 1 })}.${b64(claims())}.${signature}`],
        ['a DPoP proof', await sign(claims({ htm: 'POST', htu: `${ISSUER}/token` }), { typ: 'dpop+jwt', jwk: open })],
        ['the type of an access token', await sign(claims(), { typ: 'at+jwt' })],
        ['the type of a logout token', await sign(claims(), { typ: 'logout+jwt' })],
        ['the issuer of another', await sign(claims({ iss: 'https://evil.example' }))],
        ['the name of another client', await sign(claims({ iss: 'nobody', sub: 'nobody' }))],
        ['two audiences', await sign(claims({ aud: [ISSUER, 'https://evil.example'] }))],
        ['no audience', await sign(claims({ aud: undefined }))],
        ['no jti', await sign(claims({ jti: undefined }))],
        ['no end', await sign(claims({ exp: undefined }))],
        ['an end in the past', await sign(claims({ iat: now - 120, exp: now - 60 }))],
        ['an end after two hours', await sign(claims({ exp: now + 7200 }))],
        ['an iat of tomorrow', await sign(claims({ iat: now + 86400, exp: now + 86460 }))],
        ['padding', `${await sign(claims())}=`],
        ['the JSON form', JSON.stringify({ payload: body, protected: head, signature })],
        ['the second use of a good one', good],
    ];
    for (const [name, assertion] of cases) is(await ask(assertion), [401, 'invalid_client'], `jose: ${name} is invalid_client (oauth.md J2 to J7)`);
    is((await ask(await sign(claims())))[0], 200, 'jose: ... and a good one is good after all that');
}
