/* A client assertion before its signature is verified: an input is the token, and with a good
 * header in front of it the payload. */
#include "config.h"

#include <string.h>

#include "base/b64url.h"
#include "base/spiffe_id.h"
#include "fuzz/fuzz.h"
#include "oauth/client_auth/client_assertion.h"

#define NOW 1795258800
#define ISSUER "https://as.example"
#define SPIFFE_AUDIENCE "https://workloads.example"

static const char *const types[] = {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                                    "urn:ietf:params:oauth:client-assertion-type:jwt-spiffe"};
static const char *const audiences[] = {ISSUER, ISSUER "/token", NULL};

static bool
has(const char *const *list, const char *word)
{
    for (size_t i = 0; list[i] != NULL; i++)
        if (strcmp(list[i], word) == 0)
            return true;
    return false;
}

static void
check_good(const struct client_assertion *assertion, const char *client_id)
{
    const struct jwt_claims *claims = &assertion->claims;
    bool svid = assertion->kind->svid;
    MUST(svid == spiffe_id_begins(claims->sub));
    MUST(svid || (strcmp(claims->iss, claims->sub) == 0 && *claims->sub != '\0'));
    MUST(!svid || spiffe_id_fault(claims->sub) == NULL);
    MUST(strcmp(assertion->client_id, claims->sub) == 0);
    MUST(client_id == NULL || strcmp(client_id, claims->sub) == 0);
    MUST(claims->aud_count == 1);
    MUST(svid ? strcmp(claims->aud[0], SPIFFE_AUDIENCE) == 0 : has(audiences, claims->aud[0]));
    MUST(svid || (assertion->jti != NULL && *assertion->jti != '\0'));
    MUST(assertion->jti == NULL || strlen(assertion->jti) <= JWT_NAME_MAX);
    MUST(assertion->until > NOW
         && assertion->until <= NOW + ASSERTION_LIFETIME_MAX + SVID_SKEW_PAST);
    MUST(has(assertion->kind->algs, assertion->jws->alg));
    MUST(json_object_get(assertion->jws->header, "crit") == NULL);
}

static void
read_once(const char *type, const char *text, const char *client_id)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const struct assertion_kind *kind = assertion_kind_find(type);
    const struct assertion_request request = {client_id, audiences, SPIFFE_AUDIENCE, NOW};
    struct client_assertion assertion = {.kind = NULL};
    const struct jwk_set none = {.count = 0};
    enum jws_fault fault = JWS_FAULT_NONE;
    const char *why = NULL;
    enum az_status st = client_assertion_read(mem, kind, text, &request, &assertion, &why);
    MUST(st == AZ_OK || (st == AZ_INVALID && why != NULL && assertion.kind == NULL));
    if (st == AZ_OK) {
        check_good(&assertion, client_id);
        MUST(client_assertion_verify(&assertion, &none, &fault) == AZ_INVALID
             && fault == JWS_FAULT_KEY);
    }
    talloc_free(mem);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *payload = talloc_array(mem, char, (unsigned) B64URL_LENGTH(size) + 1);
    b64url_encode_into(data, size, payload);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        read_once(types[i], talloc_asprintf(mem, "eyJhbGciOiJFUzI1NiJ9.%s.AA", payload), NULL);
        read_once(types[i], talloc_asprintf(mem, "eyJhbGciOiJFUzI1NiJ9.%s.AA", payload), "crm");
        read_once(types[i], talloc_strndup(mem, (const char *) data, size), "crm");
    }
    talloc_free(mem);
    return 0;
}
