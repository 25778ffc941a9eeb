// `oidc-client-ts`, the library of single-page applications, as a public client: discovery, code flow with PKCE, userinfo, silent
// sign-in, refresh, revocation, logout. Its own store is in memory in place of that of a browser. Settings: ISSUER, CLIENT_ID, REDIRECT_URI, POST_LOGOUT_URI.
import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from 'oidc-client-ts';
import { Browser } from './browser.mjs';
import { fails, is, ok, run } from './tap.mjs';

const { ISSUER, CLIENT_ID, REDIRECT_URI, POST_LOGOUT_URI } = process.env;
const client = new OidcClient({
    authority: ISSUER, client_id: CLIENT_ID, redirect_uri: REDIRECT_URI, post_logout_redirect_uri: POST_LOGOUT_URI,
    scope: 'openid profile email', loadUserInfo: true, stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
});

// Sign in with a browser. Return the library's answer.
async function signIn(browser, more = {}) {
    const { url } = await client.createSigninRequest({ state: { page: '/orders' }, ...more });
    return client.processSigninResponse((await browser.follow(url, REDIRECT_URI)).href);
}

await run(async () => {
    const browser = new Browser();
    const first = await signIn(browser);
    ok(first.access_token && first.id_token, 'oidc-client-ts: the code gives tokens', first);
    ok(first.profile.email && first.profile.name, 'oidc-client-ts: userinfo is joined', first.profile);
    is(first.userState, { page: '/orders' }, 'oidc-client-ts: the state of the application comes back');
    const silent = await signIn(browser, { prompt: 'none', id_token_hint: first.id_token, request_type: 'si:s' });
    is(silent.profile.sub, first.profile.sub, 'oidc-client-ts: a silent sign-in gives the same person (OpenID Connect Core 3.1.2.1)');
    await fails(() => signIn(new Browser(), { prompt: 'none', request_type: 'si:s' }), /login_required/, 'oidc-client-ts: ... and login_required without a session');
    const fresh = await client.useRefreshToken({ state: { ...silent, profile: silent.profile, data: undefined, session_state: null } });
    ok(fresh.access_token && fresh.access_token !== silent.access_token, 'oidc-client-ts: a refresh gives another access token');
    ok(fresh.refresh_token && fresh.refresh_token !== silent.refresh_token, 'oidc-client-ts: ... and another refresh token (RFC 9700 4.14)');
    await client.revokeToken(fresh.refresh_token, 'refresh_token');
    await fails(() => client.useRefreshToken({ state: { ...fresh, profile: silent.profile, data: undefined, session_state: null } }), /invalid_grant/,
        'oidc-client-ts: a revoked refresh token is dead (RFC 7009)');
    const { url } = await client.createSignoutRequest({ id_token_hint: silent.id_token, state: 'bye' });
    const left = await browser.follow(url, POST_LOGOUT_URI);
    is((await client.processSignoutResponse(left.href)).error, null, 'oidc-client-ts: logout comes back (OpenID Connect RP-Initiated Logout 2)');
    await fails(() => signIn(browser, { prompt: 'none', request_type: 'si:s' }), /login_required/, 'oidc-client-ts: ... and the session is over');
});
