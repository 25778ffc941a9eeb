/* JWT-SVIDs as client assertions (oauth.md J9): the claims, and what go-spiffe
 * made and judged. */
#include "config.h"

#include <string.h>

#include "base/b64url.h"
#include "crypto/keypair.h"
#include "crypto/trust_bundle.h"
#include "keys.h"
#include "oauth/client_auth/client_assertion.h"
#include "tap.h"
#include "vectors/load.h"

#define NOW 1795258800
#define ISSUER "https://as.example"
#define WORKLOADS "https://workloads.example"
#define ID "spiffe://example.org/billing"
#define BEARER "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
#define SPIFFE "urn:ietf:params:oauth:client-assertion-type:jwt-spiffe"

static const char *const audiences[] = {ISSUER, ISSUER "/token", NULL};

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
why_refused(TALLOC_CTX *mem, const char *type, const char *text,
            const struct assertion_request *request, struct client_assertion *ret)
{
    const char *why = NULL;
    enum az_status st =
        client_assertion_read(mem, assertion_kind_find(type), text, request, ret, &why);
    if (st == AZ_OK)
        return NULL;
    return st == AZ_INVALID && why != NULL ? why : "another status";
}

#define HEAD "{\"alg\":\"ES256\"}"
#define SUB "\"sub\":\"" ID "\""
#define AUD ",\"aud\":\"" WORKLOADS "\""
#define EXP ",\"exp\":1795258860"

/* clang-format off */
static const struct { const char *header, *payload, *why, *name; } rows[] = {
    {HEAD, "{" SUB AUD EXP "}", NULL, "sub, aud and exp alone: iss, jti, kid and iat are optional"},
    {HEAD, "{" SUB ",\"aud\":[\"" WORKLOADS "\"]" EXP "}", NULL, "aud as an array of one"},
    {HEAD, "{" SUB AUD EXP ",\"iss\":\"https://spire.example\",\"jti\":\"1\",\"iat\":1795258800}", NULL, "an iss that is not sub, a jti and iat"},
    {"{\"alg\":\"ES256\",\"typ\":\"JWT\",\"kid\":\"a\"}", "{" SUB AUD EXP "}", NULL, "typ JWT (JWT-SVID 2.3)"},
    {"{\"alg\":\"PS512\",\"typ\":\"JOSE\"}", "{" SUB AUD EXP "}", NULL, "typ JOSE, PS512"},
    {HEAD, "{" SUB AUD ",\"exp\":1795258741}", NULL, "exp 59 s ago"},
    {HEAD, "{" SUB AUD ",\"exp\":1795262400}", NULL, "exp an hour ahead"},
    {HEAD, "{" SUB AUD ",\"exp\":1795258740}", "expired", "exp 60 s ago"},
    {HEAD, "{" SUB AUD ",\"exp\":1795262401}", "too far", "exp a second more than an hour ahead"},
    {HEAD, "{" SUB AUD "}", "exp", "no exp"},
    {HEAD, "{" SUB AUD EXP ",\"nbf\":1795258861}", "nbf", "nbf 61 s ahead"},
    {HEAD, "{" SUB AUD EXP ",\"iat\":1795258861}", "iat", "iat 61 s ahead"},
    {HEAD, "{" SUB EXP "}", "aud", "no aud"},
    {HEAD, "{" SUB ",\"aud\":\"" ISSUER "\"" EXP "}", "aud", "aud the issuer, if SVC_SPIFFE_AUDIENCE is another"},
    {HEAD, "{" SUB ",\"aud\":\"" ISSUER "/token\"" EXP "}", "aud", "aud the token endpoint"},
    {HEAD, "{" SUB ",\"aud\":[\"" WORKLOADS "\",\"https://db.example\"]" EXP "}", "aud", "a second aud: that service could replay it"},
    {HEAD, "{" SUB ",\"aud\":[\"" WORKLOADS "\",\"" ISSUER "\"]" EXP "}", "aud", "two of our names"},
    {HEAD, "{" SUB ",\"aud\":[]" EXP "}", "aud", "an empty aud"},
    {HEAD, "{\"sub\":\"spiffe://example.org/a/../billing\"" AUD EXP "}", "SPIFFE ID", "a dot segment in sub"},
    {HEAD, "{\"sub\":\"spiffe://Example.org/billing\"" AUD EXP "}", "SPIFFE ID", "a capital in the trust domain"},
    {HEAD, "{\"sub\":\"spiffe://example.org/billing/\"" AUD EXP "}", "SPIFFE ID", "a slash at the end of sub"},
    {HEAD, "{\"sub\":\"spiffe://\"" AUD EXP "}", "SPIFFE ID", "no trust domain"},
    {"{\"alg\":\"EdDSA\"}", "{" SUB AUD EXP "}", "alg", "EdDSA, which JWT-SVIDs do not use (JWT-SVID 2.1)"},
    {"{\"alg\":\"none\"}", "{" SUB AUD EXP "}", "alg", "alg none"},
    {"{\"alg\":\"HS256\"}", "{" SUB AUD EXP "}", "alg", "HS256"},
    {"{\"alg\":\"ES256\",\"typ\":\"client-authentication+jwt\"}", "{" SUB AUD EXP "}", "typ", "the typ of other client assertions"},
    {"{\"alg\":\"ES256\",\"typ\":\"at+jwt\"}", "{" SUB AUD EXP "}", "typ", "the typ of an access token"},
    {"{\"alg\":\"ES256\",\"crit\":[\"exp\"]}", "{" SUB AUD EXP "}", "crit", "crit"},
};
/* clang-format on */

static void
test_claims(TALLOC_CTX *mem)
{
    static const char *const types[] = {SPIFFE, BEARER};
    const struct assertion_request request = {
        .audiences = audiences, .spiffe_audience = WORKLOADS, .now = NOW};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t j = 0; j < 2; j++) {
            struct client_assertion svid = {.kind = NULL};
            const char *why = why_refused(
                mem, types[j], raw_token(mem, rows[i].header, rows[i].payload), &request, &svid);
            ok(rows[i].why == NULL ? why == NULL : why != NULL && strstr(why, rows[i].why) != NULL,
               "J9: %s: %s, as %s: %s", rows[i].why == NULL ? "read" : "refused", rows[i].name,
               strrchr(types[j], ':') + 1, why != NULL ? why : "-");
            if (why == NULL)
                ok(svid.kind->svid && !svid.kind->used_once
                       && strcmp(svid.kind->method, SPIFFE_JWT) == 0
                       && strcmp(svid.client_id, ID) == 0,
                   "... and is a JWT-SVID, which may be shown again");
        }
}

static void
test_request(TALLOC_CTX *mem)
{
    struct client_assertion svid = {.kind = NULL};
    struct assertion_request request = {
        .client_id = ID, .audiences = audiences, .spiffe_audience = WORKLOADS, .now = NOW};
    const char *good = raw_token(mem, HEAD, "{" SUB AUD EXP "}");
    ok(why_refused(mem, SPIFFE, good, &request, &svid) == NULL, "J9: client_id equal to sub");
    request.client_id = "spiffe://example.org/billin";
    ok(why_refused(mem, SPIFFE, good, &request, &svid) != NULL, "J9: refused: another client_id");
    request.client_id = NULL;
    const char *plain = raw_token(
        mem, HEAD, "{\"iss\":\"crm\",\"sub\":\"crm\",\"aud\":\"" ISSUER "\",\"jti\":\"1\"" EXP "}");
    ok(why_refused(mem, SPIFFE, plain, &request, &svid) != NULL,
       "J9: refused: jwt-spiffe without a SPIFFE ID in sub");
    ok(why_refused(mem, BEARER, plain, &request, &svid) == NULL && !svid.kind->svid,
       "... which is an assertion of private_key_jwt");
    const char *foreign = raw_token(mem, HEAD,
                                    "{\"iss\":\"" ID "\",\"sub\":\"" ID "\",\"aud\":\"" ISSUER
                                    "\",\"jti\":\"1\"" EXP "}");
    ok(why_refused(mem, BEARER, foreign, &request, &svid) != NULL,
       "J9: jwt-bearer with a SPIFFE ID keeps the rules of JWT-SVIDs");
}

/* Keys of another use do not verify, even with the right kid. */
static void
test_uses(TALLOC_CTX *mem)
{
    struct jwk *key = NULL;
    struct client_assertion svid;
    char *text = NULL;
    enum jws_fault fault = JWS_FAULT_NONE;
    static const char payload[] = "{" SUB AUD EXP "}";
    const struct assertion_request request = {
        .audiences = audiences, .spiffe_audience = WORKLOADS, .now = NOW};
    keys_generate_ec(mem, "P-256", &key);
    jws_sign(mem, key, "ES256", NULL, payload, strlen(payload), &text);
    ok(why_refused(mem, SPIFFE, text, &request, &svid) == NULL, "a signed JWT-SVID is read");
    static const struct {
        const char *use;
        enum jws_fault fault;
    } uses[] = {
        {"jwt-svid",  JWS_FAULT_NONE},
        {"x509-svid", JWS_FAULT_KEY },
        {"sig",       JWS_FAULT_KEY },
        {NULL,        JWS_FAULT_KEY },
    };
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        key->use = uses[i].use;
        fault = JWS_FAULT_NONE;
        client_assertion_verify(&svid, keys_of(mem, (const struct jwk *const *) &key, 1), &fault);
        is_int(fault, uses[i].fault, "J9: a key of the use %s %s",
               uses[i].use != NULL ? uses[i].use : "-",
               uses[i].fault == JWS_FAULT_NONE ? "verifies it" : "does not");
    }
}

/* go-spiffe wrote the bundle and the tokens, and judged them. */
static void
test_go_spiffe(TALLOC_CTX *mem)
{
    const json_t *all = vectors_load(mem, "spiffe/go-spiffe.json"), *row;
    const json_t *bundle = json_object_get(all, "bundle");
    struct jwk_set *set = NULL;
    size_t i;
    const struct assertion_request request = {.audiences = audiences,
                                              .spiffe_audience = vectors_text(all, "audience"),
                                              .now =
                                                  json_integer_value(json_object_get(all, "now"))};
    ok(trust_bundle_fault(bundle) == NULL, "go-spiffe: its bundle is valid");
    is_int(trust_bundle_refresh_hint(bundle), 300, "... and has a refresh hint");
    jwk_set_parse(mem, trust_bundle_jwt_keys(mem, bundle), JWK_SET_FETCHED, &set, NULL);
    is_int((long) set->count, 3, "... and three keys for JWT-SVIDs");
    json_array_foreach (json_object_get(all, "svids"), i, row) {
        struct client_assertion svid;
        bool good = why_refused(mem, SPIFFE, vectors_text(row, "token"), &request, &svid) == NULL
                    && client_assertion_verify(&svid, set, NULL) == AZ_OK;
        is_int(good, json_is_true(json_object_get(row, "good")), "go-spiffe: %s: %s",
               good ? "accepted" : "refused", vectors_text(row, "name"));
        if (good)
            is_str(svid.client_id, vectors_text(row, "id"), "... with its SPIFFE ID");
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_claims(mem);
    test_request(mem);
    test_uses(mem);
    test_go_spiffe(mem);
    talloc_free(mem);
    return done();
}
