#include "config.h"

#include "managed/choose.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "managed/match.h"

/* ---- the choice */

/* Take the values of the variables and what the asterisks stand for. */
static enum az_status
choice_fill(TALLOC_CTX *mem, const struct managed_pattern *pattern,
            const struct managed_parts *parts, struct managed_choice *choice)
{
    struct jsonx_build values = {jsonx_own(mem, json_object()), false};
    for (size_t i = 0; i < pattern->count; i++)
        if (pattern->segment[i].variable)
            jsonx_set(&values, pattern->segment[i].text, json_string(parts->part[i].text));
    if ((choice->values = jsonx_built(&values)) == NULL)
        return AZ_SERVER_ERROR;
    /* The raw path ends with its last segment, so the rest ends with NUL too. */
    choice->rest =
        pattern->rest && parts->count > pattern->count ? parts->part[pattern->count].raw : NULL;
    return AZ_OK;
}

/* Return the methods that the path has, on mem, or NULL. */
static const char *
other_methods(TALLOC_CTX *mem, const struct managed_path *path)
{
    char *list = NULL;
    for (size_t i = 0; i < path->resource->routes; i++) {
        const struct managed_route *route = &path->resource->route[i];
        const char *const *method = route->methods;
        if (!route->enabled || !managed_path_is_of(path, route))
            continue;
        list = list != NULL ? list : talloc_strdup(mem, "");
        for (; list != NULL && *method != NULL; method++)
            if (strstr(list, *method) == NULL)
                list = talloc_asprintf_append(list, "%s%s", *list != '\0' ? ", " : "", *method);
    }
    return list;
}

enum az_status
managed_choose(TALLOC_CTX *mem, const struct managed_resource *resource, const char *method,
               const char *path, struct managed_choice *ret)
{
    struct managed_choice choice = {.path = managed_path_plain(mem, path)};
    struct managed_path at = {.resource = resource, .method = method};
    if (choice.path == NULL)
        return AZ_SERVER_ERROR;
    enum az_status st = managed_parts_read(mem, choice.path, &at.parts);
    if (st != AZ_OK)
        return st == AZ_INVALID ? AZ_INVALID_REQUEST : st;
    choice.route = managed_path_closest(&at);
    if (choice.route != NULL && !choice.route->enabled)
        return AZ_NOT_FOUND; /* and no wider route serves it */
    if (choice.route != NULL) {
        st = managed_path_check(mem, &at, choice.route);
        if (st == AZ_OK)
            st = choice_fill(mem, &choice.route->pattern, &at.parts, &choice);
    } else if ((choice.allow = other_methods(mem, &at)) != NULL) {
        st = AZ_METHOD_NOT_ALLOWED;
    } else {
        st = at.parts.slash ? AZ_INVALID_REQUEST : AZ_NOT_FOUND;
    }
    if (st == AZ_OK || st == AZ_METHOD_NOT_ALLOWED)
        *ret = choice;
    return st;
}

/* ---- the path at the upstream */

/* Build the path; AZ_INVALID as in choose.h. */
static enum az_status
path_build(TALLOC_CTX *mem, const struct managed_choice *choice, char **ret)
{
    const struct managed_pattern *pattern = &choice->route->upstream_pattern;
    char *path = talloc_strdup(mem, "");
    for (size_t i = 0; i < pattern->count && path != NULL; i++) {
        const struct managed_segment *segment = &pattern->segment[i];
        const char *text = segment->text;
        if (segment->variable) {
            char *encoded;
            const char *value = json_string_value(json_object_get(choice->values, text));
            enum az_status st =
                value != NULL
                    ? managed_part_encode(mem, value, choice->route->encoded_slash, &encoded)
                    : AZ_INVALID;
            if (st != AZ_OK)
                return st;
            text = encoded;
        }
        path = talloc_asprintf_append_buffer(path, "/%s", text);
    }
    if (path != NULL && pattern->rest && choice->rest != NULL)
        path = talloc_asprintf_append_buffer(path, "/%s", choice->rest);
    *ret = path;
    return path != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

enum az_status
managed_upstream_path(TALLOC_CTX *mem, const struct managed_resource *resource, const char *method,
                      const struct managed_choice *choice, char **ret)
{
    struct managed_path at = {.resource = resource, .method = method, .sent = true};
    char *path = NULL;
    enum az_status st = path_build(mem, choice, &path);
    if (st == AZ_OK)
        st = managed_parts_read(mem, path, &at.parts);
    if (st == AZ_OK)
        st = managed_path_check(mem, &at, choice->route);
    if (st == AZ_OK)
        *ret = path;
    return st;
}
