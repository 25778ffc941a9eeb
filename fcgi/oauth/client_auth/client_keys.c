#include "config.h"

#include "oauth/client_auth/client_keys.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/uri.h"
#include "http/fetch/documents.h"
#include "oauth/client_auth/cimd.h"
#include "oauth/client_auth/issuer_keys.h"
#include "oauth/client_auth/svid_keys.h"

/* Nesting of a registered key set: set, keys, key and x5c are 4; the rest is for other members. */
#define REGISTERED_KEYS_DEPTH 16

/* The client whose keys are wanted. */
struct key_wish {
    struct op *op;
    const struct client *client;
    const char *endpoint; /* called */
    bool svid;            /* it is a workload that shows a JWT-SVID */
    int64_t not_before;   /* keys fetched earlier are not new enough (document_get()) */
};

/* The keys of a client. */
struct client_key_set {
    const json_t *jwks;     /* the set, or NULL */
    const char *jwks_uri;   /* its address, or NULL */
    bool fetched;           /* it can be fetched again */
    struct jwk_set *parsed; /* of jwks */
};

static enum az_status
no_keys(const char *why, const char **ret_why)
{
    *ret_why = why;
    return AZ_INVALID;
}

/* Report a failed fetch. If the host does not deliver, the client cannot be authenticated;
 * a full pool and the like are failures of this service. */
static enum az_status
tell_failure(struct op *op, enum az_status st, bool of_host, const char **ret_why)
{
    if (!of_host)
        return st;
    const char *why = talloc_strdup(op->mem, op->fault.detail);
    az_fault_clear(&op->fault);
    return no_keys(why != NULL ? why : "its keys cannot be fetched", ret_why);
}

/* Find the set or its address. A client with a metadata document has them there. */
static enum az_status
find_source(const struct key_wish *wish, struct client_key_set *ret, const char **ret_why)
{
    struct op *op = wish->op;
    const struct client *client = wish->client;
    json_t *jwks = NULL;
    enum az_status st = AZ_OK;
    if (strcmp(client->registration, "CIMD") == 0 && client_is_public(client)) {
        ret->fetched = true;
        st = cimd_keys(op, client->client_id, wish->not_before, wish->endpoint, &ret->jwks,
                       &ret->jwks_uri);
        return st == AZ_OK ? st : tell_failure(op, st, st == AZ_INVALID_CLIENT, ret_why);
    }
    if (client->jwks != NULL)
        st = jsonx_parse(op->mem, client->jwks, strlen(client->jwks), REGISTERED_KEYS_DEPTH, &jwks,
                         NULL);
    ret->jwks = jwks;
    ret->jwks_uri = client->jwks_uri;
    return st == AZ_OK ? st
                       : op_fail(op, AZ_SERVER_ERROR, NULL,
                                 "the keys of client %.160s cannot be read", client->client_id);
}

/* True if the host of a document did not deliver it, or delivered something else. */
static bool
is_of_host(enum az_status st, enum fetch_fault fault)
{
    return st == AZ_INVALID || (st == AZ_UNAVAILABLE && fetch_fault_of_host(fault));
}

/* Find the keys of a workload, which are in the trust bundle of the operator and nowhere else. */
static enum az_status
find_svid_keys(const struct key_wish *wish, struct client_key_set *ret, const char **ret_why)
{
    enum fetch_fault fault = FETCH_OK;
    const char *why = NULL;
    enum az_status st =
        svid_keys(wish->op, wish->client->client_id, wish->not_before, &ret->jwks, &fault, &why);
    ret->fetched = true;
    if (st == AZ_INVALID && why != NULL)
        return no_keys(why, ret_why);
    return st == AZ_OK ? st : tell_failure(wish->op, st, is_of_host(st, fault), ret_why);
}

/* Fetch the set at an address. The sets of clients that registered themselves are kept apart:
 * anybody can name them, and they must not push out those that the operator named. */
static enum az_status
fetch_source(const struct key_wish *wish, struct client_key_set *keys, const char **ret_why)
{
    struct op *op = wish->op;
    struct document document;
    enum fetch_fault fault = FETCH_OK;
    /* decisions.md "http for jwks_uri": also where SVC_SAFE_HTTP allows http. */
    if (uri_https_fault(keys->jwks_uri) != NULL)
        return no_keys("its jwks_uri is not an https URL", ret_why);
    enum document_kind kind =
        strcmp(wish->client->registration, "ADMIN") == 0 ? DOCUMENT_KEYS : DOCUMENT_CLIENT_KEYS;
    enum az_status st = document_get(op, kind, keys->jwks_uri, wish->not_before, fetched_keys_check,
                                     &document, &fault);
    if (st != AZ_OK)
        return tell_failure(op, st, is_of_host(st, fault), ret_why);
    keys->jwks = document.json;
    keys->fetched = true;
    return AZ_OK;
}

static enum az_status
client_get_keys(const struct key_wish *wish, struct client_key_set *ret, const char **ret_why)
{
    struct op *op = wish->op;
    struct client_key_set keys = {.jwks = NULL};
    enum az_status st =
        wish->svid ? find_svid_keys(wish, &keys, ret_why) : find_source(wish, &keys, ret_why);
    if (st == AZ_OK && keys.jwks == NULL && keys.jwks_uri != NULL)
        st = fetch_source(wish, &keys, ret_why);
    if (st != AZ_OK)
        return st;
    if (keys.jwks == NULL)
        return no_keys("the client has no keys", ret_why);
    st = jwk_set_parse(op->mem, keys.jwks, JWK_SET_FETCHED, &keys.parsed, ret_why);
    if (st == AZ_OK)
        *ret = keys;
    return st == AZ_SERVER_ERROR ? op_fail(op, st, NULL, "out of memory") : st;
}

enum az_status
client_keys_verify(struct op *op, const struct client *client,
                   const struct client_assertion *assertion, const char *endpoint,
                   const char **ret_why)
{
    struct key_wish wish = {
        .op = op, .client = client, .endpoint = endpoint, .svid = assertion->kind->svid};
    struct client_key_set keys;
    enum jws_fault fault = JWS_FAULT_OURS;
    enum az_status st = client_get_keys(&wish, &keys, ret_why);
    if (st != AZ_OK)
        return st;
    st = client_assertion_verify(assertion, keys.parsed, &fault);
    if (st == AZ_INVALID && keys.fetched && jws_key_may_be_new(assertion->jws, fault)) {
        wish.not_before = op->now_ms;
        if ((st = client_get_keys(&wish, &keys, ret_why)) != AZ_OK)
            return st;
        st = client_assertion_verify(assertion, keys.parsed, &fault);
    }
    if (st == AZ_INVALID)
        return no_keys(jws_fault_text(fault), ret_why);
    return st == AZ_OK ? AZ_OK : op_no_memory(op);
}
