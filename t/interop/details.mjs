// oauth4webapi with authorization_details (RFC 9396) and resource (RFC 8707): client credentials, code, refresh, introspection.
// Settings: ISSUER, REDIRECT_URI, CLIENT_ID, CLIENT_SECRET, RESOURCE.
import { isDeepStrictEqual } from 'node:util';
import * as oauth from 'oauth4webapi';
import { Browser } from './browser.mjs';
import { is, ok, run } from './tap.mjs';

const { ISSUER, REDIRECT_URI, CLIENT_ID, CLIENT_SECRET, RESOURCE } = process.env;
const plain = { [oauth.allowInsecureRequests]: true };
const client = { client_id: CLIENT_ID }, auth = oauth.ClientSecretBasic(CLIENT_SECRET);
const pay = { type: 'payment', actions: ['initiate', 'status'], locations: [RESOURCE], amount: { currency: 'EUR', value: '123.50' } };
const log = { type: 'log' };
const less = { ...pay, actions: ['status'] };
const same = (seen, wanted, name) => ok(isDeepStrictEqual(seen, wanted), name, { seen, wanted });
const asked = (...entries) => new URLSearchParams({ authorization_details: JSON.stringify(entries), resource: RESOURCE });

async function refused(promise, code, name) {
    const error = await promise.then(() => undefined, error => error);
    ok(error instanceof oauth.ResponseBodyError && error.status === 400 && error.error === code, name, error);
    return error?.error_description ?? '';
}

await run(async () => {
    const issuer = new URL(ISSUER);
    const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, plain));
    ok(['payment', 'log'].every(type => as.authorization_details_types_supported.includes(type)),
       'oauth4webapi: the metadata lists the types (RFC 9396 10)', as.authorization_details_types_supported);

    const introspect = async token => oauth.processIntrospectionResponse(as, client, await oauth.introspectionRequest(as, client, auth, token, plain));
    const itself = async params => oauth.processClientCredentialsResponse(as, client, await oauth.clientCredentialsGrantRequest(as, client, auth, params, plain));
    const token = await itself(asked(pay, log));
    same(token.authorization_details, [pay, log], 'oauth4webapi: client_credentials: the response echoes the details (RFC 9396 7)');
    const shown = await introspect(token.access_token);
    same(shown.authorization_details, [pay, log], 'oauth4webapi: introspection shows them (RFC 9396 9.2)');
    is(shown.resource, RESOURCE, 'oauth4webapi: ... and the resource');
    const text = await refused(itself(asked(log, { type: 'payment', actions: ['delete'] })), 'invalid_authorization_details', 'oauth4webapi: an unlisted action is refused (RFC 9396 5)');
    ok(/authorization_details\[1\] of type 'payment', actions 'delete'/.test(text), 'oauth4webapi: ... with its place', text);
    await refused(itself(new URLSearchParams({ resource: 'https://other.example' })), 'invalid_target', 'oauth4webapi: a foreign resource is refused (RFC 8707 2)');

    const verifier = oauth.generateRandomCodeVerifier(), state = oauth.generateRandomState();
    const url = new URL(as.authorization_endpoint);
    for (const [name, value] of [...Object.entries({ client_id: CLIENT_ID, redirect_uri: REDIRECT_URI, response_type: 'code', code_challenge_method: 'S256',
                                                     code_challenge: await oauth.calculatePKCECodeChallenge(verifier), state }), ...asked(pay, log)])
        url.searchParams.set(name, value);
    const params = oauth.validateAuthResponse(as, client, await new Browser().follow(url.href, REDIRECT_URI), state);
    const redeem = async additionalParameters => oauth.processAuthorizationCodeResponse(as, client,
        await oauth.authorizationCodeGrantRequest(as, client, auth, params, REDIRECT_URI, verifier, { ...plain, additionalParameters }));
    await refused(redeem(asked({ ...pay, actions: ['initiate', 'delete'] })), 'invalid_authorization_details', 'oauth4webapi: a code gives no action that was not authorized');
    const tokens = await redeem(asked(less));
    same(tokens.authorization_details, [less], 'oauth4webapi: a code may be used for less than was authorized (RFC 9396 6)');
    same((await introspect(tokens.access_token)).authorization_details, [less], 'oauth4webapi: ... and introspection shows no more');

    const refresh = async additionalParameters => oauth.processRefreshTokenResponse(as, client,
        await oauth.refreshTokenGrantRequest(as, client, auth, tokens.refresh_token, { ...plain, additionalParameters }));
    same((await refresh()).authorization_details, [pay, log], 'oauth4webapi: a refresh gives what was authorized');
    same((await refresh(asked(log))).authorization_details, [log], 'oauth4webapi: ... or less');
    await refused(refresh(asked(log, log)), 'invalid_authorization_details', 'oauth4webapi: ... and no entry twice');
    await refused(refresh(new URLSearchParams({ resource: 'https://other.example' })), 'invalid_target', 'oauth4webapi: ... nor another resource (RFC 8707 2.2)');
});
