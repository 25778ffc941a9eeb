#include "config.h"

#include "oauth/client_auth/issuer_keys.h"

#include <string.h>

#include "crypto/jws.h"
#include "http/fetch/documents.h"
#include "policy/decide/trust.h"

const char *const issuer_algs[] = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
                                   "ES256", "ES384", "ES512", "EdDSA", NULL};

enum az_status
fetched_keys_check(struct op *op, const char *url, const json_t *document)
{
    struct jwk_set *set;
    const char *why = NULL;
    enum az_status st = jwk_set_parse(op->mem, document, JWK_SET_FETCHED, &set, &why);
    if (st == AZ_INVALID)
        return op_fail(op, AZ_INVALID, NULL, "key set of %.160s: %s", url, why);
    return st == AZ_OK ? AZ_OK : op_no_memory(op);
}

static enum az_status
check_metadata(struct op *op, const char *url, const json_t *document)
{
    if (json_is_string(json_object_get(document, "issuer"))
        && json_is_string(json_object_get(document, "jwks_uri")))
        return AZ_OK;
    return op_fail(op, AZ_INVALID, NULL, "metadata of %.160s: no issuer or jwks_uri", url);
}

/* Sort out a failed fetch. If the host of the issuer does not deliver, the token cannot be checked,
 * and the sender is told so (AZ_INVALID). A full pool and the like are failures of this service. */
static enum az_status
fetch_failed(struct op *op, enum az_status st, enum fetch_fault fault, bool *ret_unreachable)
{
    if (st != AZ_INVALID && (st != AZ_UNAVAILABLE || !fetch_fault_of_host(fault)))
        return st;
    *ret_unreachable = true;
    return az_fail_as(&op->fault, AZ_INVALID, NULL);
}

/* Return one of the two addresses of the metadata of an issuer: OpenID Connect Discovery 4
 * appends the name, RFC 8414 3 puts it before the path. */
static const char *
metadata_url(TALLOC_CTX *mem, const char *issuer, bool oauth)
{
    size_t length = strlen(issuer);
    while (length > 0 && issuer[length - 1] == '/')
        length--;
    if (!oauth)
        return talloc_asprintf(mem, "%.*s/.well-known/openid-configuration", (int) length, issuer);
    const char *host = strstr(issuer, "://");
    size_t origin = host != NULL ? (size_t) (host + 3 - issuer) : length;
    origin += host != NULL ? strcspn(host + 3, "/") : 0;
    if (origin > length)
        origin = length;
    return talloc_asprintf(mem, "%.*s/.well-known/oauth-authorization-server%.*s", (int) origin,
                           issuer, (int) (length - origin), issuer + origin);
}

/* Find the address of the keys by discovery. Metadata of another issuer is refused (RFC 8414
 * 3.3). */
static enum az_status
discover(struct op *op, const char *issuer, const char **ret_url, bool *ret_unreachable)
{
    struct document document;
    enum fetch_fault fault = FETCH_OK;
    enum az_status st = AZ_UNAVAILABLE;
    for (int oauth = 0; oauth < 2; oauth++) {
        const char *url = metadata_url(op->mem, issuer, oauth == 1);
        if (url == NULL)
            return op_no_memory(op);
        az_fault_clear(&op->fault);
        st = document_get(op, DOCUMENT_DISCOVERY, url, 0, check_metadata, &document, &fault);
        const char *its =
            st == AZ_OK ? json_string_value(json_object_get(document.json, "issuer")) : NULL;
        if (its != NULL && strcmp(its, issuer) == 0) {
            *ret_url = json_string_value(json_object_get(document.json, "jwks_uri"));
            return AZ_OK;
        }
        if (st == AZ_OK)
            st = op_fail(op, AZ_INVALID, NULL, "%.160s names another issuer", url);
        if (st != AZ_INVALID && fault != FETCH_FAULT_HTTP)
            break;
    }
    return fetch_failed(op, st, fault, ret_unreachable);
}

static enum az_status
fetch_keys(struct op *op, const struct trust_issuer *issuer, int64_t not_before,
           struct jwk_set **ret, bool *ret_unreachable)
{
    struct document document;
    enum fetch_fault fault = FETCH_OK;
    const char *url = issuer->jwks_uri;
    enum az_status st = url != NULL ? AZ_OK : discover(op, issuer->issuer, &url, ret_unreachable);
    if (st != AZ_OK)
        return st;
    st = document_get(op, DOCUMENT_KEYS, url, not_before, fetched_keys_check, &document, &fault);
    if (st != AZ_OK)
        return fetch_failed(op, st, fault, ret_unreachable);
    if (jwk_set_parse(op->mem, document.json, JWK_SET_FETCHED, ret, NULL) != AZ_OK)
        return op_no_memory(op);
    return AZ_OK;
}

enum az_status
issuer_verify(struct op *op, const struct trust_issuer *issuer, const struct jws *jws,
              struct jws_policy *policy, bool *ret_unreachable)
{
    struct jwk_set *keys = NULL;
    enum jws_fault fault = JWS_FAULT_OURS;
    *ret_unreachable = false;
    enum az_status st = fetch_keys(op, issuer, 0, &keys, ret_unreachable);
    if (st != AZ_OK)
        return st;
    policy->keys = keys;
    st = jws_verify(jws, policy, NULL, &fault);
    if (st == AZ_INVALID && jws_key_may_be_new(jws, fault)) {
        if ((st = fetch_keys(op, issuer, op->now_ms, &keys, ret_unreachable)) != AZ_OK)
            return st;
        policy->keys = keys;
        st = jws_verify(jws, policy, NULL, &fault);
    }
    return st == AZ_OK ? AZ_OK
                       : op_fail(op, st == AZ_INVALID ? AZ_INVALID : AZ_SERVER_ERROR, NULL,
                                 "token of %.160s: %s", issuer->issuer, jws_fault_text(fault));
}
