// A verifier that keeps the key set exactly as long as its Cache-Control says and never looks in between: each ID token of a
// stream of refreshes must verify. Settings: ISSUER, CLIENT_ID, CLIENT_SECRET, REFRESH_TOKEN, SECONDS, KIDS (kinds of key to
// see at least).
import { createPublicKey, verify } from 'node:crypto';
import { is, ok, run } from './tap.mjs';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REFRESH_TOKEN, SECONDS, KIDS } = process.env;
const basic = 'Basic ' + Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64');
let keys = new Map(), until = 0;

async function keySet() {
    if (Date.now() < until) return keys;
    const asked = Date.now();
    const answer = await fetch(`${ISSUER}/.well-known/jwks.json`);
    const age = Number(/max-age=(\d+)/.exec(answer.headers.get('Cache-Control'))[1]);
    keys = new Map((await answer.json()).keys.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]));
    until = asked + age * 1000;
    return keys;
}

await run(async () => {
    const seen = new Set(), end = Date.now() + Number(SECONDS) * 1000;
    let count = 0, unknown = 0, wrong = 0, refused = 0;
    while (Date.now() < end) {
        const known = await keySet();
        const answer = await fetch(`${ISSUER}/token`, { method: 'POST', headers: { Authorization: basic },
            body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: REFRESH_TOKEN }) });
        const token = (await answer.json()).id_token;
        count++;
        if (!token) { refused++; continue; }
        const [head, payload, signature] = token.split('.');
        const { kid, alg } = JSON.parse(Buffer.from(head, 'base64url'));
        seen.add(kid);
        if (!known.has(kid)) unknown++;
        else if (alg !== 'RS256' || !verify('RSA-SHA256', Buffer.from(`${head}.${payload}`), known.get(kid), Buffer.from(signature, 'base64url'))) wrong++;
    }
    is([unknown, wrong, refused], [0, 0, 0], `rotation: of ${count} ID tokens under rotating keys each verifies by a key set kept for its max-age (unknown kid, wrong signature, no token)`);
    ok(seen.size >= Number(KIDS), `rotation: ... signed by ${seen.size} keys, one after the other`, [...seen]);
    ok(count > 100, `rotation: ... and it was a stream: ${count} tokens`);
});
