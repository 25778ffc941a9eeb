// npm `oidc-provider` as the upstream identity provider: one client (CLIENT_ID, CLIENT_SECRET, REDIRECT_URI) and people who
// sign in without a page: the account is the login_hint, else alice. Settings: PORT and these.
import http from 'node:http';
import Provider from 'oidc-provider';

const { PORT, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, POST_LOGOUT_URI } = process.env;
const issuer = `http://127.0.0.1:${PORT}`;
const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [REDIRECT_URI], post_logout_redirect_uris: POST_LOGOUT_URI ? [POST_LOGOUT_URI] : [],
                grant_types: ['authorization_code'], response_types: ['code'], id_token_signed_response_alg: process.env.ALG || 'RS256' }],
    claims: { openid: ['sub'], profile: ['name', 'preferred_username'], email: ['email', 'email_verified'], acr: null, auth_time: null, amr: null },
    acrValues: ['urn:loa:1', 'urn:loa:2'],
    cookies: { keys: ['a key of the tests'] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: async (ctx, id) => ({
        accountId: id,
        claims: async () => ({ sub: id, name: `${id} of oidc-provider`, preferred_username: id, email: `${id}@idp.example`, email_verified: true }),
    }),
    ttl: { Session: 3600, Grant: 3600, Interaction: 600, AccessToken: 600, IdToken: 600 },
});

// The pages a person would see are answered at once.
async function interact(req, res) {
    const { prompt, params, session } = await provider.interactionDetails(req, res);
    if (prompt.name === 'login')
        return provider.interactionFinished(req, res, { login: { accountId: params.login_hint || 'alice', acr: 'urn:loa:2', amr: ['pwd'] } }, { mergeWithLastSubmission: false });
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    return provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}

const callback = provider.callback();
http.createServer((req, res) => {
    if (!req.url.startsWith('/interaction/')) return callback(req, res);
    interact(req, res).catch((error) => { console.error(error); res.writeHead(500).end(String(error)); });
}).listen(Number(PORT), '127.0.0.1', () => console.log('listening'));
