#include "config.h"

#include "oauth/registration/register_metadata.h"

#include <string.h>
#include <strings.h>

#include "base/json/jsonx.h"
#include "base/uri.h"
#include "base/words.h"
#include "crypto/jws.h"
#include "oauth/client_auth/client_assertion.h"
#include "oauth/grants.h"
#include "oauth/parameters/parameters.h"
#include "oauth/registration/register_members.h"

/* Defaults, and the rules between members; register_members.c has the rules of single members. */

static enum az_status
set_default(struct register_reading *reading, const char *name, json_t *value)
{
    if (json_object_get(reading->members, name) != NULL) {
        json_decref(value);
        return AZ_OK;
    }
    return json_object_set_new(reading->members, name, value) == 0 ? AZ_OK
                                                                   : op_no_memory(reading->op);
}

/* Set the defaults of RFC 7591 2. response_types depends on grant_types: a client without
 * authorization_code gets no response. */
static enum az_status
fill_defaults(struct register_reading *reading)
{
    enum az_status st = set_default(reading, "grant_types", json_pack("[s]", "authorization_code"));
    bool code =
        words_array_has(json_object_get(reading->members, "grant_types"), "authorization_code");
    if (st == AZ_OK)
        st = set_default(reading, "response_types", code ? json_pack("[s]", "code") : json_array());
    if (st == AZ_OK)
        st = set_default(reading, "token_endpoint_auth_method", json_string("client_secret_basic"));
    return st;
}

/* True for an address that a web application must not have: web applications run on a server,
 * while loopback and private schemes are for programs on the user's machine (OpenID Connect
 * Dynamic Client Registration 2). Programs whose scheme has no dot say web, as Cursor does. */
static bool
is_native_address(const json_t *value)
{
    return strncasecmp(json_string_value(value), "https:", 6) != 0
           && uri_dotless_scheme(json_string_value(value)) == 0;
}

static enum az_status
check_redirects(struct register_reading *reading)
{
    static const char *const names[] = {"redirect_uris", "post_logout_redirect_uris"};
    const char *type = register_text(reading, "application_type");
    if (json_array_size(json_object_get(reading->members, "redirect_uris")) == 0)
        return register_refuse(reading, "redirect_uris", "must have at least 1 item");
    for (size_t i = 0; type != NULL && strcmp(type, "web") == 0 && i < 2; i++) {
        size_t index;
        const json_t *list = json_object_get(reading->members, names[i]), *value;
        json_array_foreach (list, index, value)
            if (is_native_address(value))
                return register_refuse(
                    reading, talloc_asprintf(reading->op->mem, "%s[%zu]", names[i], index),
                    "must use https for application_type web");
    }
    return AZ_OK;
}

static enum az_status
check_grants(struct register_reading *reading)
{
    size_t index;
    const json_t *list = json_object_get(reading->members, "grant_types"), *value,
                 *responses = json_object_get(reading->members, "response_types");
    if (json_array_size(list) == 0)
        return register_refuse(reading, "grant_types", "must have at least 1 item");
    json_array_foreach (list, index, value) {
        const char *grant = json_string_value(value);
        if (grant_of_type(grant) == NULL)
            return register_refuse(reading, "grant_types",
                                   "contains a grant type that is not supported");
    }
    /* The two lists must agree (RFC 7591 2.1). */
    if (words_array_has(list, "authorization_code") != (json_array_size(responses) > 0))
        return register_refuse(
            reading, "response_types",
            "must be code with the grant type authorization_code, and empty without it");
    return AZ_OK;
}

/* Check the keys. They are in one place, because two could differ (RFC 7591 2). Keys that
 * authenticate a client are fetched over TLS (specification 4.7). */
static enum az_status
register_check_keys(struct register_reading *reading, bool needed)
{
    const char *uri = register_text(reading, "jwks_uri");
    const json_t *jwks = json_object_get(reading->members, "jwks");
    if (uri != NULL && jwks != NULL)
        return register_refuse(reading, "jwks_uri", "cannot be given together with jwks");
    if (!needed)
        return AZ_OK;
    if (uri == NULL && jwks == NULL)
        return register_refuse(reading, "jwks", "or jwks_uri is required for private_key_jwt");
    const char *why = uri != NULL ? uri_https_fault(uri) : jws_set_fault(jwks);
    return why != NULL ? register_refuse(reading, uri != NULL ? "jwks_uri" : "jwks", why) : AZ_OK;
}

/* Refuse the grants that need a confidential client. */
static enum az_status
check_public_grants(struct register_reading *reading)
{
    const json_t *types = json_object_get(reading->members, "grant_types");
    for (size_t i = 0; i < grant_table_count; i++)
        if (grant_table[i].confidential_only && words_array_has(types, grant_table[i].type))
            return register_refuse(
                reading, "grant_types",
                talloc_asprintf(reading->op->mem,
                                "must not contain %s if token_endpoint_auth_method is none",
                                grant_table[i].type));
    return AZ_OK;
}

static enum az_status
check_authentication(struct register_reading *reading)
{
    const char *method = register_text(reading, "token_endpoint_auth_method");
    enum az_status st = register_check_keys(reading, strcmp(method, PRIVATE_KEY_JWT) == 0);
    return st == AZ_OK && strcmp(method, "none") == 0 ? check_public_grants(reading) : st;
}

/* Refuse bound tokens: a client that asks for them and gets others would be less safe than it
 * believes. */
static enum az_status
check_dpop(struct register_reading *reading)
{
    return json_is_true(json_object_get(reading->members, "dpop_bound_access_tokens"))
                   && !reading->rules->dpop
               ? register_refuse(reading, "dpop_bound_access_tokens", "true is not supported here")
               : AZ_OK;
}

/* Refuse an algorithm that the service does not use: the client would expect its ID tokens to be
 * signed by it. */
static enum az_status
check_id_token_alg(struct register_reading *reading)
{
    const char *alg = register_text(reading, "id_token_signed_response_alg");
    return alg == NULL || words_has(reading->rules->id_token_algs, alg)
               ? AZ_OK
               : register_refuse(reading, "id_token_signed_response_alg",
                                 "must be one of id_token_signing_alg_values_supported");
}

static enum az_status
read_scope(struct register_reading *reading, json_t **ret_words)
{
    const char *scope = register_text(reading, "scope");
    json_t *words = NULL;
    *ret_words = NULL;
    if (scope == NULL)
        return AZ_OK;
    enum az_status st = scope_parse(reading->op, scope, &words);
    if (st == AZ_SERVER_ERROR)
        return st;
    az_fault_clear(&reading->op->fault);
    if (st != AZ_OK)
        return register_refuse(reading, "scope",
                               "must have at most 100 valid scope tokens (RFC 6749 section 3.3)");
    /* A scope of blanks alone has no word. */
    *ret_words = json_array_size(words) > 0 ? words : NULL;
    return AZ_OK;
}

/* Return all addresses to which browsers may be sent, or NULL. */
static json_t *
all_addresses(struct register_reading *reading)
{
    const json_t *returns = json_object_get(reading->members, "post_logout_redirect_uris");
    json_t *list =
        jsonx_own(reading->op->mem, jsonx_copy(json_object_get(reading->members, "redirect_uris")));
    if (list == NULL
        || (returns != NULL && json_array_extend(list, (json_t *) (uintptr_t) returns) != 0))
        return NULL;
    return words_array_once(reading->op->mem, list);
}

enum az_status
register_metadata_read(struct op *op, const json_t *plain, const json_t *claims,
                       const struct register_rules *rules, struct register_metadata *ret)
{
    struct register_reading reading = {op, rules, NULL};
    struct register_metadata metadata = {.members = NULL};
    enum az_status st = register_members_read(&reading, plain, claims);
    if (st == AZ_OK)
        st = fill_defaults(&reading);
    if (st == AZ_OK)
        st = check_redirects(&reading);
    if (st == AZ_OK)
        st = check_grants(&reading);
    if (st == AZ_OK)
        st = check_authentication(&reading);
    if (st == AZ_OK)
        st = check_dpop(&reading);
    if (st == AZ_OK)
        st = check_id_token_alg(&reading);
    if (st == AZ_OK)
        st = read_scope(&reading, &metadata.scopes);
    if (st != AZ_OK)
        return st;
    /* It is read to check the addresses, and is not part of the answer (specification 2.2). */
    json_object_del(reading.members, "application_type");
    metadata.members = reading.members;
    metadata.redirect_uris = json_object_get(reading.members, "redirect_uris");
    if ((metadata.addresses = all_addresses(&reading)) == NULL)
        return op_no_memory(reading.op);
    metadata.grant_types = json_object_get(reading.members, "grant_types");
    metadata.response_types = json_object_get(reading.members, "response_types");
    metadata.auth_method = register_text(&reading, "token_endpoint_auth_method");
    metadata.client_name = register_text(&reading, "client_name");
    metadata.confidential = strcmp(metadata.auth_method, "none") != 0;
    metadata.keyed = strcmp(metadata.auth_method, PRIVATE_KEY_JWT) == 0;
    *ret = metadata;
    return AZ_OK;
}
