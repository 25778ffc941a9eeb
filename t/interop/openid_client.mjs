// The certified relying party `openid-client`: discovery, code flow with PKCE, state and nonce, userinfo, refresh, revocation,
// introspection, logout. It verifies the signature of each ID token by the key set. Settings: ISSUER, CLIENT_ID, CLIENT_SECRET
// ("" for a public client), ALG (the only algorithm of ID tokens that it accepts), REDIRECT_URI, POST_LOGOUT_URI.
import * as client from 'openid-client';
import { Browser } from './browser.mjs';
import { fails, is, ok, run } from './tap.mjs';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, ALG, REDIRECT_URI, POST_LOGOUT_URI } = process.env;

await run(async () => {
    const auth = CLIENT_SECRET ? client.ClientSecretBasic(CLIENT_SECRET) : client.None();
    const metadata = { client_secret: CLIENT_SECRET || undefined, id_token_signed_response_alg: ALG };
    const config = await client.discovery(new URL(ISSUER), CLIENT_ID, metadata, auth, { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] });
    ok(config.serverMetadata().id_token_signing_alg_values_supported.includes(ALG), `openid-client: ${ALG} is advertised (OpenID Connect Discovery 3)`);
    is(config.serverMetadata().issuer, ISSUER, 'openid-client: discovery gives the issuer byte for byte (OpenID Connect Discovery 4.3)');
    ok(config.serverMetadata().supportsPKCE('S256'), 'openid-client: S256 is advertised (RFC 8414)');

    const browser = new Browser();
    const code_verifier = client.randomPKCECodeVerifier(), state = client.randomState(), nonce = client.randomNonce();
    const parameters = { redirect_uri: REDIRECT_URI, scope: 'openid profile email', code_challenge: await client.calculatePKCECodeChallenge(code_verifier),
                         code_challenge_method: 'S256', state, nonce, max_age: '3600' };
    const back = await browser.follow(client.buildAuthorizationUrl(config, parameters).href, REDIRECT_URI);
    const tokens = await client.authorizationCodeGrant(config, back, { pkceCodeVerifier: code_verifier, expectedState: state, expectedNonce: nonce, maxAge: 3600, idTokenExpected: true });
    const claims = tokens.claims();
    ok(tokens.access_token && tokens.id_token, 'openid-client: the code gives tokens, and the ID token stands every check of the library (nonce, aud, at_hash, auth_time)');
    is(JSON.parse(Buffer.from(tokens.id_token.split('.')[0], 'base64url')).alg, ALG, `openid-client: ... signed by ${ALG}`);
    is([claims.aud, claims.iss].flat(), [CLIENT_ID, ISSUER], 'openid-client: aud and iss of the ID token');
    is(tokens.scope?.split(' ').sort(), ['email', 'openid', 'profile'], 'openid-client: the granted scope is said (gateway-admin 1.3)');
    const user = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
    ok(user.sub === claims.sub && user.email && user.name, 'openid-client: userinfo of the same sub, with name and email', user);

    await fails(() => client.authorizationCodeGrant(config, back, { pkceCodeVerifier: code_verifier, expectedState: state, expectedNonce: nonce }), /invalid_grant/,
        'openid-client: the code works once (RFC 6749 4.1.2)');
    await fails(() => client.fetchUserInfo(config, tokens.access_token, claims.sub), /401|invalid_token/, 'openid-client: ... and its replay ends the tokens it gave (RFC 9700 4.13)');

    // Signed in already: the second authorization shows no page, also with prompt=none.
    const again = await authorize(config, browser, { prompt: 'none' });
    ok(again.access_token && again.claims().sub === claims.sub, 'openid-client: prompt=none with a live session gives the same person (OpenID Connect Core 3.1.2.1)');
    const stranger = client.buildAuthorizationUrl(config, { ...parameters, prompt: 'none' }).href;
    const refusal = await new Browser().follow(stranger, REDIRECT_URI);
    await fails(() => client.authorizationCodeGrant(config, refusal, { pkceCodeVerifier: code_verifier, expectedState: state, expectedNonce: nonce }), /login_required/,
        'openid-client: prompt=none without a session is login_required');

    const refreshed = await client.refreshTokenGrant(config, again.refresh_token);
    ok(refreshed.access_token !== again.access_token && refreshed.claims()?.sub === claims.sub, 'openid-client: a refresh gives a new access token and an ID token of the same sub (OpenID Connect Core 12.2)');
    if (CLIENT_SECRET) {
        const seen = await client.tokenIntrospection(config, refreshed.access_token);
        ok(seen.active && seen.sub === claims.sub, 'openid-client: introspection shows the token (RFC 7662)', seen);
    }
    const last = refreshed.refresh_token ?? again.refresh_token;
    await client.tokenRevocation(config, last);
    await fails(() => client.refreshTokenGrant(config, last), /invalid_grant/, 'openid-client: a revoked refresh token is dead (RFC 7009)');
    await fails(() => client.fetchUserInfo(config, refreshed.access_token, claims.sub), /401|invalid_token/, 'openid-client: ... and so are the access tokens of its family (RFC 7009 2.1)');

    const out = client.buildEndSessionUrl(config, { post_logout_redirect_uri: POST_LOGOUT_URI, id_token_hint: again.id_token, state: 'bye' });
    const left = await browser.follow(out.href, POST_LOGOUT_URI);
    is(left.searchParams.get('state'), 'bye', 'openid-client: logout comes back with state (OpenID Connect RP-Initiated Logout 2)');
    const gone = await browser.follow(client.buildAuthorizationUrl(config, { ...parameters, prompt: 'none' }).href, REDIRECT_URI);
    is(gone.searchParams.get('error'), 'login_required', 'openid-client: ... and the session is over');
});

async function authorize(config, browser, more) {
    const code_verifier = client.randomPKCECodeVerifier(), state = client.randomState();
    const url = client.buildAuthorizationUrl(config, { redirect_uri: REDIRECT_URI, scope: 'openid email', state, code_challenge_method: 'S256',
                                                       code_challenge: await client.calculatePKCECodeChallenge(code_verifier), ...more });
    const back = await browser.follow(url.href, REDIRECT_URI);
    return client.authorizationCodeGrant(config, back, { pkceCodeVerifier: code_verifier, expectedState: state, idTokenExpected: true });
}
