#include "config.h"

#include "token/authorization.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/fields.h"
#include "base/json/jsonx.h"
#include "base/uri.h"
#include "base/words.h"
#include "crypto/digest.h"

/* Nesting of a stored request, whose details are a text, and of the details. An accepted request
 * does not nest deeper (oauth/parameters/parameters.h). */
#define STORED_DEPTH 2
#define STORED_DETAILS_DEPTH 16

#define INTO(member) FIELD_INTO(struct authorization, member)

/* Members of the stored object that are plain values. */
/* clang-format off */
static const struct field authorization_fields[] = {
    {"client_id",      FIELD_TEXT,    .required = true,     INTO(client_id)},
    {"redirect_uri",   FIELD_TEXT,    .required = true,     INTO(redirect_uri)},
    {"state",          FIELD_TEXT,    .may_be_empty = true, INTO(state)},
    {"scope",          FIELD_TEXT,    .may_be_empty = true, INTO(scope)},
    {"requested_scope", FIELD_TEXT,   .may_be_empty = true, INTO(requested_scope)},
    {"nonce",          FIELD_TEXT,    .may_be_empty = true, INTO(nonce)},
    {"code_challenge", FIELD_TEXT,    .may_be_empty = true, INTO(code_challenge)},
    {"dpop_jkt",       FIELD_TEXT,    .may_be_empty = true, INTO(dpop_jkt)},
    {"resource",       FIELD_TEXT,    .may_be_empty = true, INTO(resource)},
    {"acr_values",     FIELD_TEXT,    .may_be_empty = true, INTO(acr_values)},
    {"login_hint",     FIELD_TEXT,    .may_be_empty = true, INTO(login_hint)},
    {"ui_locales",     FIELD_TEXT,    .may_be_empty = true, INTO(ui_locales)},
    {"idp_hint",       FIELD_TEXT,    .may_be_empty = true, INTO(idp_hint)},
    {"hint_subject",   FIELD_TEXT,    .may_be_empty = true, INTO(hint_subject)},
    {"max_age",        FIELD_INTEGER, INTO(max_age)},
    {"prompt_none",    FIELD_BOOLEAN, INTO(prompt_none)},
    {"prompt_login",   FIELD_BOOLEAN, INTO(prompt_login)},
    {"prompt_consent", FIELD_BOOLEAN, INTO(prompt_consent)},
    {"prompt_select",  FIELD_BOOLEAN, INTO(prompt_select)},
    {"prompt_create",  FIELD_BOOLEAN, INTO(prompt_create)},
    {"signed_in",      FIELD_BOOLEAN, INTO(signed_in)},
    {"again",          FIELD_BOOLEAN, INTO(again)},
    {"own_page",       FIELD_BOOLEAN, INTO(own_page)},
    {"for_console",    FIELD_BOOLEAN, INTO(for_console)},
    {"flow_id",        FIELD_TEXT,    .required = true,     INTO(flow_id)},
    {"asked_at",       FIELD_INTEGER, .required = true, INTO(asked_at)},
};
/* clang-format on */
#define FIELDS_COUNT (sizeof(authorization_fields) / sizeof(authorization_fields[0]))

static json_t *
value_of(const struct authorization *authorization, const struct field *field)
{
    const char *at = (const char *) authorization + field->offset;
    if (field->kind == FIELD_INTEGER)
        return json_integer(*(const int64_t *) (const void *) at);
    if (field->kind == FIELD_BOOLEAN)
        return *(const bool *) at ? json_true() : NULL;
    const char *text = *(const char *const *) (const void *) at;
    return text != NULL ? json_string(text) : NULL;
}

/*
 * The details are stored as a text, because the rows are jsonb: it would write a double such as
 * 1e300 as an integer of 301 digits, which the JSON reader refuses.
 */
enum az_status
authorization_dump(struct op *op, const struct authorization *authorization, json_t **ret)
{
    json_t *object = jsonx_own(op->mem, json_object());
    const char *details =
        authorization->details != NULL ? jsonx_dump(op->mem, authorization->details) : NULL;
    bool complete = object != NULL && (details != NULL || authorization->details == NULL);
    for (size_t i = 0; i < FIELDS_COUNT && complete; i++) {
        json_t *value = value_of(authorization, &authorization_fields[i]);
        complete =
            value == NULL || json_object_set_new(object, authorization_fields[i].name, value) == 0;
    }
    if (complete && authorization->resource_types != NULL)
        complete = json_object_set(object, "resource_types", authorization->resource_types) == 0;
    if (complete && details != NULL)
        complete = json_object_set_new(object, "details", json_string(details)) == 0;
    if (!complete)
        return op_no_memory(op);
    *ret = object;
    return AZ_OK;
}

/* Read the members that are not plain values. */
static enum az_status
load_lists(struct op *op, const json_t *object, struct authorization *authorization)
{
    const char *details = json_string_value(json_object_get(object, "details"));
    json_t *types = json_object_get(object, "resource_types");
    if (types != NULL && !json_is_array(types))
        return AZ_INVALID;
    authorization->resource_types = types;
    return details != NULL ? jsonx_parse(op->mem, details, strlen(details), STORED_DETAILS_DEPTH,
                                         &authorization->details, NULL)
                           : AZ_OK;
}

enum az_status
authorization_load(struct op *op, const char *text, struct authorization *ret)
{
    struct authorization authorization = {.max_age = AUTHORIZATION_NO_MAX_AGE};
    json_t *object;
    enum az_status st = text != NULL
                            ? jsonx_parse(op->mem, text, strlen(text), STORED_DEPTH, &object, NULL)
                            : AZ_INVALID;
    if (st == AZ_OK)
        st = fields_read(op->mem, FIELDS(authorization_fields, FIELDS_IGNORE_UNKNOWN), object, NULL,
                         NULL, &authorization, NULL);
    if (st == AZ_OK)
        st = load_lists(op, object, &authorization);
    if (st != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "a stored authorization request cannot be read");
    *ret = authorization;
    return AZ_OK;
}

struct grant_terms
authorization_terms(const struct authorization *authorization)
{
    return (struct grant_terms){
        .redirect_uri = authorization->redirect_uri,
        .code_challenge = authorization->code_challenge,
        .nonce = authorization->nonce,
        .dpop_jkt = authorization->dpop_jkt,
        .with_auth_time = authorization->max_age != AUTHORIZATION_NO_MAX_AGE,
        .scope = authorization->scope,
        .resource = authorization->resource,
        .resource_types = authorization->resource_types,
        .details = authorization->details,
        .flow_id = authorization->flow_id,
    };
}

bool
authorization_needs_time(const struct authorization *authorization)
{
    return authorization->prompt_login || authorization->max_age != AUTHORIZATION_NO_MAX_AGE;
}

bool
authorization_is_fresh(const struct authorization *authorization, int64_t auth_time)
{
    int64_t max_age = authorization->max_age, oldest = INT64_MIN;
    bool again = authorization->prompt_login || max_age == 0; /* OpenID Connect Core 3.1.2.1 */
    if (!authorization->signed_in) {
        if (again)
            return false;
        return max_age == AUTHORIZATION_NO_MAX_AGE
               || authorization->asked_at - auth_time <= max_age;
    }
    /* The provider was asked for a fresh sign-in; the auth_time that it reports must confirm it. */
    if (again)
        oldest = authorization->asked_at;
    else if (max_age != AUTHORIZATION_NO_MAX_AGE)
        oldest = authorization->asked_at - max_age;
    return oldest == INT64_MIN || auth_time >= oldest - AUTHORIZATION_CLOCK_SKEW;
}

const char *
authorization_redirect_host(struct op *op, const struct authorization *authorization)
{
    return uri_place(op->mem, authorization->redirect_uri);
}

static int
compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Return the words of a scope as a sorted array: their order has no meaning. */
static json_t *
sorted_words(struct op *op, const char *scope)
{
    const json_t *words = words_split(op->mem, scope);
    const char **list = words_array_list(op->mem, words);
    if (words == NULL || list == NULL)
        return NULL;
    qsort(list, json_array_size(words), sizeof(list[0]), compare_words);
    return words_array(list);
}

enum az_status
authorization_consent_hash(struct op *op, const struct authorization *authorization,
                           unsigned char ret[SHA256_OCTETS])
{
    const char *host = authorization_redirect_host(op, authorization);
    json_t *covered = jsonx_own(
        op->mem,
        json_pack("{s:s,s:s,s:b,s:o,s:s*,s:O*,s:O*}", "client_id", authorization->client_id, "host",
                  host != NULL ? host : "", "scoped", authorization->scope != NULL, "scope",
                  sorted_words(op, authorization->scope), "resource", authorization->resource,
                  "resource_types", authorization->resource_types, "details",
                  authorization->details));
    const char *text = covered != NULL ? jsonx_dump_sorted(op->mem, covered) : NULL;
    if (host == NULL || text == NULL || sha256(text, strlen(text), ret) != AZ_OK)
        return op_no_memory(op);
    return AZ_OK;
}
