#include "config.h"

#include "gateway/query.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "http/form.h"

/* Most parameters of a query. Each is part of the question to policy, and known APIs have less than
 * half as many. */
#define QUERY_PARAMS_MAX 64

/*
 * Add a parameter: a text by name, or an array of texts for a name that may be repeated. Any other
 * repeated parameter is refused: some servers take its first value, some the last and some both, so
 * a rule could compare a value that the upstream does not use.
 */
static enum az_status
add_argument(struct op *op, const struct managed_route *route, const char *own, json_t *object,
             const char *name, const char *value)
{
    const char *const *repeat = (const char *const *) route->query_repeat;
    json_t *before = json_object_get(object, name);
    bool good, many = (repeat != NULL && words_has(repeat, name))
                      || (own != NULL && strcmp(own, name) == 0);
    if (before != NULL && !many)
        return op_fail(op, AZ_INVALID_REQUEST, "A parameter comes more than once",
                       "query.repeat of route %s does not list it", route->id);
    if (before != NULL)
        good = json_array_append_new(before, json_string(value)) == 0;
    else
        good =
            json_object_set_new(object, name, many ? json_pack("[s]", value) : json_string(value))
            == 0;
    return good ? AZ_OK : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
}

enum az_status
gateway_query(struct op *op, const struct managed_resource *resource,
              const struct managed_route *route, const char *query, json_t **ret)
{
    json_t *object = *ret = jsonx_own(op->mem, json_object());
    const char *own = resource->auth.query; /* never the caller's: target.h */
    size_t pairs = 0;
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
        st = length > 0 ? add_argument(op, route, own, object, name, value) : AZ_OK;
        if (st != AZ_OK)
            return st;
        pair += length + (pair[length] == '&');
    }
    return AZ_OK;
}
