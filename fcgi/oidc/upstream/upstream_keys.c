#include "config.h"

#include "oidc/upstream/upstream_keys.h"

#include "http/fetch/documents.h"
#include "oidc/upstream/upstream_fault.h"

static enum az_status
upstream_check_keys(struct op *op, const char *url, const json_t *document)
{
    struct jwk_set *set;
    const char *why = "cannot be read";
    if (jwk_set_parse(op->mem, document, JWK_SET_FETCHED, &set, &why) == AZ_OK && set->count > 0)
        return AZ_OK;
    return op_fail(op, AZ_UNAVAILABLE, UPSTREAM_NOT_REACHED, "key set %.200s: %s", url, why);
}

/* Get the keys, none of them fetched before *fetched (milliseconds since 1970; 0: no such
 * condition; http/fetch/documents.h), which becomes the time of their fetch. On op->mem.
 * AZ_UNAVAILABLE: they cannot be fetched. */
static enum az_status
get_keys(struct op *op, const struct upstream_endpoints *endpoints, int64_t *fetched,
         struct jwk_set **ret)
{
    struct document document;
    enum az_status st = document_get(op, DOCUMENT_KEYS, endpoints->jwks_uri, *fetched,
                                     upstream_check_keys, &document, NULL);
    if (st != AZ_OK)
        return st;
    if (jwk_set_parse(op->mem, document.json, JWK_SET_FETCHED, ret, NULL) != AZ_OK)
        return op_fail(op, AZ_UNAVAILABLE, UPSTREAM_NOT_REACHED, "key set %.200s: cannot be read",
                       endpoints->jwks_uri);
    *fetched = document.fetched_ms;
    return AZ_OK;
}

/* Newer keys are newer than those that were judged, not than the request: a provider may make a
 * key when it signs userinfo, after its keys were fetched for the ID token. */
enum az_status
upstream_keys_check(struct op *op, const struct upstream_endpoints *endpoints,
                    upstream_key_check_fn *check, void *arg, const char **ret_why)
{
    struct jwk_set *keys;
    int64_t fetched = 0;
    bool stale = false;
    enum az_status st = get_keys(op, endpoints, &fetched, &keys);
    if (st != AZ_OK)
        return st;
    st = check(op->mem, keys, arg, ret_why, &stale);
    fetched++;
    if (st == AZ_INVALID && stale && get_keys(op, endpoints, &fetched, &keys) == AZ_OK)
        st = check(op->mem, keys, arg, ret_why, &stale);
    if (st == AZ_INVALID)
        az_fault_clear(&op->fault); /* of the keys that could not be fetched again */
    return st == AZ_OK || st == AZ_INVALID ? st : op_no_memory(op);
}
