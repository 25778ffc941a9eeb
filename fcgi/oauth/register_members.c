#include "config.h"

#include "oauth/register_members.h"

#include <string.h>

#include "base/field_rules.h"
#include "base/jsonx.h"
#include "base/uri.h"
#include "base/utf8.h"
#include "crypto/jwk_set.h"
#include "oauth/parameters.h"

/* Items of grant_types and of response_types as they come: more than there are of either. */
#define GRANT_TYPES_MAX 20

/* ---- rules of single values: what is wrong with one, or NULL ---- */

/* OpenID Connect Dynamic Client Registration 2. */
static const char *
application_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    (void) mem;
    return strcmp(text, "web") == 0 || strcmp(text, "native") == 0 ? NULL : "must be web or native";
}

static const char *
response_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return strcmp(json_string_value(value), "code") == 0 ? NULL : "must be code";
}

/* ---- the table ---- */

enum member_kind { MEMBER_TEXT, MEMBER_LIST, MEMBER_OBJECT, MEMBER_BOOLEAN };

struct member {
    const char *name;      /* on the wire */
    enum member_kind kind; /* what it must be */
    size_t max;            /* code points of a text, or of each item; 0: no limit of its own */
    size_t items;          /* most items of a list; 0: SVC_MAX_REDIRECT_URIS */
    const char *(*rule)(TALLOC_CTX *mem, const json_t *value); /* or NULL */
    bool stated; /* beside a statement it counts from there alone */
};

/* clang-format off */
static const struct member members[] = {
    /* name                         kind            max      items                  rule              stated */
    {"redirect_uris",              MEMBER_LIST,    URI_MAX,              0,                     field_rule_redirect_uri, false},
    {"client_name",                MEMBER_TEXT,    256,                  0,                     field_rule_visible,      false},
    {"client_uri",                 MEMBER_TEXT,    512,                  0,                     field_rule_web_uri,      false},
    {"logo_uri",                   MEMBER_TEXT,    512,                  0,                     field_rule_web_uri,      false},
    {"tos_uri",                    MEMBER_TEXT,    512,                  0,                     field_rule_web_uri,      false},
    {"policy_uri",                 MEMBER_TEXT,    512,                  0,                     field_rule_web_uri,      false},
    {"contacts",                   MEMBER_LIST,    REGISTER_CONTACT_MAX, REGISTER_CONTACTS_MAX, field_rule_visible,      false},
    {"jwks",                       MEMBER_OBJECT,  0,                    0,                     jwk_set_rule,            false},
    {"jwks_uri",                   MEMBER_TEXT,    512,                  0,                     field_rule_keys_uri,     false},
    {"scope",                      MEMBER_TEXT,    SCOPE_TEXT_MAX,       0,                     NULL,                    false},
    {"software_id",                MEMBER_TEXT,    256,                  0,                     field_rule_visible,      true},
    {"software_version",           MEMBER_TEXT,    64,                   0,                     field_rule_visible,      true},
    {"grant_types",                MEMBER_LIST,    0,                    GRANT_TYPES_MAX,       NULL,                    false},
    {"response_types",             MEMBER_LIST,    0,                    GRANT_TYPES_MAX,       response_rule,           false},
    {"token_endpoint_auth_method", MEMBER_TEXT,    0,                    0,                     NULL,                    false},
    {"dpop_bound_access_tokens",   MEMBER_BOOLEAN, 0,                    0,                     NULL,                    false},
    {"application_type",           MEMBER_TEXT,    0,                    0,                     application_rule,        false},
};
/* clang-format on */

enum az_status
register_refuse(struct register_reading *reading, const char *name, const char *why)
{
    enum az_status status =
        strcmp(name, "redirect_uris") == 0 ? AZ_INVALID_REDIRECT_URI : AZ_INVALID_CLIENT_METADATA;
    const char *text = talloc_asprintf(reading->op->mem, "%s %s", name, why);
    return op_fail(reading->op, status, text, NULL);
}

enum az_status
register_no_memory(struct register_reading *reading)
{
    return op_fail(reading->op, AZ_SERVER_ERROR, NULL, "no memory");
}

const char *
register_text(const struct register_reading *reading, const char *name)
{
    return json_string_value(json_object_get(reading->members, name));
}

bool
register_list_has(const json_t *list, const char *word)
{
    size_t index;
    const json_t *item;
    json_array_foreach (list, index, item)
        if (json_is_string(item) && strcmp(json_string_value(item), word) == 0)
            return true;
    return false;
}

/* ---- reading one member ---- */

static const char *
text_fault(struct register_reading *reading, const struct member *member, const json_t *value)
{
    if (member->max > 0
        && utf8_length(json_string_value(value), json_string_length(value)) > member->max)
        return talloc_asprintf(reading->op->mem, "must have at most %zu characters", member->max);
    return member->rule != NULL ? member->rule(reading->op->mem, value) : NULL;
}

/* Items once each, in the order they came in: a list here is a set. */
static enum az_status
read_list(struct register_reading *reading, const struct member *member, const json_t *value)
{
    size_t index;
    json_t *item, *list = json_array();
    if (json_object_set_new(reading->members, member->name, list) != 0)
        return register_no_memory(reading);
    size_t most = member->items > 0 ? member->items : (size_t) reading->rules->max_redirect_uris;
    if (json_array_size(value) > most)
        return register_refuse(
            reading, member->name,
            talloc_asprintf(reading->op->mem, "must have at most %zu items", most));
    json_array_foreach ((json_t *) (uintptr_t) value, index, item) {
        const char *why = !json_is_string(item)           ? "must be an array of strings"
                          : json_string_length(item) == 0 ? "must not be empty"
                                                          : text_fault(reading, member, item);
        if (why != NULL && json_is_string(item))
            why = talloc_asprintf(reading->op->mem, "item %zu: %s", index + 1, why);
        if (why != NULL)
            return register_refuse(reading, member->name, why);
        if (!register_list_has(list, json_string_value(item)) && json_array_append(list, item) != 0)
            return register_no_memory(reading);
    }
    return AZ_OK;
}

static enum az_status
read_member(struct register_reading *reading, const struct member *member, json_t *value)
{
    static const struct {
        json_type type;
        const char *fault;
    } kinds[] = {
        [MEMBER_TEXT] = {JSON_STRING, "must be a string"           },
        [MEMBER_LIST] = {JSON_ARRAY,  "must be an array of strings"},
        [MEMBER_OBJECT] = {JSON_OBJECT, "must be an object"          },
        [MEMBER_BOOLEAN] = {JSON_TRUE,   "must be true or false"      },
    };
    if (member->kind == MEMBER_BOOLEAN ? !json_is_boolean(value)
                                       : json_typeof(value) != kinds[member->kind].type)
        return register_refuse(reading, member->name, kinds[member->kind].fault);
    if (member->kind == MEMBER_LIST)
        return read_list(reading, member, value);
    const char *why = NULL;
    if (member->kind == MEMBER_TEXT) {
        if (json_string_length(value) == 0)
            return AZ_OK;
        why = text_fault(reading, member, value);
    } else if (member->rule != NULL) {
        why = member->rule(reading->op->mem, value);
    }
    if (why != NULL)
        return register_refuse(reading, member->name, why);
    return json_object_set(reading->members, member->name, value) == 0
               ? AZ_OK
               : register_no_memory(reading);
}

static json_t *
present(const json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    return json_is_null(value) ? NULL : value;
}

/* RFC 7591 2.3: what the statement says counts. Keys are said once, in one of two members. */
static json_t *
choose(const struct member *member, const json_t *plain, const json_t *claims)
{
    json_t *value = present(claims, member->name);
    bool keys = strcmp(member->name, "jwks") == 0 || strcmp(member->name, "jwks_uri") == 0;
    if (value != NULL || (claims != NULL && member->stated)
        || (keys && (present(claims, "jwks") != NULL || present(claims, "jwks_uri") != NULL)))
        return value;
    return present(plain, member->name);
}

enum az_status
register_members_read(struct register_reading *reading, const json_t *plain, const json_t *claims)
{
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && st == AZ_OK; i++) {
        json_t *value = choose(&members[i], plain, claims);
        if (value != NULL)
            st = read_member(reading, &members[i], value);
    }
    return st;
}
