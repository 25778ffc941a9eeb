// Protect an API with authz: ask POST /introspect about the access token of each request (RFC 7662) with the context of the
// request, check DPoP proofs (RFC 9449), and refuse with the challenges of RFC 6750, 9449, 9470 and 9728. express.js and
// fastify.js adapt createGuard() to their frameworks. Without an answer of authz no request passes.
import { constants, createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';

const TIMEOUT_MS = 5000; // for the whole answer of authz
const ANSWER_MAX = 256 * 1024; // octets of an answer
const CONTEXT_MAX = 16 * 1024; // octets; authz refuses a longer context
const KEPT_MAX = 1000; // answers in the cache; the oldest gives way
const KEEP_MAX = 30; // seconds that an answer is kept at most, as at /auth/check
const PROOFS_MAX = 100000; // DPoP proofs that are remembered; beyond it bound tokens are 503
const PROOF_MAX = 8192; // octets of a proof
const PROOF_WINDOW = 60; // seconds by which iat may differ from our clock
const NONCE_STEP = 150; // seconds; a nonce is good for one step at least and two at most
const CREDENTIAL = /^(Bearer|DPoP) +([A-Za-z0-9._~+/-]{1,2048}=*)$/i; // RFC 6750 section 2.1
const WORD = /^[\x21\x23-\x5b\x5d-\x7e]+$/; // RFC 6749 3.3, and what a quoted string needs no escape for

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
const ALGS = {
  ES256: { members: ['crv', 'kty', 'x', 'y'], kty: 'EC', crv: 'P-256', hash: 'sha256', how: { dsaEncoding: 'ieee-p1363' } },
  ES384: { members: ['crv', 'kty', 'x', 'y'], kty: 'EC', crv: 'P-384', hash: 'sha384', how: { dsaEncoding: 'ieee-p1363' } },
  RS256: { members: ['e', 'kty', 'n'], kty: 'RSA', hash: 'sha256', how: {} },
  PS256: { members: ['e', 'kty', 'n'], kty: 'RSA', hash: 'sha256', how: pss },
  EdDSA: { members: ['crv', 'kty', 'x'], kty: 'OKP', crv: 'Ed25519', hash: null, how: {} },
};

/** A refusal: its status, the error code, and the fields of the challenge (null: no challenge). */
class Refusal extends Error {
  constructor(status, error, fields = {}) {
    super(error ?? 'no credential');
    Object.assign(this, { status, error, fields });
  }
}

const invalidToken = () => new Refusal(401, 'invalid_token');
const invalidProof = () => new Refusal(401, 'invalid_dpop_proof');
const digest = (text) => createHash('sha256').update(text).digest('base64url');
const seconds = () => Math.floor(Date.now() / 1000);
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function words(list, name) {
  const checked = list ?? [];
  if (!Array.isArray(checked) || !checked.every((word) => WORD.test(word))) throw new TypeError(`${name}: must be a list of words`);
  return checked;
}

/** Return an address that tokens and secrets may be sent to, or that names this API. */
function address(text, name, allowHttp) {
  const url = new URL(text);
  const loopback = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && (loopback || allowHttp))) throw new TypeError(`${name}: must be https`);
  if (url.search || url.hash || url.username || url.password) throw new TypeError(`${name}: must have no query, fragment or user`);
  return url;
}

/**
 * Return a path in its one spelling (RFC 3986 6.2.2), so that no rule about it is passed by another one. Frameworks disagree about
 * what else there is: a fragment, dot segments, a backslash, controls.
 */
function canonical(path) {
  const one = path.replace(/%[0-9A-Fa-f]{2}/g, (code) => {
    const plain = String.fromCharCode(parseInt(code.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(plain) ? plain : code.toUpperCase();
  });
  let good = /^\/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%(?![01]|5C|7F)[0-9A-F]{2})*$/.test(one) && !/\/\.\.?(?:[/;]|%3B|$)/.test(one);
  try {
    decodeURIComponent(one);
  } catch {
    good = false; // octets that are no UTF-8
  }
  if (!good) throw new Refusal(400, 'invalid_request');
  return one;
}

/** Read at most ANSWER_MAX octets of an answer as a JSON object. */
async function readObject(answer) {
  const parts = [];
  let length = 0;
  for await (const part of answer.body ?? []) {
    length += part.length;
    if (length > ANSWER_MAX) throw new Error('the answer of authz is too long');
    parts.push(part);
  }
  const value = JSON.parse(Buffer.concat(parts).toString('utf8'));
  if (!isObject(value)) throw new Error('the answer of authz is no object');
  return value;
}

/** Return a part of a JWT as an object. */
function jwtPart(text) {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64url')));
    if (isObject(value)) return value;
  } catch { /* refused below */ }
  throw invalidProof();
}

/** Check form, key and signature of a proof (RFC 9449 4.3). Return its claims and the thumbprint of its key. */
function readProof(text) {
  const parts = text.length <= PROOF_MAX ? text.split('.') : [];
  if (parts.length !== 3 || !parts.every((part) => /^[A-Za-z0-9_-]+$/.test(part))) throw invalidProof();
  const head = jwtPart(parts[0]), claims = jwtPart(parts[1]), jwk = head.jwk;
  const alg = Object.hasOwn(ALGS, head.alg) ? ALGS[head.alg] : undefined;
  if (head.typ !== 'dpop+jwt' || head.crit !== undefined || !alg || !isObject(jwk)) throw invalidProof();
  if (jwk.kty !== alg.kty || jwk.crv !== alg.crv || ['d', 'p', 'q', 'k'].some((name) => jwk[name] !== undefined)) throw invalidProof();
  if (!alg.members.every((name) => typeof jwk[name] === 'string')) throw invalidProof();
  const publicPart = Object.fromEntries(alg.members.map((name) => [name, jwk[name]]));
  let good = false;
  try {
    const key = createPublicKey({ key: publicPart, format: 'jwk' });
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 2048;
    good = bits >= 2048 && bits <= 4096
      && verify(alg.hash, Buffer.from(`${parts[0]}.${parts[1]}`), { key, ...alg.how }, Buffer.from(parts[2], 'base64url'));
  } catch { /* not a key */ }
  if (!good) throw invalidProof();
  return { claims, jkt: digest(JSON.stringify(publicPart)) };
}

/** Remembers proofs of this process until their time is over. */
function proofMemory() {
  const seen = new Map();
  return (id, until) => {
    const now = seconds();
    for (const [old, end] of seen) { // in the order of arrival, so the first ones end first
      if (end > now) break;
      seen.delete(old);
    }
    if (seen.has(id)) return true;
    if (seen.size >= PROOFS_MAX) throw new Error('too many DPoP proofs are remembered');
    seen.set(id, until);
    return false;
  };
}

/**
 * Make the guard of one API. index.d.ts describes the options.
 */
export function createGuard(options) {
  const { clientId, clientSecret, log = (text) => console.error(text) } = options;
  if (!clientId || !clientSecret) throw new TypeError('clientId and clientSecret: must be set');
  const issuer = address(options.issuer, 'issuer', options.allowHttp).href.replace(/\/$/, '');
  const resource = address(options.resource, 'resource', options.allowHttp);
  const same = (a) => typeof a === 'string' && (a === options.resource || (resource.pathname === '/' && a.replace(/\/$/, '') === resource.origin));
  const met = new Set(options.obligations ?? []);
  const keepMax = options.cacheSeconds ?? KEEP_MAX;
  if (!Number.isInteger(keepMax) || keepMax < 0 || keepMax > KEEP_MAX) throw new TypeError(`cacheSeconds: must be 0 to ${KEEP_MAX}`);
  if (options.nonceKey && Buffer.byteLength(options.nonceKey) < 32) throw new TypeError('nonceKey: must have at least 32 octets');
  const usedBefore = options.proofUsed ?? proofMemory();
  // Client id and secret are form-encoded before they are joined (RFC 6749 section 2.3.1).
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
  const wellKnown = `/.well-known/oauth-protected-resource${resource.pathname === '/' ? '' : resource.pathname}`;
  const metadata = {
    resource: options.resource, authorization_servers: [options.issuer], bearer_methods_supported: ['header'],
    scopes_supported: words(options.scopesSupported, 'scopesSupported'), dpop_signing_alg_values_supported: Object.keys(ALGS),
  };
  const kept = new Map();
  const nonceAt = (step) => createHmac('sha256', options.nonceKey).update(`authz-dpop-nonce ${step}`).digest('base64url');
  const nonceStep = () => Math.floor(seconds() / NONCE_STEP);

  async function ask(token, context) {
    const answer = await fetch(`${issuer}/introspect`, {
      method: 'POST', redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { Authorization: `Basic ${basic}`, Accept: 'application/json' },
      body: new URLSearchParams({ token, context }),
    });
    // 401: wrong client or secret. 403: the binding of this API lacks "endpoints": ["introspect"].
    if (answer.status !== 200) {
      await answer.body?.cancel();
      throw new Error(`authz answered ${answer.status}`);
    }
    return readObject(answer);
  }

  /** Return what authz says about a token, or said at most so long ago as policy permits. */
  async function introspect(token, context) {
    const key = `${digest(token)} ${context}`, asked = performance.now(), found = kept.get(key);
    if (found && asked < found.until) return JSON.parse(found.text);
    kept.delete(key);
    const claims = await ask(token, context), word = claims.extensions?.cache_seconds;
    const keep = Number.isInteger(word) ? Math.min(word, keepMax, claims.exp - seconds()) : 0;
    if (claims.active === true && keep > 0 && Object.keys(claims.obligations ?? {}).length === 0) {
      if (kept.size >= KEPT_MAX) kept.delete(kept.keys().next().value);
      kept.set(key, { text: JSON.stringify(claims), until: asked + keep * 1000 });
    }
    return claims;
  }

  /** Check the proof of a request by a token that is bound to a key. */
  async function checkProof(request, path, token, jkt) {
    if (request.dpop.length !== 1) throw invalidProof();
    const { claims, jkt: shown } = readProof(request.dpop[0]);
    const url = typeof claims.htu === 'string' && URL.canParse(claims.htu) ? new URL(claims.htu) : undefined;
    const here = new URL(resource.origin + path);
    const named = typeof claims.jti === 'string' && claims.jti.length >= 1 && claims.jti.length <= 128;
    if (claims.htm !== request.method || url?.origin !== here.origin || url.pathname !== here.pathname || !named) throw invalidProof();
    if (!Number.isInteger(claims.iat) || Math.abs(claims.iat - seconds()) > PROOF_WINDOW) throw invalidProof();
    if (shown !== jkt || claims.ath !== digest(token)) throw invalidProof();
    if (options.nonceKey) {
      const given = Buffer.from(String(claims.nonce)), step = nonceStep();
      const good = [step, step - 1].map(nonceAt).some((nonce) => given.length === nonce.length && timingSafeEqual(given, Buffer.from(nonce)));
      if (!good) throw new Refusal(401, 'use_dpop_nonce');
    }
    if (await usedBefore(digest(`${jkt} ${claims.jti}`), seconds() + 2 * PROOF_WINDOW + 1)) throw invalidProof();
  }

  /** Judge what authz says, before the proof. */
  function judge(claims, dpop) {
    const audience = [claims.aud ?? []].flat();
    if (claims.active !== true || !(claims.exp > seconds())) throw invalidToken();
    // A refresh token has no token_type, and is no credential for an API.
    if (dpop ? claims.token_type !== 'DPoP' || typeof claims.cnf?.jkt !== 'string' : claims.token_type !== 'Bearer' || claims.cnf) throw invalidToken();
    if (audience.length === 0 ? options.requireAudience !== false : !audience.some(same)) throw invalidToken();
    if (!Object.keys(claims.obligations ?? {}).every((name) => met.has(name))) throw new Refusal(403, 'access_denied', null);
  }

  /** Hold a good token against what this request needs. */
  function require(claims, rule) {
    const held = String(claims.scope ?? '').split(' ');
    if (!words(rule.scopes, 'scopes').every((scope) => held.includes(scope))) throw new Refusal(403, 'insufficient_scope');
    const acr = words(rule.acr, 'acr'), fields = {};
    if (acr.length > 0) fields.acr_values = acr.join(' ');
    if (rule.maxAge !== undefined) fields.max_age = String(rule.maxAge);
    const fresh = rule.maxAge === undefined || (Number.isInteger(claims.auth_time) && seconds() - claims.auth_time <= rule.maxAge);
    if ((acr.length > 0 && !acr.includes(claims.acr)) || !fresh) throw new Refusal(401, 'insufficient_user_authentication', fields);
  }

  async function permit(request, rule) {
    const [path, query = ''] = request.target.split(/\?(.*)/s);
    const told = canonical(path);
    if (new URLSearchParams(query).has('access_token') || request.authorization.length > 1) {
      throw new Refusal(400, 'invalid_request');
    }
    if (request.authorization.length === 0) throw new Refusal(401);
    const credential = CREDENTIAL.exec(request.authorization[0]);
    if (!credential) throw invalidToken();
    const dpop = credential[1].toLowerCase() === 'dpop', token = credential[2];
    const more = typeof rule.context === 'function' ? rule.context(request) : rule.context;
    const context = JSON.stringify({
      ...more, resource: options.resource, resource_type: rule.resourceType, action: rule.action, method: request.method, path: told,
    });
    if (Buffer.byteLength(context) > CONTEXT_MAX) throw new Refusal(400, 'invalid_request');
    const claims = await introspect(token, context);
    judge(claims, dpop);
    if (dpop) await checkProof(request, path, token, claims.cnf.jkt);
    require(claims, rule);
    return claims;
  }

  /** Return the challenge of a scheme. The first field names the metadata, by which clients find authz. */
  function challenge(scheme, refusal, rule, own) {
    const fields = { resource_metadata: resource.origin + wellKnown };
    if (rule.scopes?.length > 0) fields.scope = rule.scopes.join(' ');
    if (own && refusal.error) Object.assign(fields, { error: refusal.error }, refusal.fields);
    if (scheme === 'DPoP') fields.algs = Object.keys(ALGS).join(' ');
    return `${scheme} ${Object.entries(fields).map(([name, value]) => `${name}="${value}"`).join(', ')}`;
  }

  function refuse(refusal, request, rule) {
    const headers = [['Content-Type', 'application/json'], ['Cache-Control', 'no-store']];
    const dpop = /^DPoP /i.test(request.authorization[0] ?? '');
    if (refusal.status === 503) headers.push(['Retry-After', '1']);
    else if (refusal.fields !== null) {
      headers.push(['WWW-Authenticate', [['Bearer', !dpop], ['DPoP', dpop]].map(([scheme, own]) => challenge(scheme, refusal, rule, own))]);
    }
    if (options.nonceKey && (dpop || refusal.error === 'use_dpop_nonce')) headers.push(['DPoP-Nonce', nonceAt(nonceStep())]);
    return { status: refusal.status, headers, body: JSON.stringify({ error: refusal.error ?? 'unauthorized' }) };
  }

  return {
    metadataPath: wellKnown,
    metadata: JSON.stringify(metadata),
    async check(request, rule = {}) {
      try {
        return { status: 200, token: await permit(request, rule) };
      } catch (fault) {
        if (fault instanceof Refusal) return refuse(fault, request, rule);
        log(`authz: no answer, the request is refused: ${fault.cause?.code ?? fault.message}`);
        return refuse(new Refusal(503, 'temporarily_unavailable', null), request, rule);
      }
    },
  };
}

/** Return the request that check() takes, of one of node:http: a header that came twice counts twice. */
export function requestOf(message, target = message.url) {
  const all = (name) => message.rawHeaders.filter((_, i, list) => i % 2 === 1 && list[i - 1].toLowerCase() === name);
  return { method: message.method, target, authorization: all('authorization'), dpop: all('dpop'), message };
}
