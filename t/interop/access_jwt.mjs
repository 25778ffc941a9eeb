// JWT access tokens as resource servers of others verify them: `oauth4webapi` by RFC 9068 with the key set of the issuer, and `jose`.
// Settings: ISSUER, CLIENT_ID, CLIENT_SECRET, AUDIENCE (a named resource, by ES256), RSA (one by RS256), OTHER (a resource without).
import * as jose from 'jose';
import * as oauth from 'oauth4webapi';
import { fails, is, ok, run } from './tap.mjs';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, AUDIENCE, RSA, OTHER } = process.env;
const plain = { [oauth.allowInsecureRequests]: true };

await run(async () => {
    const as = await oauth.processDiscoveryResponse(new URL(ISSUER), await oauth.discoveryRequest(new URL(ISSUER), plain));
    const client = { client_id: CLIENT_ID };
    const token = async (resource) => {
        const answer = await oauth.clientCredentialsGrantRequest(
            as, client, oauth.ClientSecretBasic(CLIENT_SECRET), { scope: 'orders.read', resource }, plain);
        return (await oauth.processClientCredentialsResponse(as, client, answer)).access_token;
    };
    const judge = (text, audience) => oauth.validateJwtAccessToken(
        as, new Request(AUDIENCE, { headers: { authorization: `Bearer ${text}` } }), audience, plain);

    const keys = jose.createRemoteJWKSet(new URL(as.jwks_uri));
    for (const resource of [AUDIENCE, RSA]) {
        const text = await token(resource);
        const claims = await judge(text, resource);
        is([claims.iss, claims.sub, claims.client_id, claims.scope], [ISSUER, CLIENT_ID, CLIENT_ID, 'orders.read'],
            `oauth4webapi: a token for ${resource} is good (RFC 9068 4)`);
        const { protectedHeader } = await jose.jwtVerify(text, keys, { issuer: ISSUER, audience: resource, typ: 'at+jwt' });
        ok(protectedHeader.alg === (resource === RSA ? 'RS256' : 'ES256'), `jose: ... by ${protectedHeader.alg}, with the key of its kid`);
        await fails(() => judge(text, OTHER), /aud/, 'oauth4webapi: ... and for another audience it is not');
    }
    const opaque = await token(OTHER);
    await fails(() => judge(opaque, OTHER), /./, 'oauth4webapi: an opaque token is refused by a reader of JWTs (T3)');
});
