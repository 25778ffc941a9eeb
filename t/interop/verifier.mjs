// A relying party with jose's cached key set, kept exactly as long as its Cache-Control says and never fetched in between: each ID
// token of a stream of refreshes must verify. Settings: ISSUER, CLIENT_ID, CLIENT_SECRET, ALG, REFRESH_TOKEN, SECONDS, KIDS (kinds
// of key to see at least).
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { is, ok, run } from './tap.mjs';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, ALG, REFRESH_TOKEN, SECONDS, KIDS } = process.env;
const basic = 'Basic ' + Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64');
const NEVER = 1e9; // milliseconds until it would ask for the key set because of an unknown kid

await run(async () => {
    const address = new URL(`${ISSUER}/.well-known/jwks.json`);
    const age = Number(/max-age=(\d+)/.exec((await fetch(address)).headers.get('Cache-Control'))[1]);
    const keys = createRemoteJWKSet(address, { cacheMaxAge: age * 1000, cooldownDuration: NEVER });
    const seen = new Set(), end = Date.now() + Number(SECONDS) * 1000;
    let count = 0, unknown = 0, wrong = 0, refused = 0;
    while (Date.now() < end) {
        const answer = await fetch(`${ISSUER}/token`, { method: 'POST', headers: { Authorization: basic },
            body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: REFRESH_TOKEN }) });
        const token = (await answer.json()).id_token;
        count++;
        if (!token) { refused++; continue; }
        seen.add(decodeProtectedHeader(token).kid);
        try {
            await jwtVerify(token, keys, { algorithms: [ALG], issuer: ISSUER, audience: CLIENT_ID, typ: 'JWT' });
        } catch (e) {
            if (e.code === 'ERR_JWKS_NO_MATCHING_KEY') unknown++;
            else wrong++;
        }
    }
    is([unknown, wrong, refused], [0, 0, 0], `rotation: of ${count} ID tokens by ${ALG} under rotating keys each verifies by a key set kept for its max-age (unknown kid, wrong signature, no token)`);
    ok(seen.size >= Number(KIDS), `rotation: ... signed by ${seen.size} keys, one after the other`, [...seen]);
    ok(count > 100, `rotation: ... and it was a stream: ${count} tokens`);
});
