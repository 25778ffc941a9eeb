/* The claims of an ID token with a good signature: an input is the payload. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/jwk_set.h"
#include "crypto/jws.h"
#include "crypto/keypair.h"
#include "fuzz/fuzz.h"
#include "keys.h"
#include "oidc/upstream/upstream_id_token.h"
#include "token/authorization.h"
#include "token/person_claims.h"

#define NOW 1795258800
/* The list of incomplete claims, whose names may have to be escaped, beside the claims. */
#define INCOMPLETE_OCTETS ((PERSON_INCOMPLETE_MAX + 1) * (6 * PERSON_INCOMPLETE_NAME_MAX + 3) + 64)

static const struct upstream_expected expected[] = {
    {.issuer = "https://idp.example",
     .client_id = "us",
     .nonce = "n",
     .access_token = "access",
     .max_age = AUTHORIZATION_NO_MAX_AGE,
     .now = NOW},
    { .issuer = "https://idp.example",
     .client_id = "us",
     .nonce = "n",
     .max_age = 60,
     .prompt_login = true,
     .asked_at = NOW - 10,
     .now = NOW},
};

static bool
is_text(const json_t *object, const char *name, const char *text)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value != NULL && strcmp(value, text) == 0;
}

static void
check_good(TALLOC_CTX *mem, const struct upstream_claims *claims,
           const struct upstream_expected *held)
{
    static const char *const gone[] = {"iss", "aud", "nonce", "sub", "acr", "amr", "exp"};
    MUST(is_text(claims->object, "iss", held->issuer));
    MUST(is_text(claims->object, "nonce", held->nonce));
    MUST(is_text(claims->object, "sub", claims->sub) && *claims->sub != '\0');
    MUST(claims->acr == NULL || strlen(claims->acr) <= UPSTREAM_TEXT_MAX);
    MUST(claims->sid == NULL || strlen(claims->sid) <= UPSTREAM_TEXT_MAX);
    MUST(claims->amr == NULL || claims->amr[0] != NULL);
    for (size_t i = 0; claims->amr != NULL && claims->amr[i] != NULL; i++)
        MUST(i < UPSTREAM_AMR_MAX && strlen(claims->amr[i]) <= UPSTREAM_TEXT_MAX);
    if (held->max_age != AUTHORIZATION_NO_MAX_AGE)
        MUST(claims->has_auth_time && claims->auth_time >= NOW - held->max_age - UPSTREAM_SKEW
             && claims->auth_time <= NOW + UPSTREAM_SKEW);
    static const char *const lists[] = {"groups", "x", NULL};
    const struct person_answers answers = {
        .id_token = claims->object, .userinfo = claims->object, .lists = lists};
    json_t *kept = person_claims_keep(mem, &answers, NULL);
    const char *text = jsonx_dump(mem, kept);
    MUST(text != NULL && strlen(text) <= PERSON_CLAIMS_MAX + INCOMPLETE_OCTETS);
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        MUST(json_object_get(kept, gone[i]) == NULL);
}

static const char *const curves[] = {"P-256", "P-384"};
static const char *const algs[] = {"ES256", "ES384"};
#define KEYS (sizeof(algs) / sizeof(algs[0]))

/* The keys of the provider, made once. */
static const struct jwk *const *
provider_keys(void)
{
    static struct jwk *key[KEYS];
    for (size_t i = 0; i < KEYS && key[KEYS - 1] == NULL; i++)
        MUST(keys_generate_ec(NULL, curves[i], &key[i]) == AZ_OK);
    return (const struct jwk *const *) key;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const struct jwk *const *key = provider_keys();
    struct jwk_set *keys = keys_of(mem, key, KEYS);
    for (size_t a = 0; a < KEYS; a++) {
        char *text = NULL;
        if (jws_sign(mem, key[a], algs[a], "JWT", data, size, &text) != AZ_OK)
            continue; /* too long for a token */
        for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
            struct upstream_claims claims = {.sub = NULL};
            const char *why = NULL;
            bool stale = true;
            enum az_status st =
                upstream_id_token_check(mem, text, keys, &expected[i], &claims, &why, &stale);
            MUST(st == AZ_OK || (st == AZ_INVALID && why != NULL && claims.sub == NULL));
            MUST(!stale);
            if (st == AZ_OK)
                check_good(mem, &claims, &expected[i]);
        }
    }
    talloc_free(mem);
    return 0;
}
