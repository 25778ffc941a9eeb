/* Compact JWS and the claims in it, against the public key of RFC 7515 A.3. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "fuzz/fuzz.h"
#include "keys.h"

static const char key_set[] = "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":"
                              "\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
                              "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}";

/* The only text that this key is known to have signed. */
static const char known[] =
    "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNv"
    "bS9pc19yb290Ijp0cnVlfQ";

static const char *const algs[] = {"RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA", NULL};
static const char *const types[] = {"JWT", NULL};
static const char *const audiences[] = {"https://as.example", NULL};

static void
check_claims(TALLOC_CTX *mem, const struct jws *jws)
{
    const struct jwt_rule rule = {.audiences = audiences, .now = 1300819000, .need_exp = true};
    struct jwt_claims claims;

    if (jwt_claims_parse(mem, jws, &claims, NULL) != AZ_OK)
        return;
    MUST(claims.aud_count <= JWT_AUDIENCES_MAX);
    if (jwt_claims_check(&claims, &rule, NULL) == AZ_OK)
        MUST(claims.aud_count == 1 && strcmp(claims.aud[0], audiences[0]) == 0
             && claims.exp.seconds > rule.now);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct jws_policy policy = {.algs = algs, .types = types, .typ_optional = true};
    struct jwk_set *set = NULL;
    struct jws *jws = NULL;
    enum jws_fault fault = JWS_FAULT_NONE;

    MUST(keys_parse_text(mem, key_set, strlen(key_set), JWK_SET_REGISTERED, &set, NULL) == AZ_OK);
    policy.keys = set;
    if (jws_parse_unverified(mem, (const char *) data, size, &jws, &fault) == AZ_OK) {
        MUST(size <= JWS_OCTETS_MAX && jws->signed_len < size);
        MUST(memcmp(jws->signed_text, data, jws->signed_len) == 0);
        if (jws_verify(jws, &policy, NULL, &fault) == AZ_OK)
            MUST(strcmp(jws->signed_text, known) == 0);
        check_claims(mem, jws);
    } else {
        MUST(jws == NULL && fault != JWS_FAULT_NONE);
    }
    talloc_free(mem);
    return 0;
}
