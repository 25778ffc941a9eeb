// npm `oidc-provider` as the authorization server of an upstream of the gateway: private_key_jwt, client_credentials, and token
// exchange (RFC 8693) for persons of another server, whose tokens it introspects there with `oauth4webapi`. /api shows what a
// token says. Settings: PORT, ISSUER, CLIENT_ID and CLIENT_SECRET (there), CLIENTS (ours here, with their keys).
import http from 'node:http';
import * as oauth from 'oauth4webapi';
import Provider, { errors } from 'oidc-provider';

const { PORT, ISSUER, CLIENT_ID, CLIENT_SECRET, CLIENTS } = process.env;
const here = `http://127.0.0.1:${PORT}`;
const grant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const type = 'urn:ietf:params:oauth:token-type:access_token';
const algs = ['RS256', 'PS256', 'ES256', 'EdDSA'];

const provider = new Provider(here, {
    clients: JSON.parse(CLIENTS).map(({ id, jwks, alg }) => ({
        client_id: id, jwks, token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_signing_alg: alg,
        grant_types: ['client_credentials', grant], redirect_uris: [], response_types: [], scope: 'orders.read',
    })),
    scopes: ['orders.read'],
    clientAuthMethods: ['private_key_jwt'],
    enabledJWA: { clientAuthSigningAlgValues: algs },
    features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true } },
    ttl: { AccessToken: 600, ClientCredentials: 600, Grant: 600 },
    findAccount: async (ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
});

// Ask the server of the person what the token says. It must be made for us.
async function person(token) {
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(ISSUER);
    const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }));
    const client = { client_id: CLIENT_ID };
    const answer = await oauth.introspectionRequest(as, client, oauth.ClientSecretBasic(CLIENT_SECRET), token, insecure);
    const about = await oauth.processIntrospectionResponse(as, client, answer);
    return about.active && [about.aud].flat().includes(here) ? about : undefined;
}

provider.registerGrantType(grant, async (ctx) => {
    const { params, client } = ctx.oidc;
    const about = params.subject_token_type === type ? await person(params.subject_token) : undefined;
    if (!about) throw new errors.InvalidGrant('the subject token is not active, or not for this server');
    const account = new provider.Grant({ accountId: about.sub, clientId: client.clientId });
    account.addOIDCScope(params.scope);
    const token = new provider.AccessToken({ accountId: about.sub, client, grantId: await account.save(), scope: params.scope, gty: 'token_exchange' });
    ctx.oidc.entity('AccessToken', token);
    ctx.body = { access_token: await token.save(), issued_token_type: type, token_type: token.tokenType, expires_in: token.expiration, scope: token.scope };
}, ['subject_token', 'subject_token_type', 'requested_token_type', 'scope']);

async function api(req, res) {
    const text = (req.headers.authorization ?? '').replace(/^Bearer /, '');
    const found = await provider.AccessToken.find(text) ?? await provider.ClientCredentials.find(text);
    res.writeHead(found ? 200 : 401, { 'content-type': 'application/json' });
    res.end(JSON.stringify(found ? { sub: found.accountId, client: found.clientId, scope: found.scope } : { error: 'invalid_token' }));
}

const callback = provider.callback();
provider.on('server_error', (ctx, error) => console.error(error));
provider.on('grant.error', (ctx, error) => console.error(error.message, error.error_detail ?? ''));
http.createServer((req, res) => (req.url.startsWith('/api') ? api(req, res) : callback(req, res)))
    .listen(Number(PORT), '127.0.0.1', () => console.log('listening'));
