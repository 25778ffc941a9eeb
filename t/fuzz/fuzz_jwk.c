/* JWK Sets: a strict reader takes no more than a lenient one; keys keep their thumbprint. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/jwk.h"
#include "crypto/jwk_set.h"
#include "fuzz/fuzz.h"
#include "keys.h"

static void
check_key(TALLOC_CTX *mem, const struct jwk *key)
{
    char before[JWK_THUMBPRINT_SIZE];
    char after[JWK_THUMBPRINT_SIZE];
    struct jwk *again = NULL;
    json_t *object = NULL;

    MUST(key->priv == NULL && key->pub != NULL);
    MUST(key->kty != JWK_RSA || (key->bits >= JWK_RSA_BITS_MIN && key->bits <= JWK_RSA_BITS_MAX));
    MUST(jwk_thumbprint(key, before) == AZ_OK && jwk_dump(key, &object) == AZ_OK);
    jsonx_own(mem, object);
    MUST(jwk_parse(mem, object, &again, NULL) == AZ_OK);
    MUST(jwk_thumbprint(again, after) == AZ_OK && strcmp(before, after) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *text = (const char *) data;
    struct jwk_set *strict = NULL;
    struct jwk_set *lenient = NULL;

    enum az_status fetched = keys_parse_text(mem, text, size, JWK_SET_FETCHED, &lenient, NULL);
    if (keys_parse_text(mem, text, size, JWK_SET_REGISTERED, &strict, NULL) == AZ_OK)
        MUST(fetched == AZ_OK && strict->count == lenient->count);
    for (size_t i = 0; lenient != NULL && i < lenient->count; i++)
        check_key(mem, lenient->keys[i]);
    talloc_free(mem);
    return 0;
}
