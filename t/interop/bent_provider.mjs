// npm `oidc-provider` bent as stock providers are: booleans and lists as texts, userinfo as signed or encrypted token, fat ID tokens beside a
// userinfo that refuses. Settings: PORT, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, BEND (texts, jwt, jwe, fat). POST /bend {"userinfo": 401} lets userinfo answer so.
import { generateKeyPairSync } from 'node:crypto';
import http from 'node:http';
import Provider from 'oidc-provider';

const { PORT, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, BEND } = process.env;
const client = { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [REDIRECT_URI], grant_types: ['authorization_code'], response_types: ['code'] };
if (BEND === 'jwt' || BEND === 'jwe') client.userinfo_signed_response_alg = 'RS256';
if (BEND === 'jwe') {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    client.jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), use: 'enc', alg: 'RSA-OAEP-256', kid: 'enc' }] };
    client.userinfo_encrypted_response_alg = 'RSA-OAEP-256';
}
const texts = { email_verified: 'True', groups: 'staff' }, plain = { email_verified: true, groups: ['staff', 'contractors'] };
const provider = new Provider(`http://127.0.0.1:${PORT}`, {
    clients: [client],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    conformIdTokenClaims: BEND !== 'fat',
    cookies: { keys: ['a key of the tests'] },
    features: { devInteractions: { enabled: false }, jwtUserinfo: { enabled: true }, encryption: { enabled: true } },
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: async (ctx, id) => ({ accountId: id, claims: async () => ({ sub: id, name: id, email: `${id}@idp.example`, ...(BEND === 'texts' ? texts : plain) }) }),
    ttl: { Session: 3600, Grant: 3600, Interaction: 600, AccessToken: 600, IdToken: 600 },
});

// The pages a person would see are answered at once.
async function interact(req, res) {
    const { prompt, params, session } = await provider.interactionDetails(req, res);
    if (prompt.name === 'login')
        return provider.interactionFinished(req, res, { login: { accountId: params.login_hint || 'alice' } }, { mergeWithLastSubmission: false });
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    return provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}

let bent = {};
const callback = provider.callback();
http.createServer(async (req, res) => {
    if (req.url === '/bend') {
        const chunks = [];
        for await (const chunk of req) chunks.push(chunk);
        bent = JSON.parse(Buffer.concat(chunks).toString());
        return res.end();
    }
    if (bent.userinfo && req.url.startsWith('/me')) return res.writeHead(bent.userinfo, { 'WWW-Authenticate': 'Bearer error="invalid_token"' }).end();
    if (!req.url.startsWith('/interaction/')) return callback(req, res);
    return interact(req, res).catch((error) => { console.error(error); res.writeHead(500).end(String(error)); });
}).listen(Number(PORT), '127.0.0.1');
