#include "config.h"

#include "oauth/client_assertion.h"

#include <string.h>

/* Asymmetric algorithms alone (oauth.md J3): with HS256 a public key would be the secret, and none
 * needs no key at all. */
const char *const assertion_algs[] = {"RS256", "RS384", "RS512", "PS256", "PS384",   "PS512",
                                      "ES256", "ES384", "ES512", "EdDSA", "Ed25519", NULL};

/* A token of another explicit type, such as dpop+jwt or at+jwt, is no assertion (RFC 8725 3.11). */
static const char *const assertion_types[] = {"JWT", "client-authentication+jwt", NULL};

static const struct assertion_kind assertion_kinds[] = {
    {
     .type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
     .method = PRIVATE_KEY_JWT,
     .algs = assertion_algs,
     .types = assertion_types,
     .issued_by_client = true,
     .used_once = true,
     },
};
#define ASSERTION_KINDS (sizeof(assertion_kinds) / sizeof(assertion_kinds[0]))

const struct assertion_kind *
assertion_kind_find(const char *type)
{
    for (size_t i = 0; i < ASSERTION_KINDS; i++)
        if (strcmp(assertion_kinds[i].type, type) == 0)
            return &assertion_kinds[i];
    return NULL;
}

bool
assertion_is_method(const char *method)
{
    for (size_t i = 0; method != NULL && i < ASSERTION_KINDS; i++)
        if (strcmp(assertion_kinds[i].method, method) == 0)
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
    return (struct jws_policy){
        .keys = keys, .algs = kind->algs, .types = kind->types, .typ_optional = true};
}

/* Split the token and check its header. */
static enum az_status
assertion_read_parts(TALLOC_CTX *mem, const char *text, struct client_assertion *assertion,
                     const char **ret_why)
{
    const struct jws_policy policy = policy_of(assertion->kind, NULL);
    enum jws_fault fault = JWS_FAULT_OURS;
    enum az_status st = jws_parse_unverified(mem, text, strlen(text), &assertion->jws, &fault);
    if (st == AZ_OK)
        st = jws_check_header(assertion->jws, &policy, &fault);
    return st == AZ_INVALID ? assertion_refuse(jws_fault_text(fault), ret_why) : st;
}

/* Check the claims. A further audience is refused: that service could replay the assertion here. */
static enum az_status
assertion_check_claims(TALLOC_CTX *mem, struct client_assertion *assertion,
                       const struct assertion_request *request, const char **ret_why)
{
    const struct jwt_rule rule = {
        .audiences = request->audiences,
        .need_sub = true,
        .need_jti = assertion->kind->used_once,
        .need_exp = true,
        .now = request->now,
        .skew_past = ASSERTION_SKEW_PAST,
        .skew_future = ASSERTION_SKEW_FUTURE,
        .lifetime_max = ASSERTION_LIFETIME_MAX,
    };
    enum jwt_fault fault = JWT_FAULT_OURS;
    enum az_status st = jwt_claims_parse(mem, assertion->jws, &assertion->claims, &fault);
    if (st == AZ_OK)
        st = jwt_claims_check(&assertion->claims, &rule, &fault);
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
    if (request->client_id != NULL && strcmp(request->client_id, claims->sub) != 0)
        return assertion_refuse("client_id is not the sub of the token", ret_why);
    return AZ_OK;
}

enum az_status
client_assertion_read(TALLOC_CTX *mem, const struct assertion_kind *kind, const char *text,
                      const struct assertion_request *request, struct client_assertion *ret,
                      const char **ret_why)
{
    struct client_assertion assertion = {.kind = kind};
    enum az_status st = assertion_read_parts(mem, text, &assertion, ret_why);
    if (st == AZ_OK)
        st = assertion_check_claims(mem, &assertion, request, ret_why);
    if (st == AZ_OK)
        st = check_client(&assertion, request, ret_why);
    if (st != AZ_OK)
        return st;
    assertion.client_id = assertion.claims.sub;
    assertion.jti = assertion.claims.jti;
    assertion.until = assertion.claims.exp.seconds + ASSERTION_SKEW_PAST;
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
