#include "config.h"

#include "oauth/client_auth/svid_keys.h"

#include "base/spiffe_id.h"
#include "crypto/jwk_set.h"
#include "crypto/trust_bundle.h"
#include "http/fetch/documents.h"
#include "policy/decide/trust.h"

/* Check a fetched bundle. AZ_INVALID: the host answered with something else. */
static enum az_status
check_bundle(struct op *op, const char *url, const json_t *document)
{
    struct jwk_set *set;
    const char *why = trust_bundle_fault(document);
    if (why != NULL)
        return op_fail(op, AZ_INVALID, NULL, "trust bundle %.160s: %s", url, why);
    json_t *keys = trust_bundle_jwt_keys(op->mem, document);
    enum az_status st =
        keys == NULL ? AZ_SERVER_ERROR : jwk_set_parse(op->mem, keys, JWK_SET_FETCHED, &set, &why);
    if (st == AZ_INVALID)
        return op_fail(op, st, NULL, "trust bundle %.160s: %s", url, why);
    return st == AZ_OK ? st : op_fail(op, st, NULL, "out of memory");
}

static bool
domain_is_trusted(const struct trust_spiffe *trust, const char *spiffe_id)
{
    size_t index;
    const json_t *domain;
    json_array_foreach (trust->domains, index, domain)
        if (json_is_string(domain) && spiffe_id_is_in(spiffe_id, json_string_value(domain)))
            return true;
    return trust->domains == NULL;
}

enum az_status
svid_keys(struct op *op, const char *spiffe_id, int64_t not_before, const json_t **ret,
          enum fetch_fault *ret_fault, const char **ret_why)
{
    struct trust_spiffe trust;
    struct document document;
    enum az_status st = trust_spiffe(op, NULL, &trust);
    if (st != AZ_OK)
        return st;
    if (trust.bundle_url == NULL || !domain_is_trusted(&trust, spiffe_id)) {
        *ret_why = trust.bundle_url == NULL ? "no spiffe_trust_bundle_url is set"
                                            : "its trust domain is not in spiffe_trust_domains";
        return AZ_INVALID;
    }
    st = document_get(op, DOCUMENT_TRUST_BUNDLE, trust.bundle_url, not_before, check_bundle,
                      &document, ret_fault);
    if (st != AZ_OK)
        return st;
    const json_t *keys = trust_bundle_jwt_keys(op->mem, document.json);
    if (keys == NULL)
        return op_no_memory(op);
    *ret = keys;
    return AZ_OK;
}
