// Token exchange (RFC 8693) as oauth4webapi asks for it, and ID tokens that jose made: good ones of every algorithm, and hostile
// ones. The script is the issuer of these tokens. Settings: ISSUER, PORT (of the issuer here), WEB and GATE (clients, id:secret).
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { CompactEncrypt, CompactSign, exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import { fails, is, ok, run } from './tap.mjs';

const { ISSUER, PORT, WEB, GATE } = process.env;
const plain = { [oauth.allowInsecureRequests]: true };
const here = `http://127.0.0.1:${PORT}`;
const grant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const type = (name) => `urn:ietf:params:oauth:token-type:${name}`;
const signature = /Subject token signature verification failed/, malformed = /Subject token is malformed/;
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

await run(async () => {
    const pairs = {};
    for (const alg of algorithms) pairs[alg] = await generateKeyPair(alg, { extractable: true });
    const keys = await Promise.all(algorithms.map(async (alg) => ({ ...(await exportJWK(pairs[alg].publicKey)), kid: alg, alg, use: 'sig' })));
    createServer((request, response) => {
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify(request.url === '/jwks' ? { keys } : { issuer: here, jwks_uri: `${here}/jwks` }));
    }).listen(PORT, '127.0.0.1');

    const as = await oauth.processDiscoveryResponse(new URL(ISSUER), await oauth.discoveryRequest(new URL(ISSUER), plain));
    ok(as.grant_types_supported.includes(grant), 'oauth4webapi: discovery advertises the grant');
    const [web, gate] = [WEB, GATE].map((text) => ({ client_id: text.split(':')[0], auth: oauth.ClientSecretPost(text.split(':')[1]) }));
    const exchange = async (token, kind, more = {}) => {
        const parameters = { subject_token: token, subject_token_type: type(kind), scope: 'orders.read', ...more };
        const answer = await oauth.genericTokenEndpointRequest(as, gate, gate.auth, grant, parameters, plain);
        return oauth.processGenericTokenEndpointResponse(as, gate, answer);
    };

    // ---- an access token

    const own = await oauth.processClientCredentialsResponse(as, web, await oauth.clientCredentialsGrantRequest(as, web, web.auth, { scope: 'orders.read' }, plain));
    const tokens = await exchange(own.access_token, 'access_token');
    is([tokens.token_type, tokens.issued_token_type, tokens.scope, tokens.refresh_token], ['bearer', type('access_token'), 'orders.read', undefined],
        'oauth4webapi: an access token is exchanged (RFC 8693 2.2.1)');
    const facts = await oauth.processIntrospectionResponse(as, gate, await oauth.introspectionRequest(as, gate, gate.auth, tokens.access_token, plain));
    is([facts.active, facts.sub, facts.client_id, facts.act], [true, web.client_id, gate.client_id, { sub: gate.client_id }],
        'oauth4webapi: introspection shows subject, client and actor');
    await fails(() => exchange(own.access_token, 'access_token', { scope: 'orders.write' }), /invalid_scope/, 'oauth4webapi: a wider scope');
    await fails(() => exchange(own.access_token, 'jwt'), /invalid_request/, 'oauth4webapi: another kind of token');
    await fails(() => exchange(own.access_token, 'id_token'), malformed, 'oauth4webapi: an access token under the name of an ID token');

    // ---- ID tokens

    const jwt = (alg, header = {}, claims = {}) =>
        new SignJWT({ ...claims }).setProtectedHeader({ alg, kid: alg, typ: 'JWT', ...header }).setIssuer(here).setSubject('ann').setAudience('app')
            .setIssuedAt().setExpirationTime('5m');
    for (const alg of algorithms)
        is((await exchange(await jwt(alg).sign(pairs[alg].privateKey), 'id_token')).issued_token_type, type('access_token'), `jose: an ID token by ${alg}`);
    const refused = (token, pattern, name) => fails(() => exchange(token, 'id_token'), pattern, `jose: ${name}`);

    const good = await jwt('ES256').sign(pairs.ES256.privateKey);
    const [head, body, mark] = good.split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url'));
    const stranger = await generateKeyPair('RS256', { extractable: true });
    const jwk = await exportJWK(stranger.publicKey);
    await refused(await jwt('RS256').sign(stranger.privateKey), signature, 'signed by a stranger');
    await refused(await jwt('RS256', { jwk }).sign(stranger.privateKey), signature, '... with the key in the header');
    await refused(await jwt('RS256', { jku: `${here}/jwks`, kid: 'other' }).sign(stranger.privateKey), signature, '... with an address of keys in the header');
    await refused(await jwt('RS256', { kid: 'ES256' }).sign(pairs.RS256.privateKey), signature, 'the kid of another key');
    await refused(await jwt('RS512', { kid: 'RS256' }).sign(pairs.RS512.privateKey), signature, 'another algorithm than that of the key');
    for (const secret of [await exportSPKI(pairs.RS256.publicKey), JSON.stringify(keys[0]), keys[0].n, ''])
        await refused(hmac(secret), signature, `HS256 with the public key for a secret, ${secret.length} characters`);
    await refused(new UnsecuredJWT({}).setIssuer(here).setSubject('ann').setExpirationTime('5m').encode(), malformed, 'an unsecured JWT');
    const altered = Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url');
    await refused(`${head}.${altered}.${mark}`, signature, 'another sub under a good signature');
    await refused(`${head}.${body}.${'A'.repeat(86)}`, signature, 'a signature of zeros (CVE-2022-21449)');
    await refused(`${head}.${body}.`, malformed, 'no signature');
    await refused(`${good}.`, malformed, 'a fourth part');
    const whole = new TextEncoder().encode(JSON.stringify(claims));
    await refused(await new CompactSign(whole).setProtectedHeader({ alg: 'ES256', kid: 'ES256', b64: true, crit: ['b64'] }).sign(pairs.ES256.privateKey), malformed, 'crit');
    const jwe = await new CompactEncrypt(whole).setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM' }).encrypt((await generateKeyPair('RSA-OAEP-256')).publicKey);
    await refused(jwe, malformed, 'an encrypted JWT');
    await refused(await jwt('RS256').setExpirationTime('-1s').sign(pairs.RS256.privateKey), /Subject token expired/, 'an expired one');
    await refused(await jwt('RS256').setNotBefore('10m').sign(pairs.RS256.privateKey), /not valid yet/, 'one that is not valid yet');
    await refused(await jwt('RS256').setIssuer(`${here}/`).sign(pairs.RS256.privateKey), /issuer is not trusted/, 'a slash more in the issuer');
    await refused(await jwt('RS256', { typ: 'at+jwt' }).sign(pairs.RS256.privateKey), /not an ID token/, 'an access token (RFC 9068)');
    await refused(await jwt('RS256', { typ: 'logout+jwt' }).sign(pairs.RS256.privateKey), /not an ID token/, 'a logout token');
    await refused(await jwt('RS256', {}, { act: 'gate' }).sign(pairs.RS256.privateKey), malformed, 'an act claim that is no object');

    function hmac(secret) {
        const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: 'RS256', typ: 'JWT' })).toString('base64url');
        const text = `${header}.${body}`;
        return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    }
});
