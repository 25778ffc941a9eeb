#include "config.h"

#include "oauth/client_auth/client_assertion.h"

#include <string.h>

#include "base/spiffe_id.h"
#include "crypto/trust_bundle.h"

/* Asymmetric algorithms alone (oauth.md J3): with HS256 a public key would be the secret, and none
 * needs no key at all. */
const char *const assertion_algs[] = {"RS256", "RS384", "RS512", "PS256", "PS384",   "PS512",
                                      "ES256", "ES384", "ES512", "EdDSA", "Ed25519", NULL};

/* A token of another explicit type, such as dpop+jwt or at+jwt, is no assertion (RFC 8725 3.11). */
static const char *const assertion_types[] = {"JWT", "client-authentication+jwt", NULL};

/* Algorithms and types of JWT-SVIDs (JWT-SVID 2.1, 2.3). */
static const char *const svid_algs[] = {"RS256", "RS384", "RS512", "ES256", "ES384",
                                        "ES512", "PS256", "PS384", "PS512", NULL};
static const char *const svid_types[] = {"JWT", "JOSE", NULL};

/* A workload shows its JWT-SVID as often as it likes, so there is no jti to remember. */
static const struct assertion_kind svid_kind = {
    .type = "urn:ietf:params:oauth:client-assertion-type:jwt-spiffe",
    .method = SPIFFE_JWT,
    .algs = svid_algs,
    .types = svid_types,
    .key_use = TRUST_BUNDLE_JWT_USE,
    .skew_past = SVID_SKEW_PAST,
    .svid = true,
};
static const struct assertion_kind jwt_bearer_kind = {
    .type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    .method = PRIVATE_KEY_JWT,
    .algs = assertion_algs,
    .types = assertion_types,
    .skew_past = ASSERTION_SKEW_PAST,
    .issued_by_client = true,
    .used_once = true,
};

static const struct assertion_kind *const assertion_kinds[] = {&jwt_bearer_kind, &svid_kind};
#define ASSERTION_KINDS (sizeof(assertion_kinds) / sizeof(assertion_kinds[0]))

const struct assertion_kind *
assertion_kind_find(const char *type)
{
    for (size_t i = 0; i < ASSERTION_KINDS; i++)
        if (strcmp(assertion_kinds[i]->type, type) == 0)
            return assertion_kinds[i];
    return NULL;
}

bool
assertion_is_method(const char *method)
{
    for (size_t i = 0; method != NULL && i < ASSERTION_KINDS; i++)
        if (strcmp(assertion_kinds[i]->method, method) == 0)
            return true;
    return false;
}

static enum az_status
assertion_refuse(const char *why, const char **ret_why)
{
    *ret_why = why;
    return AZ_INVALID;
}

static struct jws_policy
policy_of(const struct assertion_kind *kind, const struct jwk_set *keys)
{
    return (struct jws_policy){.keys = keys,
                               .algs = kind->algs,
                               .types = kind->types,
                               .typ_optional = true,
                               .key_use = kind->key_use};
}

/* Split the token and read its claims. They say which kind it is: a workload may show its JWT-SVID
 * as jwt-bearer, which is what older libraries send. */
static enum az_status
assertion_read_parts(TALLOC_CTX *mem, const char *text, struct client_assertion *assertion,
                     const char **ret_why)
{
    enum jws_fault fault = JWS_FAULT_OURS;
    enum jwt_fault claims_fault = JWT_FAULT_OURS;
    enum az_status st = jws_parse_unverified(mem, text, strlen(text), &assertion->jws, &fault);
    if (st != AZ_OK)
        return st == AZ_INVALID ? assertion_refuse(jws_fault_text(fault), ret_why) : st;
    st = jwt_claims_parse(mem, assertion->jws, &assertion->claims, &claims_fault);
    if (st != AZ_OK)
        return st == AZ_INVALID ? assertion_refuse(jwt_fault_text(claims_fault), ret_why) : st;
    if (assertion->claims.sub != NULL && spiffe_id_begins(assertion->claims.sub))
        assertion->kind = &svid_kind;
    return AZ_OK;
}

static enum az_status
assertion_check_header(const struct client_assertion *assertion, const char **ret_why)
{
    const struct jws_policy policy = policy_of(assertion->kind, NULL);
    enum jws_fault fault = JWS_FAULT_OURS;
    enum az_status st = jws_check_header(assertion->jws, &policy, &fault);
    return st == AZ_INVALID ? assertion_refuse(jws_fault_text(fault), ret_why) : st;
}

/* Check the claims. A further audience is refused: that service could replay the assertion here. */
static enum az_status
assertion_check_claims(const struct client_assertion *assertion,
                       const struct assertion_request *request, const char **ret_why)
{
    const char *const svid_audiences[] = {request->spiffe_audience, NULL};
    const struct jwt_rule rule = {
        .audiences = assertion->kind->svid ? svid_audiences : request->audiences,
        .need_sub = true,
        .need_jti = assertion->kind->used_once,
        .need_exp = true,
        .now = request->now,
        .skew_past = assertion->kind->skew_past,
        .skew_future = ASSERTION_SKEW_FUTURE,
        .lifetime_max = ASSERTION_LIFETIME_MAX,
    };
    enum jwt_fault fault = JWT_FAULT_OURS;
    enum az_status st = jwt_claims_check(&assertion->claims, &rule, &fault);
    return st == AZ_INVALID ? assertion_refuse(jwt_fault_text(fault), ret_why) : st;
}

/* Check that the assertion is about one client (RFC 7523 3, RFC 7521 4.2). */
static enum az_status
check_client(const struct client_assertion *assertion, const struct assertion_request *request,
             const char **ret_why)
{
    const struct jwt_claims *claims = &assertion->claims;
    if (assertion->kind->issued_by_client
        && (claims->iss == NULL || strcmp(claims->iss, claims->sub) != 0))
        return assertion_refuse("token iss is not its sub", ret_why);
    if (assertion->kind->svid && spiffe_id_fault(claims->sub) != NULL)
        return assertion_refuse("token sub is not a SPIFFE ID", ret_why);
    if (request->client_id != NULL && strcmp(request->client_id, claims->sub) != 0)
        return assertion_refuse("client_id is not the sub of the token", ret_why);
    return AZ_OK;
}

/* Return the first second in which the claims can have passed: exp was not too far away yet, and
 * iat not in the future. */
static int64_t
usable_from(const struct jwt_claims *claims)
{
    int64_t by_exp = claims->exp.seconds - ASSERTION_LIFETIME_MAX;
    int64_t iat = claims->iat.present ? claims->iat.seconds : 0;
    return iat > by_exp + ASSERTION_SKEW_FUTURE ? iat - ASSERTION_SKEW_FUTURE : by_exp;
}

enum az_status
client_assertion_read(TALLOC_CTX *mem, const struct assertion_kind *kind, const char *text,
                      const struct assertion_request *request, struct client_assertion *ret,
                      const char **ret_why)
{
    struct client_assertion assertion = {.kind = kind};
    enum az_status st = assertion_read_parts(mem, text, &assertion, ret_why);
    if (st == AZ_OK)
        st = assertion_check_header(&assertion, ret_why);
    if (st == AZ_OK)
        st = assertion_check_claims(&assertion, request, ret_why);
    if (st == AZ_OK)
        st = check_client(&assertion, request, ret_why);
    if (st != AZ_OK)
        return st;
    assertion.client_id = assertion.claims.sub;
    assertion.jti = assertion.claims.jti;
    assertion.until = assertion.claims.exp.seconds + assertion.kind->skew_past;
    assertion.usable = usable_from(&assertion.claims);
    *ret = assertion;
    return AZ_OK;
}

enum az_status
client_assertion_verify(const struct client_assertion *assertion, const struct jwk_set *keys,
                        enum jws_fault *ret_fault)
{
    const struct jws_policy policy = policy_of(assertion->kind, keys);
    return jws_verify(assertion->jws, &policy, NULL, ret_fault);
}
