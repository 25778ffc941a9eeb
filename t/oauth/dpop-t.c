#include "config.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "crypto/digest.h"
#include "crypto/jws.h"
#include "crypto/keyring.h"
#include "env.h"
#include "keys.h"
#include "oauth/dpop/dpop_proof.h"
#include "oauth/dpop/nonce.h"
#include "tap.h"
#include "vectors/load.h"

#define URL "https://as.example/token"
#define NOW ENV_NOW
#define WINDOW 60
#define TOKEN "at_x"

static const char *const usual_algs[] = {"ES256", "RS256", NULL};
static const struct dpop_rule usual = {usual_algs, "POST", URL, NULL, NOW, WINDOW, false};

/* ---- proofs made here */

/* The members of a JWK without its braces. */
static char *
public_members_of(TALLOC_CTX *mem, const struct jwk *key)
{
    json_t *object = NULL;
    if (jwk_dump(key, &object) != AZ_OK)
        return NULL;
    char *text = jsonx_dump(mem, jsonx_own(mem, object));
    text[strlen(text) - 1] = '\0';
    return text + 1;
}

/* A proof. `header` and `payload` are JSON with ' for ", in which @ stands for the members of the
 * key; NULL: the good ones. */
static char *
proof_of(TALLOC_CTX *mem, const struct jwk *key, const char *header, const char *payload)
{
    const char *at;
    char *text =
        talloc_strdup(mem, header != NULL ? header : "{'typ':'dpop+jwt','alg':'ES256','jwk':{@}}");
    char *claims = talloc_strdup(mem, payload);
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    for (char *c = claims; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    if ((at = strchr(text, '@')) != NULL)
        text = talloc_asprintf(mem, "%.*s%s%s", (int) (at - text), text,
                               public_members_of(mem, key), at + 1);
    return keys_sign_es256(mem, key, text, claims, strlen(claims));
}

#define CLAIMS "'jti':'a','htm':'POST','htu':'" URL "','iat':1795258800"
#define GOOD "{" CLAIMS "}"

static enum az_status
read_proof(TALLOC_CTX *mem, const char *text, const struct dpop_rule *rule, const char **ret_why)
{
    struct dpop_proof proof = {.jti = NULL};
    *ret_why = "";
    enum az_status st = dpop_proof_read(mem, text, rule, &proof, ret_why);
    if (st != AZ_OK && proof.jti != NULL)
        *ret_why = "an output beside the refusal";
    return st;
}

static const char long_jti[] = /* 128 octets */
    "jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj"
    "jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj";

/* ---- headers */

/* clang-format off */
static const struct {
    const char *header, *why, *name;
} headers[] = {
    {"{'typ':'dpop+jwt','alg':'ES256','jwk':{@}}", NULL, "typ, alg and jwk (RFC 9449 4.2)"},
    {"{'typ':'DPoP+JWT','alg':'ES256','jwk':{@}}", NULL, "typ in other letters (RFC 7515 4.1.9)"},
    {"{'typ':'dpop+jwt','alg':'ES256','jwk':{@,'use':'sig','key_ops':['verify'],'ext':true}}", NULL, "a jwk for signatures"},
    {"{'typ':'dpop+jwt','alg':'ES256','jwk':{@,'kid':'k'}}", NULL, "a kid in the jwk"},
    {"{'typ':'dpop+jwt','alg':'ES256','kid':'other','x5u':'https://evil.example','jwk':{@}}", NULL, "members that a proof does not have are ignored"},
    {"{'alg':'ES256','jwk':{@}}", "typ is not accepted", "no typ (RFC 9449 4.3, 4)"},
    {"{'typ':'JWT','alg':'ES256','jwk':{@}}", "typ is not accepted", "another typ"},
    {"{'typ':'at+jwt','alg':'ES256','jwk':{@}}", "typ is not accepted", "the typ of an access token"},
    {"{'typ':7,'alg':'ES256','jwk':{@}}", "header is malformed", "a number as typ"},
    {"{'typ':'dpop+jwt','jwk':{@}}", "header is malformed", "no alg"},
    {"{'typ':'dpop+jwt','alg':'none','jwk':{@}}", "alg is not accepted", "alg none (RFC 9449 4.3, 5)"},
    {"{'typ':'dpop+jwt','alg':'HS256','jwk':{@}}", "alg is not accepted", "a symmetric alg"},
    {"{'typ':'dpop+jwt','alg':'PS256','jwk':{@}}", "alg is not accepted", "an alg that the settings do not name"},
    {"{'typ':'dpop+jwt','alg':'ES384','jwk':{@}}", "alg is not accepted", "... of another curve"},
    {"{'typ':'dpop+jwt','alg':'RS256','jwk':{@}}", "no key matches", "an alg that does not fit the key"},
    {"{'typ':'dpop+jwt','alg':'ES256'}", "object", "no jwk"},
    {"{'typ':'dpop+jwt','alg':'ES256','jwk':'k'}", "object", "a text as jwk"},
    {"{'typ':'dpop+jwt','alg':'ES256','jwk':{@,'d':'AAAA'}}", "private", "a jwk with its private member (RFC 9449 4.3, 7)"},
    {"{'typ':'dpop+jwt','alg':'ES256','jwk':{@,'k':'AAAA'}}", "private", "... or a symmetric one"},
    {"{'typ':'dpop+jwt','alg':'ES256','jwk':{'kty':'oct'}}", "key type", "a symmetric jwk"},
    {"{'typ':'dpop+jwt','alg':'ES256','jwk':{@,'use':'enc'}}", "no key matches", "a jwk for encryption"},
    {"{'typ':'dpop+jwt','alg':'ES256','jwk':{@,'key_ops':['sign']}}", "no key matches", "a jwk that may not verify"},
    {"{'typ':'dpop+jwt','alg':'ES256','jwk':{@,'alg':'RS256'}}", "no key matches", "a jwk for another alg"},
    {"{'typ':'dpop+jwt','alg':'ES256','crit':['x'],'jwk':{@}}", "crit", "crit (RFC 7515 4.1.11)"},
    {"{'typ':'dpop+jwt','alg':'ES256','b64':false,'jwk':{@}}", "b64", "b64 (RFC 7797)"},
    {"{'typ':'dpop+jwt','alg':'ES256','jwk':{'kty':'EC','crv':'P-256','x':'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4','y':'4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM'}}", "signature is wrong", "a jwk that did not sign"},
    {"{'typ':'dpop+jwt','alg':'ES256','jwk':{'kty':'EC','crv':'P-256','x':'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4','y':'4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyN'}}", "", "a point off the curve"},
};
/* clang-format on */

static void
test_headers(TALLOC_CTX *mem, const struct jwk *key)
{
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        const char *why;
        enum az_status st =
            read_proof(mem, proof_of(mem, key, headers[i].header, GOOD), &usual, &why);
        is_int(st, headers[i].why == NULL ? AZ_OK : AZ_INVALID, "header: %s", headers[i].name);
        ok(headers[i].why == NULL || strstr(why, headers[i].why) != NULL, "... the log says: %s",
           why);
    }
}

/* ---- claims */

#define CLAIMS_WITH(htu) "{'jti':'a','htm':'POST','htu':'" htu "','iat':1795258800}"

/* clang-format off */
static const struct {
    const char *payload, *why, *name;
} claims[] = {
    {GOOD, NULL, "jti, htm, htu and iat (RFC 9449 4.2)"},
    {"{" CLAIMS ",'nonce':'n','ath':'x','aud':'y','other':[{}]}", NULL, "more members are ignored"},
    {"{'htm':'POST','htu':'" URL "','iat':1795258800}", "jti", "no jti"},
    {"{'jti':'','htm':'POST','htu':'" URL "','iat':1795258800}", "jti", "an empty jti"},
    {"{'jti':7,'htm':'POST','htu':'" URL "','iat':1795258800}", "", "a number as jti"},
    {"{'jti':'a','htu':'" URL "','iat':1795258800}", "htm", "no htm"},
    {"{'jti':'a','htm':'GET','htu':'" URL "','iat':1795258800}", "htm", "another method"},
    {"{'jti':'a','htm':'post','htu':'" URL "','iat':1795258800}", "htm", "a method in small letters: methods have case (RFC 9110 9.1)"},
    {"{'jti':'a','htm':['POST'],'htu':'" URL "','iat':1795258800}", "not a text", "a list as htm"},
    {"{'jti':'a','htm':'POST','iat':1795258800}", "htu", "no htu"},
    {"{'jti':'a','htm':'POST','htu':{},'iat':1795258800}", "not a text", "an object as htu"},
    {CLAIMS_WITH("HTTPS://AS.EXAMPLE/token"), NULL, "scheme and host in capitals (RFC 3986 6.2.2.1)"},
    {CLAIMS_WITH("https://as.example:443/token"), NULL, "the port of the scheme (RFC 3986 6.2.3)"},
    {CLAIMS_WITH("https://as.example:/token"), NULL, "an empty port"},
    {CLAIMS_WITH("https://as.example/token?a=b"), NULL, "the query does not count (RFC 9449 4.3, 9)"},
    {CLAIMS_WITH("https://as.example/token#f"), NULL, "... nor the fragment"},
    {CLAIMS_WITH("https://as.example/token/"), "htu", "a slash more"},
    {CLAIMS_WITH("https://as.example/Token"), "htu", "a path in other letters"},
    {CLAIMS_WITH("https://as.example/x/../token"), "htu", "a path with dots"},
    {CLAIMS_WITH("https://as.example/%74oken"), "htu", "an escaped letter"},
    {CLAIMS_WITH("https://as.example"), "htu", "no path"},
    {CLAIMS_WITH("https://as.example:8443/token"), "htu", "another port"},
    {CLAIMS_WITH("https://as.example:80/token"), "htu", "the port of the other scheme"},
    {CLAIMS_WITH("http://as.example/token"), "htu", "the other scheme"},
    {CLAIMS_WITH("http://as.example:443/token"), "htu", "... with our port"},
    {CLAIMS_WITH("https://as.example.evil.example/token"), "htu", "another host"},
    {CLAIMS_WITH("https://as.example@evil.example/token"), "htu", "... behind ours"},
    {CLAIMS_WITH("https://user@as.example/token"), "htu", "a user in front of the host"},
    {CLAIMS_WITH("//as.example/token"), "htu", "no scheme"},
    {CLAIMS_WITH("/token"), "htu", "a path alone"},
    {CLAIMS_WITH("urn:x:token"), "htu", "a URI without a host"},
    {CLAIMS_WITH(" https://as.example/token"), "htu", "a space in front"},
    {"{'jti':'a','htm':'POST','htu':'" URL "'}", "iat", "no iat"},
    {"{'jti':'a','htm':'POST','htu':'" URL "','iat':'1795258800'}", "", "a text as iat"},
    {"{'jti':'a','htm':'POST','htu':'" URL "','iat':1795258860}", NULL, "an iat at the end of the window"},
    {"{'jti':'a','htm':'POST','htu':'" URL "','iat':1795258861}", "iat", "... and one past"},
    {"{'jti':'a','htm':'POST','htu':'" URL "','iat':1795258740}", NULL, "an iat at the begin of the window"},
    {"{'jti':'a','htm':'POST','htu':'" URL "','iat':1795258739}", "iat", "... and one before"},
    {"{'jti':'a','htm':'POST','htu':'" URL "','iat':1795258739.9}", "iat", "... also by a fraction"},
    {"{'jti':'a','htm':'POST','htu':'" URL "','iat':-9223372036854775808}", "", "the least number as iat"},
    {"{" CLAIMS ",'nonce':7}", "not a text", "a number as nonce"},
    {"{" CLAIMS ",'jti':'b'}", "", "a claim twice"},
    {"[]", "", "no object"},
    {"{", "", "no JSON"},
};
/* clang-format on */

static void
test_claims(TALLOC_CTX *mem, const struct jwk *key)
{
    const char *why;
    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        enum az_status st =
            read_proof(mem, proof_of(mem, key, NULL, claims[i].payload), &usual, &why);
        is_int(st, claims[i].why == NULL ? AZ_OK : AZ_INVALID, "claims: %s", claims[i].name);
        ok(claims[i].why == NULL || strstr(why, claims[i].why) != NULL, "... the log says: %s",
           why);
    }
    for (int more = 0; more < 2; more++) {
        const char *payload =
            talloc_asprintf(mem, "{'jti':'%s%s','htm':'POST','htu':'" URL "','iat':1795258800}",
                            long_jti, more ? "j" : "");
        is_int(read_proof(mem, proof_of(mem, key, NULL, payload), &usual, &why),
               more ? AZ_INVALID : AZ_OK, "a jti of %d octets", DPOP_JTI_MAX + more);
    }
    struct dpop_rule plain = usual;
    plain.url = "http://127.0.0.1:8080/token";
    is_int(read_proof(mem, proof_of(mem, key, NULL, CLAIMS_WITH("http://127.0.0.1:8080/token?x")),
                      &plain, &why),
           AZ_OK, "an issuer with a port");
    is_int(read_proof(mem, proof_of(mem, key, NULL, CLAIMS_WITH("http://127.0.0.1/token")), &plain,
                      &why),
           AZ_INVALID, "... which a proof must have");
    plain.url = "https://[::1]/a%7Cb";
    is_int(read_proof(mem, proof_of(mem, key, NULL, CLAIMS_WITH("https://[::1]/a|b?x=|")), &plain,
                      &why),
           AZ_OK, "G3: a raw character of the path, as the request has it");
    is_int(
        read_proof(mem, proof_of(mem, key, NULL, CLAIMS_WITH("https://[::1]/a^b")), &plain, &why),
        AZ_INVALID, "G3: ... another one");
    plain.url = "https://as.example/gateway/mcp";
    for (int slash = 0; slash < 2; slash++) {
        plain.slash = slash == 1;
        is_int(read_proof(mem,
                          proof_of(mem, key, NULL, CLAIMS_WITH("https://as.example/gateway/mcp/")),
                          &plain, &why),
               slash == 1 ? AZ_OK : AZ_INVALID, "G4 htu_slash: a slash at the end is %s",
               slash == 1 ? "taken where the endpoint takes it" : "refused elsewhere");
        is_int(read_proof(mem,
                          proof_of(mem, key, NULL, CLAIMS_WITH("https://as.example/gateway/mcp")),
                          &plain, &why),
               AZ_OK, "G4: ... and none is good");
        is_int(read_proof(mem,
                          proof_of(mem, key, NULL, CLAIMS_WITH("https://as.example/gateway/mcp//")),
                          &plain, &why),
               AZ_INVALID, "G4: ... two are refused");
    }
}

/* ---- the text */

static void
test_texts(TALLOC_CTX *mem, const struct jwk *key)
{
    const char *why;
    char *good = proof_of(mem, key, NULL, GOOD), *changed;
    changed = talloc_strdup(mem, good);
    changed[strlen(changed) - 10] ^= 1;
    is_int(read_proof(mem, changed, &usual, &why), AZ_INVALID, "a changed signature");
    is_int(read_proof(mem, talloc_asprintf(mem, "%s, %s", good, good), &usual, &why), AZ_INVALID,
           "two proofs, as two headers become one (RFC 9449 4.3, 1)");
    is_int(read_proof(mem, talloc_asprintf(mem, "%s ", good), &usual, &why), AZ_INVALID,
           "a space behind");
    is_int(read_proof(mem, "", &usual, &why), AZ_INVALID, "an empty header");
    is_int(read_proof(mem, "a.b.c", &usual, &why), AZ_INVALID, "three dots and no more");
    char *last = strrchr(good, '.');
    is_int(read_proof(mem, talloc_asprintf(mem, "%.*s.", (int) (last - good), good), &usual, &why),
           AZ_INVALID, "an empty signature");
}

/* ---- tokens */

static void
test_ath(TALLOC_CTX *mem, const struct jwk *key)
{
    unsigned char hash[SHA256_OCTETS];
    const char *why;
    struct dpop_rule rule = usual;
    rule.access_token = TOKEN;
    ok(sha256(TOKEN, strlen(TOKEN), hash) == AZ_OK, "the hash of a token");
    const char *ath = b64url_encode(mem, hash, sizeof(hash));
    const char *good = talloc_asprintf(mem, "{" CLAIMS ",'ath':'%s'}", ath);
    is_int(read_proof(mem, proof_of(mem, key, NULL, good), &rule, &why), AZ_OK,
           "ath is the hash of the token (RFC 9449 4.3, 11)");
    is_int(read_proof(mem, proof_of(mem, key, NULL, GOOD), &rule, &why), AZ_INVALID, "no ath");
    is_int(read_proof(mem, proof_of(mem, key, NULL, "{" CLAIMS ",'ath':''}"), &rule, &why),
           AZ_INVALID, "an empty ath");
    is_int(read_proof(mem, proof_of(mem, key, NULL, "{" CLAIMS ",'ath':'" TOKEN "'}"), &rule, &why),
           AZ_INVALID, "the token itself as ath");
    rule.access_token = TOKEN "y";
    is_int(read_proof(mem, proof_of(mem, key, NULL, good), &rule, &why), AZ_INVALID,
           "the ath of another token");
}

static void
test_rfc(TALLOC_CTX *mem)
{
    json_t *file = vectors_load(mem, "rfc9449.json");
    size_t i;
    const json_t *row;
    json_array_foreach (json_object_get(file, "cases"), i, row) {
        struct dpop_proof proof = {.jti = ""};
        const char *why = "";
        bool shown = json_is_true(json_object_get(row, "with_token"));
        struct dpop_rule rule = {
            usual_algs,
            vectors_text(row, "method"),
            vectors_text(row, "url"),
            shown ? vectors_text(file, "access_token") : NULL,
            json_integer_value(json_object_get(row, "iat")),
            WINDOW,
            false,
        };
        is_int(dpop_proof_read(mem, vectors_text(row, "proof"), &rule, &proof, &why), AZ_OK,
               "RFC 9449: %s", vectors_text(row, "name"));
        is_str(proof.jkt, vectors_text(file, "jkt"), "... its jkt (RFC 9449 6.1)");
        is_str(proof.jti, vectors_text(row, "jti"), "... its jti");
        rule.now += WINDOW + 1;
        is_int(dpop_proof_read(mem, vectors_text(row, "proof"), &rule, &proof, &why), AZ_INVALID,
               "... not a second later than the window");
    }
}

/* ---- settings and nonces */

static void
test_algs(void)
{
    for (size_t i = 0; settings_dpop_algs[i] != NULL; i++)
        ok(jws_alg_find(settings_dpop_algs[i]) != NULL,
           "SVC_DPOP_SIGNING_ALGS may name %s, which can be verified", settings_dpop_algs[i]);
}

static void
test_nonces(TALLOC_CTX *mem)
{
    char nonce[DPOP_NONCE_SIZE], other[DPOP_NONCE_SIZE];
    const struct keyring *ring =
        keyring_new(mem, "a credential key of one", "pepper pepper pepper");
    const struct keyring *far = keyring_new(mem, "a credential key of two", "pepper pepper pepper");
    const int64_t ttl = 300, start = 1795258800 / 150 * 150; /* begin of a step */
    ok(dpop_nonce_make(ring, start, ttl, nonce) == AZ_OK, "a nonce");
    ok(dpop_nonce_good(ring, start, ttl, nonce), "... is good at once");
    ok(dpop_nonce_good(ring, start + ttl - 1, ttl, nonce),
       "... until SVC_DPOP_NONCE_TTL_SECONDS are over");
    ok(!dpop_nonce_good(ring, start + ttl, ttl, nonce), "... and no longer");
    ok(dpop_nonce_make(ring, start + 149, ttl, other) == AZ_OK && strcmp(nonce, other) == 0,
       "... and is the same on all hosts for half of that time");
    ok(dpop_nonce_make(ring, start + 150, ttl, other) == AZ_OK && strcmp(nonce, other) != 0,
       "... then another");
    ok(dpop_nonce_good(ring, start + 149, ttl, other), "a nonce of a host whose clock is ahead");
    ok(!dpop_nonce_good(ring, start - 1, ttl, other), "... but not by a whole step");
    ok(!dpop_nonce_good(far, start, ttl, nonce), "another credential key");
    ok(!dpop_nonce_good(ring, start, ttl, NULL), "no nonce");
    ok(!dpop_nonce_good(ring, start, ttl, ""), "an empty nonce");
    nonce[0] ^= 1;
    ok(!dpop_nonce_good(ring, start, ttl, nonce), "a changed nonce");
    ok(dpop_nonce_make(ring, start, 2, nonce) == AZ_OK && dpop_nonce_good(ring, start + 1, 2, nonce)
           && !dpop_nonce_good(ring, start + 2, 2, nonce),
       "the shortest lifetime");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct jwk *key = NULL;
    plan(0);
    if (keys_generate_ec(mem, "P-256", &key) != AZ_OK)
        return 1;
    key->kid = key->use = key->alg = NULL; /* the tests set them */
    test_rfc(mem);
    test_headers(mem, key);
    test_claims(mem, key);
    test_texts(mem, key);
    test_ath(mem, key);
    test_algs();
    test_nonces(mem);
    talloc_free(mem);
    return done();
}
