#include "config.h"

#include "oauth/client_auth/cimd_document.h"

#include <string.h>
#include <strings.h>

#include "base/json/field_rules.h"
#include "base/json/fields.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "base/words.h"
#include "crypto/jwk_set.h"
#include "crypto/jws.h"
#include "oauth/client_auth/client_assertion.h"
#include "oauth/parameters/parameters.h"

/* ---- the address ---- */

/* Characters of a DNS name and of an IPv6 literal. A % could hide a slash or a dot from the user
 * who reads the host on the consent page. */
#define HOST_CHARS "abcdefghijklmnopqrstuvwxyz0123456789.-_:"

/* True for "." or "..", each dot also as %2e (RFC 3986 6.2.2.3). An agent on the way would
 * remove it, and the address would mean another document. */
static bool
is_dot_segment(const char *segment, size_t length)
{
    size_t dots = 0;
    while (length > 0) {
        size_t dot = *segment == '.'                                      ? 1
                     : length >= 3 && strncasecmp(segment, "%2e", 3) == 0 ? 3
                                                                          : 0;
        if (dot == 0)
            return false;
        dots++;
        segment += dot;
        length -= dot;
    }
    return dots == 1 || dots == 2;
}

static bool
has_dot_segment(const char *path)
{
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        if (is_dot_segment(path, length))
            return true;
        path += length + (path[length] == '/');
    }
    return false;
}

static const char *
parts_fault(const struct uri *uri, const char *http_hosts)
{
    if (uri->host == NULL || uri->host[strspn(uri->host, HOST_CHARS)] != '\0')
        return "must name a host";
    if (strcmp(uri->scheme, "https") != 0 && strcmp(uri->scheme, "http") != 0)
        return "must use https";
    if (strcmp(uri->scheme, "http") == 0 && !uri_host_is_listed(http_hosts, uri->host))
        return "must use https; http is allowed only for the configured development hosts";
    if (uri->userinfo != NULL)
        return "must not have user information before the host";
    if (uri->fragment != NULL)
        return "must not have a fragment";
    if (*uri->path == '\0' || strcmp(uri->path, "/") == 0)
        return "must have a path other than /";
    return has_dot_segment(uri->path) ? "must not have a dot segment in its path" : NULL;
}

const char *
cimd_document_address_fault(const char *text, const char *http_hosts)
{
    struct uri uri;
    const char *why = "is not a valid URL";
    if (strlen(text) > CIMD_ADDRESS_MAX)
        return "must have at most 256 characters";
    for (const char *c = text; *c != '\0'; c++)
        if ((unsigned char) *c <= ' ' || (unsigned char) *c >= 0x7f || *c == '\\')
            return "must not have control characters, spaces, backslashes or characters beyond "
                   "ASCII";
    TALLOC_CTX *scratch = talloc_new(NULL);
    if (scratch != NULL && uri_parse(scratch, text, &uri) == AZ_OK)
        why = parts_fault(&uri, http_hosts);
    talloc_free(scratch);
    return why;
}

/* ---- the document ---- */

/* Members that are read; all others are ignored (RFC 7591 2). */
struct metadata {
    const char *client_id;
    const char *client_name;
    const char *client_uri;
    const char *logo_uri;
    const char *policy_uri;
    const char *tos_uri;
    const char *auth_method;
    const char *scope;
    const char *id_token_alg;
    const char *jwks_uri;
    const json_t *jwks;
    const json_t *redirect_uris;
    const json_t *grant_types;
    const json_t *response_types;
    bool dpop; /* dpop_bound_access_tokens */
};

#define INTO(member) FIELD_INTO(struct metadata, member)

/* clang-format off */
static const struct field metadata_fields[] = {
    {"client_id",                  FIELD_TEXT,      .required = true, INTO(client_id)},
    {"redirect_uris",              FIELD_TEXT_LIST, .required = true, .min = 1, .item_max = URI_MAX,
                                                    .rule = field_rule_redirect_uri,
                                                    INTO(redirect_uris)},
    {"client_name",                FIELD_TEXT,      .max = CIMD_NAME_MAX,
     .rule = field_rule_visible, INTO(client_name)},
    {"client_uri",                 FIELD_TEXT,      .max = CIMD_URI_MAX, .rule = field_rule_web_uri,
     INTO(client_uri)},
    {"logo_uri",                   FIELD_TEXT,      .max = CIMD_URI_MAX, .rule = field_rule_web_uri,
     INTO(logo_uri)},
    {"policy_uri",                 FIELD_TEXT,      .max = CIMD_URI_MAX, .rule = field_rule_web_uri,
     INTO(policy_uri)},
    {"tos_uri",                    FIELD_TEXT,      .max = CIMD_URI_MAX, .rule = field_rule_web_uri,
     INTO(tos_uri)},
    {"token_endpoint_auth_method", FIELD_TEXT,      .max = CIMD_METHOD_MAX, INTO(auth_method)},
    {"jwks",                       FIELD_OBJECT,    .rule = jwk_set_rule, INTO(jwks)},
    {"jwks_uri",                   FIELD_TEXT,      .max = CIMD_URI_MAX,
     .rule = field_rule_keys_uri, INTO(jwks_uri)},
    {"grant_types",                FIELD_TEXT_LIST, .may_be_empty = true, .max = CIMD_TYPES_MAX,
     .item_max = CIMD_TYPE_MAX, INTO(grant_types)},
    {"response_types",             FIELD_TEXT_LIST, .may_be_empty = true, .max = CIMD_TYPES_MAX,
     .item_max = CIMD_TYPE_MAX, INTO(response_types)},
    {"dpop_bound_access_tokens",   FIELD_BOOLEAN,   INTO(dpop)},
    {"scope",                      FIELD_TEXT,      .may_be_empty = true, .max = SCOPE_TEXT_MAX,
     INTO(scope)},
    {"id_token_signed_response_alg", FIELD_TEXT,    .max = CIMD_METHOD_MAX, INTO(id_token_alg)},
};
/* clang-format on */

/* State of one reading; the first fault is reported. */
struct cimd_reading {
    TALLOC_CTX *mem;
    const char *why;
};

static void
tell(void *arg, const char *name, const char *why)
{
    struct cimd_reading *reading = arg;
    if (reading->why == NULL)
        reading->why = talloc_asprintf(reading->mem, "%s%s%s",
                                       *name != '\0' ? name : "the document", " ", why);
}

/* Refuse a secret: the document is public, so a method that uses a secret in it would let any
 * reader in as the client. */
static const char *
secret_fault(const json_t *document, const char *method)
{
    if (json_object_get(document, "client_secret") != NULL)
        return "client_secret must not be in a public document";
    if (json_object_get(document, "client_secret_expires_at") != NULL)
        return "client_secret_expires_at is not allowed because the client has no secret";
    if (strcmp(method, "none") != 0 && strcmp(method, PRIVATE_KEY_JWT) != 0)
        return "token_endpoint_auth_method must be none or private_key_jwt because the client has "
               "no secret";
    return NULL;
}

/* Check the keys of a client that declares keys. It must sign its requests: accepting the client
 * without a signature would be a downgrade (oauth.md 3.2). */
static const char *
keys_fault(TALLOC_CTX *mem, const struct metadata *data)
{
    if (data->jwks != NULL && data->jwks_uri != NULL)
        return "jwks_uri cannot be given together with jwks";
    if (strcmp(data->auth_method, PRIVATE_KEY_JWT) != 0)
        return NULL;
    if (data->jwks == NULL && data->jwks_uri == NULL)
        return "jwks or jwks_uri is required for private_key_jwt";
    const char *why =
        data->jwks != NULL ? jws_set_fault(data->jwks) : uri_https_fault(data->jwks_uri);
    return why == NULL
               ? NULL
               : field_fault_text(mem, "%s %s", data->jwks != NULL ? "jwks" : "jwks_uri", why);
}

static const char *
types_fault(const struct metadata *data)
{
    if (data->grant_types != NULL && !words_array_has(data->grant_types, "authorization_code"))
        return "grant_types must contain authorization_code";
    return data->response_types != NULL && !words_array_has(data->response_types, "code")
               ? "response_types must contain code"
               : NULL;
}

/* Check a scope (RFC 6749 3.3). Each later request is limited to its words. */
static const char *
scope_fault(const char *scope)
{
    const char *word;
    size_t length, words = 0;
    for (; words_next(&scope, &word, &length); words++)
        for (size_t i = 0; i < length; i++)
            if ((unsigned char) word[i] < 0x21 || (unsigned char) word[i] > 0x7e || word[i] == '"'
                || word[i] == '\\')
                return "scope has a forbidden character";
    return words > SCOPE_WORDS_MAX ? "scope has too many words" : NULL;
}

static enum az_status
cimd_fill(TALLOC_CTX *mem, const struct metadata *data, struct client *ret)
{
    const char **redirects = words_array_list(mem, data->redirect_uris), **grants = NULL;
    const char *rest = data->scope, *word;
    size_t length;
    if (data->grant_types != NULL)
        grants = words_array_list(mem, data->grant_types);
    if (redirects == NULL || (data->grant_types != NULL && grants == NULL))
        return AZ_SERVER_ERROR;
    ret->auth_method = data->auth_method;
    ret->name = data->client_name;
    ret->uri = data->client_uri;
    ret->logo = data->logo_uri;
    ret->policy = data->policy_uri;
    ret->terms = data->tos_uri;
    ret->dpop_bound = data->dpop;
    /* A scope of blanks counts as absent, as at /register: as a ceiling it would let nothing
     * through. */
    ret->scope = words_next(&rest, &word, &length) ? data->scope : NULL;
    /* The document is the same for all servers, so an algorithm that this server does not know is
     * left out: the client gets RS256, which it must accept (OpenID Connect Core 3.1.3.7). */
    ret->id_token_alg =
        words_has(settings_id_token_algs, data->id_token_alg) ? data->id_token_alg : NULL;
    ret->redirect_uris = redirects;
    ret->grant_types = grants;
    return AZ_OK;
}

/* Return the first rule that members of the right form break together, or NULL. */
static const char *
members_fault(TALLOC_CTX *mem, const char *url, const json_t *document, const struct metadata *data,
              long max_redirect_uris)
{
    const char *why;
    /* The draft's section 4.1: simple string comparison (RFC 3986 6.2.1). */
    if (strcmp(data->client_id, url) != 0)
        return "client_id must be exactly the URL of the document";
    if ((why = secret_fault(document, data->auth_method)) != NULL
        || (why = keys_fault(mem, data)) != NULL)
        return why;
    if ((why = types_fault(data)) != NULL)
        return why;
    if (json_array_size(data->redirect_uris) > (size_t) max_redirect_uris)
        return field_fault_text(mem, "redirect_uris must have at most %ld items",
                                max_redirect_uris);
    return scope_fault(data->scope);
}

enum az_status
cimd_document_read(TALLOC_CTX *mem, const char *url, const json_t *document, long max_redirect_uris,
                   const char **ret_why, struct client *ret)
{
    struct metadata data = {0};
    struct cimd_reading reading = {mem, NULL};
    const char *why = NULL;
    enum az_status st =
        fields_read(mem, FIELDS(metadata_fields, FIELDS_IGNORE_UNKNOWN | FIELDS_EMPTY_IS_ABSENT),
                    document, tell, &reading, &data, NULL);
    if (st == AZ_INVALID)
        why = reading.why != NULL ? reading.why : "cannot be read";
    else if (st != AZ_OK)
        return st;
    if (data.auth_method == NULL)
        data.auth_method = "none";
    if (why == NULL)
        why = members_fault(mem, url, document, &data, max_redirect_uris);
    if (why == NULL)
        return cimd_fill(mem, &data, ret);
    *ret_why = why;
    return AZ_INVALID;
}
