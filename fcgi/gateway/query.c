#include "config.h"

#include "gateway/query.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "gateway/parameter_name.h"
#include "http/form.h"

/* Most parameters of a query. Each is part of the question to policy, and known APIs have less than
 * half as many. */
#define QUERY_PARAMS_MAX 64

/* A query while its parameters are collected. */
struct collecting {
    struct op *op;
    const struct managed_route *route;
    const char *own; /* the parameter that carries our credential, or NULL; never the caller's */
    json_t *object;
};

static bool
is_listed(const char **names, const char *name)
{
    return names != NULL && words_has((const char *const *) names, name);
}

/* Octets of a name that are shown. */
#define NAME_SHOWN_MAX 64

/* Return a name as an error shows it. The caller chose the name, so characters that could end or
 * hide a part of the text become question marks, and a long name is cut. "" without memory. */
static const char *
name_shown(const struct collecting *it, const char *name)
{
    char *shown = talloc_strndup(it->op->mem, name, NAME_SHOWN_MAX);
    for (char *c = shown; c != NULL && *c != '\0'; c++)
        if (*c < 0x21 || *c > 0x7e || *c == '"' || *c == '\\')
            *c = '?';
    return shown != NULL ? shown : "";
}

/* Check a new name against one that is there already. */
static enum az_status
check_pair(struct collecting *it, const char *name, const char *plain, const char *other)
{
    const char **repeat = it->route->query_repeat;
    char *its = parameter_name_plain(it->op->mem, other);
    if (its == NULL)
        return op_no_memory(it->op);
    return parameter_name_is_same(plain, its)
                   && !(is_listed(repeat, name) && is_listed(repeat, other))
               ? op_fail(it->op, AZ_INVALID_REQUEST,
                         talloc_asprintf(it->op->mem,
                                         "Two parameters have names that servers take for one: "
                                         "%s and %s",
                                         name_shown(it, other), name_shown(it, name)),
                         "query.repeat of route %s does not list both", it->route->id)
               : AZ_OK;
}

/*
 * Check the name of a parameter: a rule about `role` must not be evaded by `role[]`, ` role` or
 * `[role]`, which frameworks take for it, and two values for one of them are two in any spelling.
 */
static enum az_status
check_name(struct collecting *it, const char *name)
{
    const struct managed_route *route = it->route;
    const char *other;
    json_t *value;
    char *plain = parameter_name_plain(it->op->mem, name);
    enum az_status st = AZ_OK;
    if (plain == NULL)
        return op_no_memory(it->op);
    if (it->own != NULL && parameter_name_is_same(plain, it->own))
        return op_fail(it->op, AZ_INVALID_REQUEST,
                       "A parameter has a name that servers take for that of a credential",
                       "the credential of the upstream is in the parameter %s", it->own);
    if (strcmp(plain, name) != 0 && route->query_allow == NULL
        && !is_listed(route->query_repeat, name))
        return op_fail(it->op, AZ_INVALID_REQUEST,
                       talloc_asprintf(it->op->mem,
                                       "The parameter %s has a name that servers take for another "
                                       "one",
                                       name_shown(it, name)),
                       "neither query.allow nor query.repeat of route %s lists it", route->id);
    json_object_foreach (it->object, other, value)
        if (st == AZ_OK)
            st = check_pair(it, name, plain, other);
    return st;
}

/*
 * Add a parameter: a text by name, or an array of texts for a name that may be repeated. Any other
 * repeated parameter is refused: some servers take its first value, some the last and some both, so
 * a rule could compare a value that the upstream does not use.
 */
static enum az_status
add_argument(struct collecting *it, const char *name, const char *value)
{
    json_t *before = json_object_get(it->object, name);
    bool own = it->own != NULL && strcmp(it->own, name) == 0;
    bool good, many = own || is_listed(it->route->query_repeat, name);
    if (before != NULL && !many)
        return op_fail(it->op, AZ_INVALID_REQUEST,
                       talloc_asprintf(it->op->mem, "The parameter %s comes more than once",
                                       name_shown(it, name)),
                       "query.repeat of route %s does not list it", it->route->id);
    enum az_status st = before == NULL && !own ? check_name(it, name) : AZ_OK;
    if (st != AZ_OK)
        return st;
    if (before != NULL)
        good = json_array_append_new(before, json_string(value)) == 0;
    else
        good = json_object_set_new(it->object, name,
                                   many ? json_pack("[s]", value) : json_string(value))
               == 0;
    return good ? AZ_OK : op_no_memory(it->op);
}

enum az_status
gateway_query(struct op *op, const struct managed_resource *resource,
              const struct managed_route *route, const char *query, json_t **ret)
{
    struct collecting it = {op, route, resource->auth.query, jsonx_own(op->mem, json_object())};
    size_t pairs = 0;
    *ret = it.object;
    for (const char *pair = query; *pair != '\0';) {
        size_t length = strcspn(pair, "&");
        char *name, *value;
        enum az_status st = request_decode_pair(op->mem, pair, length, &name, &value);
        if (st == AZ_INVALID)
            return op_fail(op, AZ_INVALID_REQUEST,
                           "A parameter is not form-encoded or not valid UTF-8", NULL);
        if (st != AZ_OK)
            return op_fail(op, st, NULL, "out of memory for a parameter");
        if (length > 0 && ++pairs > QUERY_PARAMS_MAX)
            return op_fail(op, AZ_INVALID_REQUEST, "The request has too many parameters", NULL);
        st = length > 0 ? add_argument(&it, name, value) : AZ_OK;
        if (st != AZ_OK)
            return st;
        pair += length + (pair[length] == '&');
    }
    return AZ_OK;
}

bool
gateway_query_passes(const struct managed_route *route, json_t *query)
{
    const char *name;
    json_t *value;
    json_object_foreach (query, name, value)
        if (route->query_allow != NULL && !is_listed(route->query_allow, name))
            return false;
    return true;
}
