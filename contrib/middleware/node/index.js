// Protect an API with authz: ask POST /introspect about the access token of each request (RFC 7662) with the context
// of the request, check DPoP proofs (RFC 9449), and refuse with the challenges of RFC 6750, 9449, 9470 and 9728.
// express.js and fastify.js adapt createGuard() to their frameworks. Without an answer of authz no request passes.
import { constants, createHash, createPublicKey, verify } from 'node:crypto';

const TIMEOUT_MS = 5000; // for the whole answer of authz
const ANSWER_MAX = 256 * 1024; // octets of an answer
const CONTEXT_MAX = 16 * 1024; // octets; authz refuses a longer context
const KEPT_MAX = 1000; // answers in the cache; while it is full, others are not kept
const KEEP_MAX = 30; // seconds that an answer is kept at most, as at /auth/check
const PROOFS_MAX = 100000; // DPoP proofs that are remembered; beyond it bound tokens are 503
const PROOF_MAX = 8192; // octets of a proof
const PROOF_WINDOW = 60; // seconds by which iat may differ from our clock
const PROOF_LIFE = 2 * PROOF_WINDOW + 1; // seconds that a proof may be good for, if its iat lies in the future
const CREDENTIAL = /^(Bearer|DPoP) +([A-Za-z0-9._~+/-]{1,2048}=*)$/i; // RFC 6750 section 2.1
const WORD = /^[\x21\x23-\x5b\x5d-\x7e]+$/; // RFC 6749 3.3, and what a quoted string needs no escape for
const PROOF = /^(([\w-]+)\.([\w-]+))\.([\w-]+)$/; // RFC 7515 3.1
const PATH = /^\/(?:[\w.~!$&'()*+,=:@/-]|%(?![01]|5C|7F)[0-9A-F]{2})*$/; // RFC 3986 3.3, and no backslash or control
const OPTIONS = ['issuer', 'clientId', 'clientSecret', 'resource', 'scopesSupported', 'cacheSeconds', 'obligations',
  'requireAudience', 'exactPaths', 'proofUsed', 'log'];
const VAGUE = /\/(?:\.\.?)?(?:\/|%3B)|\/\.\.?$/; // an empty or a dot segment, also before what some servers cut off
const LOOSE = /[A-Z]|.\/$/; // a capital, or a slash at the end

// Status, error code, and what the log has: the cause, which the caller gets as error_description, and the cure.
const REFUSALS = {
  path: [400, 'invalid_request', 'the address can be read in two ways: send none with //, /../, ; or %5C'],
  loose: [400, 'invalid_request', 'the path has a capital or a slash at the end: see exactPaths in doc/middleware.md'],
  twice: [400, 'invalid_request', 'the token has a wrong place: send one, by the header Authorization alone'],
  long: [400, 'invalid_request', 'the context is too long: what rule and path tell has at most 16 KiB'],
  none: [401, undefined, 'a token is needed: send one by the header Authorization'],
  form: [401, 'invalid_token', 'the credential is no token: send Bearer or DPoP, and a token of authz'],
  inactive: [401, 'invalid_token', 'the token is not active: unknown, ended, revoked or denied; see the audit'],
  scheme: [401, 'invalid_token', 'the token is not for this scheme: with a key use DPoP, else Bearer'],
  audience: [401, 'invalid_token', 'the token is not for this API: its client must name the API by resource'],
  proof: [401, 'invalid_dpop_proof', 'the proof is not good for this request: look at key, htm, htu, ath, iat'],
  used: [401, 'invalid_dpop_proof', 'the proof was used before: make one for each request'],
  scope: [403, 'insufficient_scope', 'the token lacks a scope: ask for it, and permit it in the binding'],
  signIn: [401, 'insufficient_user_authentication', 'the sign-in is too weak or too old: sign in again'],
  unmet: [403, 'access_denied', 'policy demands what this API does not say it does: see obligations'],
  away: [503, 'temporarily_unavailable', 'authz gives no answer: 401: wrong secret, 403: may not introspect'],
};

const ec = { members: ['crv', 'kty', 'x', 'y'], kty: 'EC', how: { dsaEncoding: 'ieee-p1363' } };
const rsa = { members: ['e', 'kty', 'n'], kty: 'RSA', hash: 'sha256', how: {} };
const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
const ALGS = {
  ES256: { ...ec, crv: 'P-256', hash: 'sha256' },
  ES384: { ...ec, crv: 'P-384', hash: 'sha384' },
  RS256: rsa,
  PS256: { ...rsa, how: pss },
  EdDSA: { members: ['crv', 'kty', 'x'], kty: 'OKP', crv: 'Ed25519', hash: null, how: {} },
};

/** A refusal of the table: more fields of the challenge, and what it is about, for the log. */
class Refusal extends Error {
  constructor(name, why = '', fields = {}) {
    super(name);
    Object.assign(this, { name, why, fields });
  }
}

const away = (why) => new Refusal('away', why);
const digest = (text) => createHash('sha256').update(text).digest('base64url');
const seconds = () => Math.floor(Date.now() / 1000);
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function words(list, name) {
  const good = Array.isArray(list) && list.every((word) => WORD.test(word));
  if (!good) throw new TypeError(`${name}: must be a list of words`);
  return list;
}

/** Return an address that tokens and secrets may be sent to, or that names this API. */
function address(text, name) {
  const url = new URL(text);
  const loopback = url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url.protocol !== 'https:' && !loopback) throw new TypeError(`${name}: must be https`);
  if (/[?#@]/.test(text)) throw new TypeError(`${name}: must have no query, fragment or user`);
  return url;
}

/**
 * Return a path in one spelling, so that no rule about it is passed by another one: what may stand as it is (RFC 3986
 * 3.3) does, as frameworks decode values. They disagree about a fragment, empty and dot segments, ';', a backslash,
 * controls. Those that ignore case and a slash at the end get one spelling of them.
 */
function canonical(path, exact) {
  const one = path.replace(/%[0-9A-Fa-f]{2}/g, (code) => {
    const plain = String.fromCharCode(parseInt(code.slice(1), 16));
    return /[\w.~!$&'()*+,=:@-]/.test(plain) ? plain : code.toUpperCase();
  });
  let good = PATH.test(one) && !VAGUE.test(one.replaceAll('%2F', '/'));
  try {
    decodeURIComponent(one);
  } catch { // octets that are no UTF-8
    good = false;
  }
  if (!good) throw new Refusal('path');
  if (!exact && LOOSE.test(one.replace(/%../g, '%'))) throw new Refusal('loose');
  return one;
}

/** Check a proof, except whether it was used before (RFC 9449 4.3). Return the name to remember it by. */
function checkProof(proofs, { method, here, token, jkt }) {
  try {
    const [, signed, ...parts] = proofs.length === 1 && proofs[0].length <= PROOF_MAX ? PROOF.exec(proofs[0]) : [];
    const [head, claims] = parts.slice(0, 2).map((part) => JSON.parse(Buffer.from(part, 'base64url')));
    const { members, kty, crv, hash, how } = Object.hasOwn(ALGS, head.alg) ? ALGS[head.alg] : {};
    const publicPart = Object.fromEntries(members.map((name) => [name, head.jwk[name]]));
    const key = createPublicKey({ key: publicPart, format: 'jwk' });
    const bits = key.asymmetricKeyDetails.modulusLength ?? 2048;
    const htu = new URL(claims.htu);
    const good = head.typ === 'dpop+jwt' && head.crit === undefined && head.jwk.kty === kty && head.jwk.crv === crv
      && !['d', 'p', 'q', 'k'].some((name) => Object.hasOwn(head.jwk, name)) && bits >= 2048 && bits <= 4096
      && digest(JSON.stringify(publicPart)) === jkt && claims.ath === digest(token)
      && claims.htm === method && htu.origin === here.origin && htu.pathname === here.pathname
      && Number.isInteger(claims.iat) && Math.abs(claims.iat - seconds()) <= PROOF_WINDOW
      && typeof claims.jti === 'string' && claims.jti.length >= 1 && claims.jti.length <= 128
      && verify(hash, Buffer.from(signed), { key, ...how }, Buffer.from(parts[2], 'base64url'));
    if (good) return digest(`${jkt} ${claims.jti}`);
  } catch { /* it has not the form of a proof */ }
  throw new Refusal('proof');
}

/** Values that are kept until their time (of performance.now()), in the order of arrival. */
class Memory {
  #held = new Map();

  get(key) {
    const found = this.#held.get(key);
    return found && performance.now() < found.until ? found.value : undefined;
  }

  /** Keep a value. Return false if there are `most` of them. */
  add(key, value, until, most) {
    for (const [old, { until: end }] of this.#held) { // the first ones end first, or at most KEEP_MAX later
      if (end > performance.now()) break;
      this.#held.delete(old);
    }
    if (this.#held.size >= most) return false;
    this.#held.delete(key);
    return this.#held.set(key, { value, until });
  }
}

/** Make the guard of one API. index.d.ts describes the options. */
export function createGuard(options) {
  const { clientId, clientSecret, cacheSeconds = KEEP_MAX, log = (text) => console.error(text) } = options;
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name)), met = options.obligations ?? [];
  if (unknown !== undefined) throw new TypeError(`there is no option ${unknown}`);
  if (!Array.isArray(met)) throw new TypeError('obligations: must be a list');
  if (!clientId || !clientSecret) throw new TypeError('clientId and clientSecret: must be set');
  const endpoint = `${address(options.issuer, 'issuer').href.replace(/\/$/, '')}/introspect`;
  const resource = address(options.resource, 'resource');
  const path = resource.pathname.replace(/^\/$/, '');
  const names = path === '' ? [resource.origin, `${resource.origin}/`] : [options.resource];
  const metadataPath = `/.well-known/oauth-protected-resource${path}`;
  const metadata = JSON.stringify({
    resource: options.resource, authorization_servers: [options.issuer], bearer_methods_supported: ['header'],
    scopes_supported: words(options.scopesSupported ?? [], 'scopesSupported'),
    dpop_signing_alg_values_supported: Object.keys(ALGS),
  });
  const readable = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' };
  // Client id and secret are form-encoded before they are joined (RFC 6749 section 2.3.1).
  const basic = Buffer.from([clientId, clientSecret].map(encodeURIComponent).join(':')).toString('base64');
  const kept = new Memory(), proofs = new Memory();

  const proofUsed = options.proofUsed ?? ((name) => {
    const used = proofs.get(name) === true, until = performance.now() + PROOF_LIFE * 1000;
    if (!used && !proofs.add(name, true, until, PROOFS_MAX)) throw away('too many proofs are remembered');
    return used;
  });

  async function ask(token, context) {
    const answer = await fetch(endpoint, {
      method: 'POST', redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { Authorization: `Basic ${basic}`, Accept: 'application/json' },
      body: new URLSearchParams({ token, context }),
    });
    let octets = Buffer.alloc(0);
    for await (const part of answer.body ?? []) {
      octets = Buffer.concat([octets, part]);
      if (octets.length > ANSWER_MAX) throw away('the answer is too long');
    }
    // 401: wrong client or secret. 403: the binding of this API lacks "endpoints": ["introspect"].
    if (answer.status !== 200) throw away(`authz answered ${answer.status}`);
    return octets.toString();
  }

  /** Return what authz says about a token, or said at most so long ago as policy permits. */
  async function introspect(token, context) {
    const key = `${digest(token)} ${context}`, asked = performance.now();
    const known = kept.get(key), text = known ?? await ask(token, context), claims = JSON.parse(text);
    if (!isObject(claims) || !isObject(claims.obligations ?? {})) throw away('the answer is not as expected');
    if (known !== undefined) return claims;
    const word = claims.extensions?.cache_seconds, { active, exp, obligations = {} } = claims;
    const keep = Number.isInteger(word) ? Math.min(word, cacheSeconds, KEEP_MAX, exp - seconds()) : 0;
    if (active === true && keep > 0 && Object.keys(obligations).length === 0) {
      kept.add(key, text, asked + keep * 1000, KEPT_MAX);
    }
    return claims;
  }

  /** Judge what authz says, before the proof. */
  function judge(claims, dpop) {
    const audience = [claims.aud ?? []].flat(), bound = typeof claims.cnf?.jkt === 'string';
    // A refresh token has no token_type, and is no credential for an API.
    const fits = dpop ? claims.token_type === 'DPoP' && bound : claims.token_type === 'Bearer' && !claims.cnf;
    const meant = audience.length === 0 ? options.requireAudience === false : audience.some((a) => names.includes(a));
    const lives = claims.active === true && Number.isInteger(claims.exp) && claims.exp > seconds();
    if (!lives) throw new Refusal('inactive');
    if (!fits) throw new Refusal('scheme');
    if (!meant) throw new Refusal('audience', options.resource);
    const all = Object.keys(claims.obligations ?? {}).every((name) => met.includes(name));
    if (!all) throw new Refusal('unmet');
  }

  /** Hold a good token against what this request needs. */
  function require(claims, { scopes, acr, maxAge }) {
    const held = String(claims.scope ?? '').split(' '), age = seconds() - claims.auth_time;
    if (!scopes.every((scope) => held.includes(scope))) throw new Refusal('scope', scopes.join(' '));
    const needed = { acr_values: acr.join(' ') || undefined, max_age: maxAge };
    const strong = acr.length === 0 || acr.includes(claims.acr), fresh = maxAge === undefined || age <= maxAge;
    if (!strong || !fresh) throw new Refusal('signIn', '', needed);
  }

  async function permit(request, rule) {
    const { method, target, authorization, dpop } = request, [path, query = ''] = target.split(/\?(.*)/s);
    const told = [path, request.path ?? path].map((each) => canonical(each, options.exactPaths))[1];
    if (new URLSearchParams(query).has('access_token') || authorization.length > 1) throw new Refusal('twice');
    if (authorization.length === 0) throw new Refusal('none');
    const [, scheme, token] = CREDENTIAL.exec(authorization[0]) ?? [];
    if (!token) throw new Refusal('form');
    const more = typeof rule.context === 'function' ? rule.context(request) : rule.context;
    const ours = { resource: options.resource, resource_type: rule.resourceType, action: rule.action, method };
    const context = JSON.stringify({ ...more, ...ours, path: told });
    if (Buffer.byteLength(context) > CONTEXT_MAX) throw new Refusal('long');
    const claims = await introspect(token, context), bound = scheme.toLowerCase() === 'dpop';
    judge(claims, bound);
    if (bound) {
      const name = checkProof(dpop, { method, here: new URL(resource.origin + path), token, jkt: claims.cnf.jkt });
      if (await proofUsed(name, seconds() + PROOF_LIFE)) throw new Refusal('used');
    }
    require(claims, rule);
    return claims;
  }

  /** Return the challenge of a scheme. The first field names the metadata, by which clients find authz. */
  function challenge(scheme, refusal, rule, own) {
    const [, error, text] = REFUSALS[refusal.name], [cause] = text.split(': ');
    const fields = { resource_metadata: resource.origin + metadataPath, scope: rule.scopes.join(' ') || undefined };
    if (own && error) Object.assign(fields, { error }, refusal.fields, { error_description: cause });
    if (scheme === 'DPoP') fields.algs = Object.keys(ALGS).join(' ');
    const told = Object.entries(fields).filter(([, value]) => value !== undefined);
    return `${scheme} ${told.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
  }

  function refuse(refusal, request, rule) {
    const [status, error = 'unauthorized', text] = REFUSALS[refusal.name], [cause] = text.split(': ');
    const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
    const dpop = /^DPoP /i.test(request.authorization[0] ?? '');
    const both = [['Bearer', !dpop], ['DPoP', dpop]].map(([scheme, own]) => challenge(scheme, refusal, rule, own));
    if (status === 503) headers['Retry-After'] = '1';
    else if (error !== 'access_denied') headers['WWW-Authenticate'] = both;
    log(`authz: ${status} ${error}: ${text}${refusal.why && ` (${refusal.why})`}`);
    return { status, headers, body: JSON.stringify({ error, error_description: cause }) };
  }

  return {
    metadataPath,
    metadata: { status: 200, headers: readable, body: metadata },
    async check(request, { scopes = [], acr = [], maxAge, resourceType, action, context, ...unknown } = {}) {
      if (Object.keys(unknown).length > 0) throw new TypeError(`a rule has no member ${Object.keys(unknown)[0]}`);
      const rule = { scopes: words(scopes, 'scopes'), acr: words(acr, 'acr'), maxAge, resourceType, action, context };
      try {
        return { status: 200, token: await permit(request, rule) };
      } catch (fault) {
        // The messages of others may quote what they read, so the log has the codes of faults alone.
        const refusal = fault instanceof Refusal ? fault : away(fault?.cause?.code ?? fault?.name);
        return refuse(refusal, request, rule);
      }
    },
  };
}

/**
 * Return the request that check() takes, of one of node:http: a header that came twice counts twice. path: the one by
 * which the application routes, if that is not the one of target.
 */
export function requestOf(message, target = message.url, path = undefined) {
  const all = (name) => message.rawHeaders.filter((_, i, list) => i % 2 === 1 && list[i - 1].toLowerCase() === name);
  return { method: message.method, target, path, authorization: all('authorization'), dpop: all('dpop'), message };
}
