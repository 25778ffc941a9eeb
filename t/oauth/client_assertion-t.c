#include "config.h"

#include "oauth/client_auth/client_assertion.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "crypto/keypair.h"
#include "keys.h"
#include "tap.h"

#define NOW 1795258800
#define ISSUER "https://as.example"
#define TOKEN ISSUER "/token"
#define CALLED ISSUER "/introspect"

static const char *const audiences[] = {ISSUER, TOKEN, CALLED, NULL};
static const char *const strict[] = {ISSUER, NULL};

static const struct assertion_kind *
jwt_bearer(void)
{
    return assertion_kind_find("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
}

/* A token with a header and a payload of any text, and octets in place of a signature. */
static const char *
raw_token(TALLOC_CTX *mem, const char *header, const char *payload)
{
    char *parts[3];
    const char *const texts[] = {header, payload, "not a signature"};
    for (size_t i = 0; i < 3; i++) {
        parts[i] = talloc_array(mem, char, (unsigned) B64URL_LENGTH(strlen(texts[i])) + 1);
        b64url_encode_into(texts[i], strlen(texts[i]), parts[i]);
    }
    return talloc_asprintf(mem, "%s.%s.%s", parts[0], parts[1], parts[2]);
}

/* The reason for which a token is refused; NULL: it is not. */
static const char *
why_refused(TALLOC_CTX *mem, const char *text, const char *client_id, const char *const *names,
            struct client_assertion *ret)
{
    const struct assertion_request request = {client_id, names, NULL, NOW};
    const char *why = NULL;
    enum az_status st = client_assertion_read(mem, jwt_bearer(), text, &request, ret, &why);
    if (st == AZ_OK)
        return NULL;
    return st == AZ_INVALID && why != NULL ? why : "another status";
}

static void
test_kinds(void)
{
    const struct assertion_kind *kind = jwt_bearer();
    ok(kind != NULL && strcmp(kind->method, "private_key_jwt") == 0,
       "J1: the type of RFC 7523 2.2 is private_key_jwt");
    static const char *const unknown[] = {
        "",
        "jwt-bearer",
        "urn:ietf:params:oauth:client-assertion-type:saml2-bearer",
        "urn:ietf:params:oauth:client-assertion-type:JWT-bearer",
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer ",
        "urn:ietf:params:oauth:grant-type:jwt-bearer"};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        ok(assertion_kind_find(unknown[i]) == NULL, "J1: refused: the type \"%s\"", unknown[i]);
    ok(assertion_is_method("private_key_jwt"), "private_key_jwt is a method with an assertion");
    ok(!assertion_is_method("client_secret_basic") && !assertion_is_method("none")
           && !assertion_is_method(NULL),
       "... and the others are not");
    for (size_t i = 0; assertion_algs[i] != NULL; i++)
        ok(jws_alg_find(assertion_algs[i]) != NULL, "J3: %s works", assertion_algs[i]);
}

#define HEAD "{\"alg\":\"ES256\"}"
#define PARTY "\"iss\":\"crm\",\"sub\":\"crm\""
#define REST ",\"exp\":1795258860,\"jti\":\"1\""
#define AUD ",\"aud\":\"" ISSUER "\""
#define GOOD "{" PARTY AUD REST "}"

/* clang-format off */
static const struct { const char *header, *why, *name; } headers[] = {
    {HEAD, NULL, "alg alone"},
    {"{\"alg\":\"ES256\",\"typ\":\"JWT\"}", NULL, "typ JWT"},
    {"{\"alg\":\"ES256\",\"typ\":\"jwt\"}", NULL, "... in small letters (RFC 7515 4.1.9)"},
    {"{\"alg\":\"ES256\",\"typ\":\"client-authentication+jwt\"}", NULL, "typ client-authentication+jwt"},
    {"{\"alg\":\"ES256\",\"typ\":\"application/client-authentication+jwt\"}", NULL, "... with application/"},
    {"{\"alg\":\"ES256\",\"jku\":\"https://evil.example/\",\"x5u\":\"https://evil.example/\",\"jwk\":{},\"x5c\":[\"AA\"]}", NULL, "jku, x5u, jwk and x5c, which are ignored (J2)"},
    {"{\"alg\":\"ES256\",\"typ\":\"dpop+jwt\"}", "typ", "a DPoP proof (RFC 8725 3.11)"},
    {"{\"alg\":\"ES256\",\"typ\":\"at+jwt\"}", "typ", "an access token"},
    {"{\"alg\":\"ES256\",\"typ\":\"logout+jwt\"}", "typ", "a logout token"},
    {"{\"alg\":\"ES256\",\"typ\":\"oauth-authz-req+jwt\"}", "typ", "a request object"},
    {"{\"alg\":\"ES256\",\"typ\":\"software-statement+jwt\"}", "typ", "a software statement"},
    {"{\"alg\":\"ES256\",\"typ\":\"\"}", "typ", "an empty typ"},
    {"{\"alg\":\"ES256\",\"typ\":5}", "header", "a number as typ"},
    {"{\"alg\":\"none\"}", "alg", "alg none (RFC 8725 2.1)"},
    {"{\"alg\":\"NONE\"}", "alg", "... in capitals"},
    {"{\"alg\":\"HS256\"}", "alg", "HS256: a public key would be the secret (RFC 8725 2.1)"},
    {"{\"alg\":\"HS512\"}", "alg", "HS512"},
    {"{\"alg\":\"ES256K\"}", "alg", "an algorithm that the service does not use"},
    {"{\"alg\":\"es256\"}", "alg", "an algorithm in small letters"},
    {"{\"alg\":\"\"}", "alg", "an empty alg"},
    {"{}", "header", "no alg"},
    {"{\"alg\":5}", "header", "a number as alg"},
    {"{\"alg\":\"ES256\",\"crit\":[\"exp\"],\"exp\":1}", "crit", "crit (J2)"},
    {"{\"alg\":\"ES256\",\"crit\":[]}", "crit", "an empty crit"},
    {"{\"alg\":\"ES256\",\"b64\":true}", "crit", "b64 (RFC 7797)"},
    {"{\"alg\":\"ES256\",\"zip\":\"DEF\"}", "crit", "zip"},
    {"{\"alg\":\"ES256\",\"alg\":\"none\"}", "header", "alg twice"},
    {"[]", "header", "a header that is no object"},
    {"", "JWS", "no header"},
};
static const struct { const char *payload, *why, *name; } payloads[] = {
    {GOOD, NULL, "the least there may be"},
    {"{" PARTY ",\"aud\":[\"" ISSUER "\"]" REST "}", NULL, "aud as an array of one (oauth.md J6)"},
    {"{" PARTY ",\"aud\":\"" TOKEN "\"" REST "}", NULL, "aud the token endpoint (J6)"},
    {"{" PARTY ",\"aud\":\"" CALLED "\"" REST "}", NULL, "aud the called endpoint (J6)"},
    {"{" PARTY AUD REST ",\"nbf\":1795258860,\"iat\":1795258860}", NULL, "nbf and iat 60 s ahead (J5)"},
    {"{" PARTY AUD REST ",\"iat\":1}", NULL, "an old iat: exp decides (J5)"},
    {"{" PARTY AUD ",\"exp\":1795258791,\"jti\":\"1\"}", NULL, "exp 9 s ago (J5)"},
    {"{" PARTY AUD ",\"exp\":1795262400,\"jti\":\"1\"}", NULL, "exp an hour ahead (J5)"},
    {"{" PARTY AUD REST ",\"azp\":\"x\",\"scope\":\"y\",\"htm\":\"POST\"}", NULL, "other claims"},
    {"{\"sub\":\"crm\"" AUD REST "}", "iss", "no iss (J4)"},
    {"{\"iss\":\"crm\"" AUD REST "}", "sub", "no sub (J4)"},
    {"{\"iss\":\"\",\"sub\":\"\"" AUD REST "}", "sub", "an empty sub"},
    {"{\"iss\":\"crm\",\"sub\":\"other\"" AUD REST "}", "iss", "another sub than iss"},
    {"{\"iss\":\"CRM\",\"sub\":\"crm\"" AUD REST "}", "iss", "iss in another case"},
    {"{\"iss\":[\"crm\"],\"sub\":\"crm\"" AUD REST "}", "malformed", "iss as an array"},
    {"{" PARTY REST "}", "aud", "no aud (J6)"},
    {"{" PARTY ",\"aud\":\"\"" REST "}", "aud", "an empty aud"},
    {"{" PARTY ",\"aud\":[]" REST "}", "aud", "no aud in the array"},
    {"{" PARTY ",\"aud\":\"https://other.example\"" REST "}", "aud", "another server's issuer"},
    {"{" PARTY ",\"aud\":\"" ISSUER "/\"" REST "}", "aud", "the issuer with a slash"},
    {"{" PARTY ",\"aud\":\"HTTPS://AS.EXAMPLE\"" REST "}", "aud", "the issuer in capitals"},
    {"{" PARTY ",\"aud\":\"" ISSUER "/revoke\"" REST "}", "aud", "another endpoint than the called one"},
    {"{" PARTY ",\"aud\":[\"" ISSUER "\",\"https://other.example\"]" REST "}", "aud", "a foreign aud too: that service could replay it"},
    {"{" PARTY ",\"aud\":[\"" ISSUER "\",\"" TOKEN "\"]" REST "}", "aud", "two of our names"},
    {"{" PARTY ",\"aud\":{\"a\":\"" ISSUER "\"}" REST "}", "malformed", "aud as an object"},
    {"{" PARTY AUD ",\"jti\":\"1\"}", "exp", "no exp (J5)"},
    {"{" PARTY AUD ",\"exp\":null,\"jti\":\"1\"}", "malformed", "exp null"},
    {"{" PARTY AUD ",\"exp\":\"1795258860\",\"jti\":\"1\"}", "malformed", "exp as a text"},
    {"{" PARTY AUD ",\"exp\":1e300,\"jti\":\"1\"}", "malformed", "an exp without end"},
    {"{" PARTY AUD ",\"exp\":-1,\"jti\":\"1\"}", "malformed", "an exp before 1970"},
    {"{" PARTY AUD ",\"exp\":1795258790,\"jti\":\"1\"}", "expired", "exp 10 s ago (J5)"},
    {"{" PARTY AUD ",\"exp\":1795262401,\"jti\":\"1\"}", "too far", "exp a second more than an hour ahead"},
    {"{" PARTY AUD REST ",\"nbf\":1795258861}", "nbf", "nbf 61 s ahead"},
    {"{" PARTY AUD REST ",\"iat\":1795258861}", "iat", "iat 61 s ahead"},
    {"{" PARTY AUD ",\"exp\":1795258860}", "jti", "no jti (J7)"},
    {"{" PARTY AUD ",\"exp\":1795258860,\"jti\":\"\"}", "jti", "an empty jti"},
    {"{" PARTY AUD ",\"exp\":1795258860,\"jti\":5}", "malformed", "a number as jti"},
    {"{" PARTY AUD REST ",\"sub\":\"other\"}", "JSON", "sub twice"},
    {"[]", "JSON", "a payload that is no object"},
    {"", "JSON", "no payload"},
};
/* clang-format on */

static void
one_read(const char *token, const char *why, const char *name)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct client_assertion assertion = {.kind = NULL};
    const char *seen = why_refused(mem, token, "crm", audiences, &assertion);
    ok(why == NULL ? seen == NULL : seen != NULL && strstr(seen, why) != NULL, "%s: %s: %s",
       why == NULL ? "read" : "refused", name, seen != NULL ? seen : "-");
    ok((seen == NULL) == (assertion.kind != NULL), "... and a refused one fills nothing");
    talloc_free(mem);
}

static void
test_reading(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        one_read(raw_token(mem, headers[i].header, GOOD), headers[i].why, headers[i].name);
    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++)
        one_read(raw_token(mem, HEAD, payloads[i].payload), payloads[i].why, payloads[i].name);
    static const char *const forms[] = {"x",
                                        "a.b",
                                        "a.b.c",
                                        "..",
                                        "eyJhbGciOiJFUzI1NiJ9.e30.",
                                        "eyJhbGciOiJFUzI1NiJ9.e30.AA.AA",
                                        "{\"payload\":\"e30\"}"};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        one_read(forms[i], "", talloc_asprintf(mem, "no compact JWS: %s (J2)", forms[i]));
}

/* A token whose payload is filled so that it has this length. */
static const char *
token_of_length(TALLOC_CTX *mem, size_t length)
{
    for (size_t filling = length / 2; filling < length; filling++) {
        char *blanks = talloc_zero_array(mem, char, (unsigned) filling + 1);
        memset(blanks, ' ', filling);
        const char *text = raw_token(mem, HEAD, talloc_asprintf(mem, "%s" GOOD, blanks));
        size_t seen = strlen(text);
        talloc_free(blanks);
        if (seen == length)
            return text;
        filling += seen + 4 < length ? (length - seen) / 2 : 0;
    }
    return NULL;
}

static void
test_limits(TALLOC_CTX *mem)
{
    struct client_assertion assertion;
    const char *at = token_of_length(mem, JWS_OCTETS_MAX);
    ok(at != NULL && why_refused(mem, at, NULL, audiences, &assertion) == NULL,
       "an assertion of 16 KiB is read (J2)");
    const char *past = raw_token(mem, HEAD, at);
    ok(why_refused(mem, past, NULL, audiences, &assertion) != NULL, "a longer one is refused");
    past = talloc_asprintf(mem, "%sA", at);
    is_str(why_refused(mem, past, NULL, audiences, &assertion), "token is too long",
           "... one octet more too");
}

static void
test_request(TALLOC_CTX *mem)
{
    struct client_assertion assertion;
    const char *good = raw_token(mem, HEAD, GOOD);
    ok(why_refused(mem, good, NULL, audiences, &assertion) == NULL,
       "J4: client_id need not be in the form");
    is_str(assertion.client_id, "crm", "... it is the sub");
    is_str(assertion.jti, "1", "... the jti is there");
    is_int(assertion.until, 1795258860 + ASSERTION_SKEW_PAST,
           "... and the end, until which the jti is remembered");
    ok(why_refused(mem, good, "other", audiences, &assertion) != NULL,
       "J4: refused: another client_id in the form");
    ok(why_refused(mem, good, "CRM", audiences, &assertion) != NULL, "... in another case too");
    ok(why_refused(mem, good, "crm", strict, &assertion) == NULL,
       "SVC_CLIENT_ASSERTION_STRICT_AUD: the issuer is accepted (RFC 10070)");
    const char *endpoint = raw_token(mem, HEAD, "{" PARTY ",\"aud\":\"" TOKEN "\"" REST "}");
    ok(why_refused(mem, endpoint, "crm", strict, &assertion) != NULL,
       "... and the token endpoint is not");
}

/* Sign the good claims, read the assertion and verify it by a set of keys. */
static enum jws_fault
verify(TALLOC_CTX *mem, const struct jwk *key, const char *alg, const struct jwk_set *set)
{
    struct client_assertion assertion;
    enum jws_fault fault = JWS_FAULT_NONE;
    char *text = NULL;
    if (jws_sign(mem, key, alg, NULL, GOOD, strlen(GOOD), &text) != AZ_OK
        || why_refused(mem, text, "crm", audiences, &assertion) != NULL)
        return JWS_FAULT_OURS;
    client_assertion_verify(&assertion, set, &fault);
    return fault;
}

#define ROWS 5

static void
test_signatures(TALLOC_CTX *mem)
{
    static const struct {
        const char *curve, *alg;
    } rows[] = {
        {"P-256",   "ES256"  },
        {"P-384",   "ES384"  },
        {"P-521",   "ES512"  },
        {"Ed25519", "EdDSA"  },
        {"Ed25519", "Ed25519"}, /* RFC 9864 2.2 */
    };
    static const char *const rsa_algs[] = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"};
    struct jwk *key[ROWS + 1];
    keypair_generate_rsa(mem, 2048, &key[ROWS]);
    for (size_t i = 0; i < ROWS; i++)
        keys_generate_ec(mem, rows[i].curve, &key[i]);
    for (size_t i = 0; i <= ROWS; i++)
        key[i]->alg = NULL; /* for every algorithm that fits the key */
    const struct jwk_set *all = keys_of(mem, (const struct jwk *const *) key, ROWS + 1);
    for (size_t i = 0; i < ROWS; i++) {
        is_int(verify(mem, key[i], rows[i].alg, all), JWS_FAULT_NONE, "J3: %s verifies",
               rows[i].alg);
        struct jwk *other = NULL;
        keys_generate_ec(mem, rows[i].curve, &other);
        other->kid = other->alg = NULL;
        is_int(verify(mem, other, rows[i].alg, all), JWS_FAULT_SIGNATURE,
               "... and does not by a stranger's key");
        const struct jwk_set *without = keys_of(mem, (const struct jwk *const *) key + ROWS, 1);
        is_int(verify(mem, key[i], rows[i].alg, without), JWS_FAULT_KEY,
               "... and no key of another kind is tried");
    }
    for (size_t i = 0; i < 6; i++)
        is_int(verify(mem, key[ROWS], rsa_algs[i], all), JWS_FAULT_NONE, "J3: %s verifies",
               rsa_algs[i]);
    key[ROWS]->alg = "RS256";
    is_int(verify(mem, key[ROWS], "RS256", all), JWS_FAULT_NONE, "a key for RS256 verifies RS256");
    key[ROWS]->kid = "other";
    const struct jwk_set *named = keys_of(mem, (const struct jwk *const *) key + ROWS, 1);
    struct jwk renamed = *key[ROWS];
    renamed.kid = "mine";
    is_int(verify(mem, &renamed, "RS256", named), JWS_FAULT_KEY,
           "J3: a kid that no key has finds no key, whatever would verify");
    is_int(verify(mem, key[ROWS], "RS256", keys_of(mem, NULL, 0)), JWS_FAULT_KEY,
           "... nor no keys");
}

/* Keys without kid in front of the right one are tried, 20 at most. */
static void
test_tries(TALLOC_CTX *mem)
{
    struct jwk *key[JWS_TRIES_MAX + 1];
    for (size_t i = 0; i <= JWS_TRIES_MAX; i++) {
        keys_generate_ec(mem, "P-256", &key[i]);
        key[i]->kid = NULL;
    }
    const struct jwk_set *all = keys_of(mem, (const struct jwk *const *) key, JWS_TRIES_MAX + 1);
    is_int(verify(mem, key[JWS_TRIES_MAX - 1], "ES256", all), JWS_FAULT_NONE,
           "J3: without kid the 20th key is tried");
    is_int(verify(mem, key[JWS_TRIES_MAX], "ES256", all), JWS_FAULT_SIGNATURE,
           "... and the 21st is not");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_kinds();
    test_reading(mem);
    test_limits(mem);
    test_request(mem);
    test_signatures(mem);
    test_tries(mem);
    talloc_free(mem);
    return done();
}
