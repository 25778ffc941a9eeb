#include "config.h"

#include "oauth/registration/register_members.h"

#include <string.h>

#include "base/json/field_rules.h"
#include "base/json/fields.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "base/words.h"
#include "crypto/jwk_set.h"
#include "oauth/client_auth/client_assertion.h"
#include "oauth/parameters/parameters.h"

/* Most items of grant_types and of response_types in a request; fewer exist of either. */
#define GRANT_TYPES_MAX 20

/* Faults of this member or of its items have an error code of their own (RFC 7591 3.2.2). */
#define REDIRECT_URIS "redirect_uris"

/* ---- the table ---- */

static const char *const response_types[] = {"code", NULL};
static const char *const auth_methods[] = {"none", "client_secret_basic", "client_secret_post",
                                           PRIVATE_KEY_JWT, NULL};
/* The types of OpenID Connect Dynamic Client Registration 2. */
static const char *const application_types[] = {"web", "native", NULL};

#define MEMBER(member_name, ...)                                                                   \
    {                                                                                              \
        .name = member_name, .column = member_name, __VA_ARGS__                                    \
    }

/* clang-format off */
static const struct field members[] = {
    MEMBER("redirect_uris",              .kind = FIELD_TEXT_LIST, .max = SETTINGS_REDIRECT_URIS_MAX,
           .item_max = URI_MAX, .rule = field_rule_redirect_uri,
           .help = "Where codes may be sent; at most SVC_MAX_REDIRECT_URIS",
           .example = "[\"https://shop.example/callback\"]"),
    MEMBER("post_logout_redirect_uris",  .kind = FIELD_TEXT_LIST, .max = SETTINGS_REDIRECT_URIS_MAX,
           .item_max = URI_MAX, .rule = field_rule_redirect_uri,
           .help = "Where browsers may return after a logout; at most SVC_MAX_REDIRECT_URIS",
           .example = "[\"https://shop.example/\"]"),
    MEMBER("client_name",                .kind = FIELD_TEXT,      .max = FIELD_NAME_MAX,
           .rule = field_rule_visible, .help = "Shown to users on the consent page",
           .example = "\"Shop\""),
    MEMBER("client_uri",                 .kind = FIELD_TEXT,      .max = FIELD_URI_MAX,
           .rule = field_rule_web_uri, .help = "Page about the client",
           .example = "\"https://shop.example/about\""),
    MEMBER("logo_uri",                   .kind = FIELD_TEXT,      .max = FIELD_URI_MAX,
           .rule = field_rule_web_uri,
           .help = "Picture of the client; kept, and shown on no page (decisions.md \"Links of "
                   "applications\")"),
    MEMBER("tos_uri",                    .kind = FIELD_TEXT,      .max = FIELD_URI_MAX,
           .rule = field_rule_web_uri,
           .help = "Terms of service, a link on the pages of a sign-in"),
    MEMBER("policy_uri",                 .kind = FIELD_TEXT,      .max = FIELD_URI_MAX,
           .rule = field_rule_web_uri, .help = "Privacy policy, a link on the pages of a sign-in"),
    MEMBER("contacts",                   .kind = FIELD_TEXT_LIST, .max = REGISTER_CONTACTS_MAX,
           .item_max = REGISTER_CONTACT_MAX,
                                         .rule = field_rule_visible,
                                         .help = "People who are responsible for the client",
                                         .example = "[\"admin@shop.example\"]"),
    MEMBER("jwks",                       .kind = FIELD_OBJECT,    .rule = jwk_set_rule,
           .help = "Public keys of the client (RFC 7517)"),
    MEMBER("jwks_uri",                   .kind = FIELD_TEXT,      .max = FIELD_URI_MAX,
           .rule = field_rule_keys_uri, .help = "Address of its public keys, in place of jwks"),
    MEMBER("scope",                      .kind = FIELD_TEXT,      .max = SCOPE_TEXT_MAX,
           .help = "Scopes that the client may ask for, separated by spaces",
           .example = "\"openid\""),
    MEMBER("software_id",                .kind = FIELD_TEXT,      .max = FIELD_NAME_MAX,
           .rule = field_rule_visible, .help = "Names the software in all its versions"),
    MEMBER("software_version",           .kind = FIELD_TEXT,      .max = FIELD_WORD_MAX,
           .rule = field_rule_visible, .help = "Version of the software"),
    MEMBER("grant_types",                .kind = FIELD_TEXT_LIST, .max = GRANT_TYPES_MAX,
           .item_max = FIELD_WORD_MAX, .help = "Grants that the client will use",
           .example = "[\"authorization_code\", \"refresh_token\"]"),
    MEMBER("response_types",             .kind = FIELD_TEXT_LIST, .max = GRANT_TYPES_MAX,
           .item_max = FIELD_WORD_MAX, .words = response_types,
           .help = "code with authorization_code, else empty", .example = "[\"code\"]"),
    MEMBER("token_endpoint_auth_method", .kind = FIELD_TEXT,      .words = auth_methods,
           .help = "client_secret_basic if it is left out; none for a public client",
           .example = "\"client_secret_basic\""),
    MEMBER("dpop_bound_access_tokens",   .kind = FIELD_BOOLEAN,
           .help = "Bind every token of the client to the key of a DPoP proof", .example = "true"),
    MEMBER("id_token_signed_response_alg", .kind = FIELD_TEXT,    .words = settings_id_token_algs,
           .help = "RS256 if it is left out; others if id_token_signing_alg_values_supported lists "
                   "them", .example = "\"RS256\""),
    MEMBER("application_type",           .kind = FIELD_TEXT,      .words = application_types,
           .help = "With web, redirect URIs use https, or a private scheme without a "
                   "dot", .example = "\"web\""),
};
const struct field_table register_table = FIELD_TABLE("ClientMetadata", members, FIELDS_IGNORE_UNKNOWN | FIELDS_EMPTY_IS_ABSENT);
/* clang-format on */

/* Members to which SVC_MAX_REDIRECT_URIS applies. */
static const char *const uri_lists[] = {REDIRECT_URIS, "post_logout_redirect_uris"};

/* With a statement these count from the statement alone: it says which software this is. */
static const char *const stated[] = {"software_id", "software_version", NULL};

enum az_status
register_refuse(struct register_reading *reading, const char *name, const char *why)
{
    enum az_status status = strncmp(name, REDIRECT_URIS, strlen(REDIRECT_URIS)) == 0
                                ? AZ_INVALID_REDIRECT_URI
                                : AZ_INVALID_CLIENT_METADATA;
    const char *text = talloc_asprintf(reading->op->mem, "%s %s", name, why);
    return op_fail(reading->op, status, text, NULL);
}

const char *
register_text(const struct register_reading *reading, const char *name)
{
    return json_string_value(json_object_get(reading->members, name));
}

/* ---- reading ---- */

static json_t *
present(const json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    return json_is_null(value) ? NULL : value;
}

/* Return the value that counts (RFC 7591 2.3): that of the statement, if it has one. Keys may be
 * in one of two members, and are taken from one source. */
static json_t *
choose(const char *name, const json_t *plain, const json_t *claims)
{
    json_t *value = present(claims, name);
    bool keys = strcmp(name, "jwks") == 0 || strcmp(name, "jwks_uri") == 0;
    if (value != NULL || (claims != NULL && words_has(stated, name))
        || (keys && (present(claims, "jwks") != NULL || present(claims, "jwks_uri") != NULL)))
        return value;
    return present(plain, name);
}

/* Remove repeated items from each list, because a list here is a set. */
static enum az_status
drop_repetitions(struct register_reading *reading)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const json_t *list = json_object_get(reading->members, members[i].name);
        if (json_is_array(list)
            && json_object_set(reading->members, members[i].name,
                               words_array_once(reading->op->mem, list))
                   != 0)
            return op_no_memory(reading->op);
    }
    return AZ_OK;
}

/* The first fault and the member that has it. */
struct register_fault {
    TALLOC_CTX *mem;
    const char *path, *why; /* NULL: no fault yet */
};

static void
keep_first(void *arg, const char *path, const char *why)
{
    struct register_fault *first = arg;
    if (first->path != NULL)
        return;
    first->path = talloc_strdup(first->mem, path);
    first->why = talloc_strdup(first->mem, why);
}

enum az_status
register_members_read(struct register_reading *reading, const json_t *plain, const json_t *claims)
{
    struct register_fault fault = {reading->op->mem, NULL, NULL};
    json_t *chosen = jsonx_own(reading->op->mem, json_object());
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *value = choose(members[i].name, plain, claims);
        if (value != NULL && json_object_set(chosen, members[i].name, value) != 0)
            return op_no_memory(reading->op);
    }
    size_t most = (size_t) reading->rules->max_redirect_uris;
    for (size_t i = 0; i < sizeof(uri_lists) / sizeof(uri_lists[0]); i++)
        if (json_array_size(json_object_get(chosen, uri_lists[i])) > most)
            return register_refuse(
                reading, uri_lists[i],
                talloc_asprintf(reading->op->mem, "must have at most %zu items", most));
    enum az_status st = fields_read(reading->op->mem, &register_table, chosen, keep_first, &fault,
                                    NULL, &reading->members);
    if (st == AZ_INVALID && fault.path != NULL)
        return register_refuse(reading, fault.path, fault.why);
    return st == AZ_OK ? drop_repetitions(reading) : op_no_memory(reading->op);
}
