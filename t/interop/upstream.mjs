// npm `oidc-provider` as the authorization server of an upstream of the gateway: clients register themselves (RFC 7591), people
// sign in without a page as SUB, refresh tokens rotate. Settings: PORT, SUB.
import http from 'node:http';
import Provider from 'oidc-provider';

const { PORT, SUB } = process.env;
const provider = new Provider(`http://127.0.0.1:${PORT}`, {
    scopes: ['openid', 'offline_access', 'notes.read'],
    claims: { openid: ['sub'] },
    cookies: { keys: ['a key of the tests'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false }, registration: { enabled: true, initialAccessToken: false }, revocation: { enabled: true } },
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: async (ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    rotateRefreshToken: true,
    ttl: { Session: 3600, Grant: 3600, Interaction: 600, AccessToken: 600, IdToken: 600, RefreshToken: 3600 },
});

// The pages a person would see are answered at once.
async function interact(req, res) {
    const { prompt, params, session } = await provider.interactionDetails(req, res);
    if (prompt.name === 'login')
        return provider.interactionFinished(req, res, { login: { accountId: SUB } }, { mergeWithLastSubmission: false });
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    return provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}

const callback = provider.callback();
http.createServer((req, res) => {
    if (!req.url.startsWith('/interaction/')) return callback(req, res);
    interact(req, res).catch((error) => { console.error(error); res.writeHead(500).end(String(error)); });
}).listen(Number(PORT), '127.0.0.1', () => console.log('listening'));
