/* A SPIFFE trust bundle as another server delivers it, and a SPIFFE ID. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/spiffe_id.h"
#include "crypto/jwk.h"
#include "crypto/jwk_set.h"
#include "crypto/trust_bundle.h"
#include "fuzz/fuzz.h"

#define DEPTH_MAX 16

static void
check_keys(TALLOC_CTX *mem, const json_t *bundle)
{
    json_t *keys = trust_bundle_jwt_keys(mem, bundle);
    struct jwk_set *set = NULL;
    const char *why = NULL;
    MUST(keys != NULL);
    MUST(json_array_size(json_object_get(keys, "keys"))
         <= json_array_size(json_object_get(bundle, "keys")));
    enum az_status st = jwk_set_parse(mem, keys, JWK_SET_FETCHED, &set, &why);
    MUST(st == AZ_OK || (st == AZ_INVALID && why != NULL));
    for (size_t i = 0; st == AZ_OK && i < set->count; i++)
        MUST(set->keys[i]->priv == NULL && strcmp(set->keys[i]->use, TRUST_BUNDLE_JWT_USE) == 0);
}

static void
check_id(const char *text)
{
    if (spiffe_id_fault(text) != NULL)
        return;
    MUST(spiffe_id_begins(text) && strlen(text) <= SPIFFE_ID_MAX);
    MUST(strstr(text, "/../") == NULL && strstr(text + 9, "//") == NULL);
    MUST(text[strlen(text) - 1] != '/');
    MUST(!spiffe_id_is_in(text, ""));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *bundle = NULL;
    const char *text = talloc_strndup(mem, (const char *) data, size);
    check_id(text);
    if (jsonx_parse(mem, text, strlen(text), DEPTH_MAX, &bundle, NULL) == AZ_OK
        && trust_bundle_fault(bundle) == NULL) {
        MUST(json_is_object(bundle));
        MUST(trust_bundle_refresh_hint(bundle) >= -1);
        MUST(!trust_bundle_is_older(bundle, bundle));
        check_keys(mem, bundle);
    }
    talloc_free(mem);
    return 0;
}
