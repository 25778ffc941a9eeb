// Backchannel authentication by `oauth4webapi`: request, polls, approval and denial. Settings: ISSUER, CLIENT_ID, CLIENT_SECRET,
// COOKIE (the session of the person, alice).
import * as oauth from 'oauth4webapi';
import { is, ok, run } from './tap.mjs';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, COOKIE } = process.env;
const plain = { [oauth.allowInsecureRequests]: true };
const client = { client_id: CLIENT_ID };
const auth = oauth.ClientSecretBasic(CLIENT_SECRET);

await run(async () => {
    const issuer = new URL(ISSUER);
    const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, plain));
    is(as.backchannel_token_delivery_modes_supported, ['poll'], 'oauth4webapi: discovery advertises poll mode (CIBA Core 4)');
    ok(as.grant_types_supported.includes('urn:openid:params:grant-type:ciba'), 'oauth4webapi: ... and the grant');

    const first = await begin(as, { login_hint: 'alice@example.org', scope: 'openid', binding_message: 'W4SCT' });
    is(Object.keys(first).sort(), ['auth_req_id', 'expires_in', 'interval'], 'oauth4webapi: the answer has what CIBA Core 7.3 names');
    is(await refusal(poll(as, first)), 'authorization_pending', 'oauth4webapi: a poll before the answer (CIBA Core 11)');
    is(await refusal(poll(as, first)), 'slow_down', 'oauth4webapi: ... and one that comes too early');
    await answer('approve');
    const tokens = await poll(as, first);
    const claims = oauth.getValidatedIdTokenClaims(tokens);
    is([claims.sub, claims.acr, claims.amr, typeof claims.auth_time], ['alice', 'urn:loa:2', ['pwd'], 'number'], 'oauth4webapi: the ID token is of the person, and of how she signed in');
    ok(tokens.refresh_token, 'oauth4webapi: ... with a refresh token');
    await oauth.processRefreshTokenResponse(as, client, await oauth.refreshTokenGrantRequest(as, client, auth, tokens.refresh_token, plain));
    is(await refusal(poll(as, first)), 'invalid_grant', 'oauth4webapi: the auth_req_id is good once');

    const second = await begin(as, { login_hint: 'alice', scope: 'openid', requested_expiry: '60' });
    is(second.expires_in, 60, 'oauth4webapi: requested_expiry is honoured (CIBA Core 7.1)');
    await answer('deny');
    is(await refusal(poll(as, second)), 'access_denied', 'oauth4webapi: a denial');
    is(await refusal(begin(as, { login_hint: 'nobody', scope: 'openid' })), 'unknown_user_id', 'oauth4webapi: a hint that leads to nobody (CIBA Core 13)');
});

async function begin(as, parameters) {
    const response = await oauth.backchannelAuthenticationRequest(as, client, auth, parameters, plain);
    return oauth.processBackchannelAuthenticationResponse(as, client, response);
}

async function poll(as, { auth_req_id }) {
    const response = await oauth.backchannelAuthenticationGrantRequest(as, client, auth, auth_req_id, plain);
    const tokens = await oauth.processBackchannelAuthenticationGrantResponse(as, client, response);
    await oauth.validateApplicationLevelSignature(as, response, plain);
    return tokens;
}

async function refusal(promise) {
    try {
        await promise;
    } catch (error) {
        return error.error ?? String(error);
    }
    return 'none';
}

// The person presses a button of the page.
async function answer(decision) {
    const headers = { Cookie: COOKIE };
    const page = await (await fetch(`${ISSUER}/authorize/ciba`, { headers })).text();
    const form = new URLSearchParams({ decision });
    for (const [, name, value] of page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)) form.set(name, value);
    const done = await fetch(`${ISSUER}/authorize/ciba`, { method: 'POST', headers, body: form, redirect: 'manual' });
    is(done.status, 302, `the person presses ${decision}`);
}
