// Clients that sign assertions in place of a secret (private_key_jwt): `oauth4webapi` and the certified `openid-client`, each with
// RS256, PS256, ES256 and Ed25519, which `oauth4webapi` names as RFC 9864 does; and Authlib's style of aud. Settings: ISSUER,
// CLIENT_ID, KEY_DIR with NAME.pem, a PKCS#8 key for each name below.
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
