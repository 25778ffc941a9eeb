// The strictest scripted client, `oauth4webapi`: discovery by both documents, dynamic registration, code flow with PKCE, iss
// check (RFC 9207), refresh with rotation, userinfo. Settings: ISSUER, REDIRECT_URI.
import * as oauth from 'oauth4webapi';
import { Browser } from './browser.mjs';
import { is, ok, run } from './tap.mjs';

const { ISSUER, REDIRECT_URI } = process.env;
const plain = { [oauth.allowInsecureRequests]: true };

await run(async () => {
    const issuer = new URL(ISSUER);
    for (const algorithm of ['oidc', 'oauth2']) {
        const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm, ...plain }));
        is(as.authorization_response_iss_parameter_supported, true, `oauth4webapi: the ${algorithm} document is taken and advertises iss (RFC 9207 3)`);
        await flow(as, algorithm === 'oidc' ? 'none' : 'client_secret_post');
    }
});

async function flow(as, method) {
    const metadata = { client_name: `oauth4webapi ${method}`, redirect_uris: [REDIRECT_URI], grant_types: ['authorization_code', 'refresh_token'],
                       response_types: ['code'], token_endpoint_auth_method: method };
    const client = await oauth.processDynamicClientRegistrationResponse(await oauth.dynamicClientRegistrationRequest(as, metadata, plain));
    ok(client.client_id && Number.isInteger(client.client_id_issued_at), `oauth4webapi: a ${method} client registers itself (RFC 7591)`, client);
    is(client.client_secret !== undefined, method !== 'none', `oauth4webapi: ... and has ${method === 'none' ? 'no ' : 'a '}secret`);
    const auth = method === 'none' ? oauth.None() : oauth.ClientSecretPost(client.client_secret);

    const verifier = oauth.generateRandomCodeVerifier(), state = oauth.generateRandomState(), nonce = oauth.generateRandomNonce();
    const url = new URL(as.authorization_endpoint);
    for (const [name, value] of Object.entries({ client_id: client.client_id, redirect_uri: REDIRECT_URI, response_type: 'code', scope: 'openid profile',
                                                 code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256', state, nonce }))
        url.searchParams.set(name, value);
    const back = await new Browser().follow(url.href, REDIRECT_URI);
    const params = oauth.validateAuthResponse(as, client, back, state);
    ok(params.get('iss') === as.issuer, `oauth4webapi: ${method}: iss of the response is the issuer (RFC 9207 2.4)`);
    const answer = await oauth.authorizationCodeGrantRequest(as, client, auth, params, REDIRECT_URI, verifier, plain);
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, { expectedNonce: nonce, requireIdToken: true });
    await oauth.validateApplicationLevelSignature(as, answer, plain);
    ok(tokens.id_token, `oauth4webapi: ${method}: the ID token's signature verifies by the published keys`);
    const sub = oauth.getValidatedIdTokenClaims(tokens).sub;
    const user = await oauth.processUserInfoResponse(as, client, sub, await oauth.userInfoRequest(as, client, tokens.access_token, plain));
    ok(user.name && !user.email, `oauth4webapi: ${method}: userinfo gives what the scope allows and no more`, user);
    const refreshed = await oauth.processRefreshTokenResponse(as, client, await oauth.refreshTokenGrantRequest(as, client, auth, tokens.refresh_token, plain));
    is(refreshed.refresh_token !== undefined && refreshed.refresh_token !== tokens.refresh_token, method === 'none', `oauth4webapi: ${method}: a refresh token is ${method === 'none' ? '' : 'not '}rotated (decisions.md "Tokens")`);
}
