#include "config.h"

#include "gateway/link/need.h"

#include <string.h>

#include "base/settings/settings.h"
#include "base/uri.h"
#include "base/words.h"
#include "crypto/keyring.h"
#include "crypto/random.h"
#include "managed/managed.h"
#include "metrics/metrics.h"
#include "store/gateway/links.h"

_Static_assert(LINK_JTI_OCTETS == LINK_REQUEST_JTI_OCTETS, "one id");

/* Get the keys of states: from the secret and the previous secret; without a secret, from
 * SVC_CREDENTIAL_KEY. */
static enum az_status
link_get_keys(struct op *op, struct link_keys *ret)
{
    static const char label[] = "gateway link state";
    const struct settings *cfg = op->az->cfg;
    const char *const secrets[] = {cfg->gateway_link_state_secret,
                                   cfg->gateway_link_state_previous};
    enum az_status st = AZ_OK;
    ret->count = 0;
    for (size_t i = 0; i < LINK_KEYS_MAX && st == AZ_OK; i++)
        if (secrets[i] != NULL && *secrets[i] != '\0')
            st = link_key_derive(secrets[i], ret->key[ret->count++]);
        else if (i == 0)
            st = keyring_mac(op->az->keyring, KEYRING_LINK_STATE, label, sizeof(label) - 1,
                             ret->key[ret->count++]);
    return st == AZ_OK ? AZ_OK : op_fail(op, AZ_SERVER_ERROR, NULL, "the key of links failed");
}

enum az_status
link_need(struct op *op, const struct link_wanted *wanted, bool *ret_found, const char **ret_url,
          int64_t *ret_expires_in)
{
    static const char *const none[] = {NULL};
    const json_t *asked = wanted->scopes;
    const char **scopes = asked != NULL ? words_array_list(op->mem, asked) : NULL;
    struct link_request_new link = {
        .subject = wanted->subject,
        .resource = wanted->resource->name,
        .client_id = wanted->client_id,
        .scopes = scopes != NULL ? (const char *const *) scopes : none,
        .return_to = wanted->return_to,
        .flow_id = wanted->flow_id != NULL ? wanted->flow_id : random_uuid7(op->mem, op->now_ms),
    };
    struct link_keys keys;
    struct link_state state;
    char text[LINK_STATE_SIZE];
    if (random_octets(link.jti, sizeof(link.jti)) != AZ_OK || link.flow_id == NULL
        || (asked != NULL && scopes == NULL))
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "the random number generator failed, or out of memory");
    enum az_status st = link_request_need(op, &link, ret_found, state.jti, &state.expires_at);
    if (st != AZ_OK || !*ret_found)
        return st;
    if ((st = link_get_keys(op, &keys)) == AZ_OK)
        st = link_state_make(&keys, &state, text);
    secret_wipe(&keys, sizeof(keys));
    *ret_url = st == AZ_OK ? talloc_asprintf(op->mem, "%s/gateway/link?state=%s",
                                             op->az->cfg->oidc_issuer, text)
                           : NULL;
    int64_t left = state.expires_at - op_now(op);
    *ret_expires_in = left < LINK_REQUEST_VALIDITY ? left : LINK_REQUEST_VALIDITY;
    return *ret_url != NULL ? AZ_OK
                            : op_fail(op, AZ_SERVER_ERROR, NULL, "a link cannot be created");
}

enum az_status
link_read(struct op *op, const char *text, struct link_state *ret)
{
    struct link_keys keys;
    enum az_status st = link_get_keys(op, &keys);
    if (st != AZ_OK)
        return st;
    st = text != NULL ? link_state_read(&keys, text, ret) : AZ_INVALID;
    secret_wipe(&keys, sizeof(keys));
    if (st != AZ_OK)
        return op_fail(op, AZ_LINK_INVALID, NULL, "the state of a link is not one of ours");
    return ret->expires_at > op_now(op) ? AZ_OK
                                        : op_fail(op, AZ_LINK_EXPIRED, NULL, "its time is over");
}

void
link_count(struct op *op, const struct managed_resource *resource, const char *result)
{
    const char *const values[] = {resource->auth.type_name, result};
    metrics_add(op->az->metrics, METRIC_LINKS, 0, values);
}

bool
link_return_is_ours(TALLOC_CTX *mem, const char *text)
{
    struct uri uri;
    if (text[0] != '/' || text[1] == '/' || strlen(text) > LINK_RETURN_MAX)
        return false;
    /* uri_parse refuses what browsers read in their own way: backslashes, controls, spaces. */
    const char *whole = talloc_asprintf(mem, "https://host%s", text);
    return whole != NULL && uri_parse(mem, whole, &uri) == AZ_OK && strcmp(uri.host, "host") == 0
           && uri.port == NULL && uri.userinfo == NULL && uri.fragment == NULL;
}
