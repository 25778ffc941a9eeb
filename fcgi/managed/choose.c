#include "config.h"

#include "managed/choose.h"

#include <string.h>
#include <strings.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "managed/pattern.h"

/* The segments of a request's path. */
struct parts {
    struct managed_part *part;
    size_t count;
    bool slash; /* a segment holds an encoded slash */
};

static enum az_status
parts_read(TALLOC_CTX *mem, const char *path, struct parts *ret)
{
    size_t count = 0;
    if (*path != '\0' && *path != '/')
        return AZ_INVALID;
    for (const char *c = path; *c != '\0'; c++)
        count += *c == '/';
    *ret = (struct parts){.part = talloc_zero_array(mem, struct managed_part, count + 1)};
    if (ret->part == NULL)
        return AZ_SERVER_ERROR;
    while (*path == '/') {
        size_t length = strcspn(path + 1, "/");
        struct managed_part *part = &ret->part[ret->count++];
        enum az_status st = managed_part_read(mem, path + 1, length, part);
        if (st != AZ_OK)
            return st;
        ret->slash = ret->slash || part->slash;
        path += 1 + length;
    }
    return AZ_OK;
}

/* True if a segment of a request is one of a pattern. A segment with an encoded slash matches none,
 * because the upstream might take it for two segments, unless the route says that it does not. */
static bool
part_matches(const struct managed_part *part, const struct managed_segment *segment,
             bool encoded_slash)
{
    if (part->slash && !(encoded_slash && segment->variable))
        return false;
    return segment->variable ? part->length > 0 : strcmp(part->text, segment->text) == 0;
}

static bool
route_matches(const struct managed_route *route, const struct parts *parts)
{
    const struct managed_pattern *pattern = &route->pattern;
    size_t count = parts->count;
    /* "/gateway/name/" is the root, as "/gateway/name" is. */
    if (pattern->count == 0 && !pattern->rest && count == 1 && parts->part[0].length == 0)
        count = 0;
    if (pattern->rest ? count < pattern->count : count != pattern->count)
        return false;
    for (size_t i = 0; i < pattern->count; i++)
        if (!part_matches(&parts->part[i], &pattern->segment[i], route->encoded_slash))
            return false;
    return true;
}

/* True if `a` is the better choice; of equal ones the first stays. */
static bool
is_closer(const struct managed_pattern *a, const struct managed_pattern *b)
{
    if (a->literals != b->literals)
        return a->literals > b->literals;
    if (a->rest != b->rest)
        return b->rest;
    return a->count - a->literals < b->count - b->literals;
}

/* ---- the path as other servers read it */

/* Add the elements of one segment, which the separators part. */
static void
loose_add(struct parts *loose, char *text, const char *separators)
{
    char *left = NULL;
    for (char *at = strtok_r(text, separators, &left); at != NULL;
         at = strtok_r(NULL, separators, &left)) {
        at[strcspn(at, ";")] = '\0';
        if (*at != '\0')
            loose->part[loose->count++] = (struct managed_part){.length = strlen(at), .text = at};
    }
}

/* Read the segments as a careless server might: an encoded slash counts as a slash (unless the
 * route says otherwise), several slashes count as one, a slash at the end is ignored, and path
 * parameters are cut off. */
static bool
parts_loosen(TALLOC_CTX *mem, const struct parts *parts, bool encoded_slash, struct parts *ret)
{
    size_t most = 0;
    for (size_t i = 0; i < parts->count; i++)
        most += 1 + parts->part[i].length / 2; /* each element needs a slash of its own */
    *ret = (struct parts){.part = talloc_zero_array(mem, struct managed_part, most + 1)};
    for (size_t i = 0; i < parts->count && ret->part != NULL; i++) {
        char *text = talloc_strdup(mem, parts->part[i].text);
        if (text == NULL)
            return false;
        loose_add(ret, text, encoded_slash ? "" : "/");
    }
    return ret->part != NULL;
}

/* True if such a server takes the path for one of the pattern. */
static bool
pattern_matches_loosely(const struct managed_pattern *pattern, const struct parts *loose)
{
    size_t count = pattern->count;
    if (count > 0 && !pattern->segment[count - 1].variable
        && *pattern->segment[count - 1].text == '\0')
        count--;
    if (pattern->rest ? loose->count < count : loose->count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!pattern->segment[i].variable
            && strcasecmp(loose->part[i].text, pattern->segment[i].text) != 0)
            return false;
    return true;
}

/*
 * Check that an upstream which reads the path in another way does not come to a path with a route
 * of its own. Otherwise "//admin/x", "/admin%2Fx", "/admin;a/x", "/ADMIN/x" or a slash at the end
 * would evade the scopes of that route as a path of the asterisks, which match any raw text.
 */
static enum az_status
check_reading(TALLOC_CTX *mem, const struct managed_resource *resource, const char *method,
              const struct parts *parts, const struct managed_route *chosen)
{
    struct parts loose;
    if (!chosen->pattern.rest)
        return AZ_OK;
    if (!parts_loosen(mem, parts, chosen->encoded_slash, &loose))
        return AZ_SERVER_ERROR;
    for (size_t i = 0; i < resource->routes; i++) {
        const struct managed_route *route = &resource->route[i];
        if (route->enabled && words_has(route->methods, method)
            && is_closer(&route->pattern, &chosen->pattern) && !route_matches(route, parts)
            && pattern_matches_loosely(&route->pattern, &loose))
            return AZ_INVALID_REQUEST;
    }
    return AZ_OK;
}

/* ---- the choice */

/* Take the values of the variables and what the asterisks stand for. */
static enum az_status
choice_fill(TALLOC_CTX *mem, const struct managed_pattern *pattern, const struct parts *parts,
            struct managed_choice *choice)
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

/* Add the methods of a route to the list of a 405. */
static const char *
allow_add(TALLOC_CTX *mem, const char *allow, const struct managed_route *route)
{
    char *list = talloc_strdup(mem, allow != NULL ? allow : "");
    for (const char *const *method = route->methods; list != NULL && *method != NULL; method++)
        if (strstr(list, *method) == NULL)
            list = talloc_asprintf_append(list, "%s%s", *list != '\0' ? ", " : "", *method);
    return list;
}

enum az_status
managed_choose(TALLOC_CTX *mem, const struct managed_resource *resource, const char *method,
               const char *path, struct managed_choice *ret)
{
    struct managed_choice choice = {.path = managed_path_plain(mem, path)};
    struct parts parts;
    if (choice.path == NULL)
        return AZ_SERVER_ERROR;
    enum az_status st = parts_read(mem, choice.path, &parts);
    if (st != AZ_OK)
        return st == AZ_INVALID ? AZ_INVALID_REQUEST : st;
    for (size_t i = 0; i < resource->routes; i++) {
        const struct managed_route *route = &resource->route[i];
        if (!route->enabled || !route_matches(route, &parts))
            continue;
        if (!words_has(route->methods, method))
            choice.allow = allow_add(mem, choice.allow, route);
        else if (choice.route == NULL || is_closer(&route->pattern, &choice.route->pattern))
            choice.route = route;
    }
    if (choice.route != NULL) {
        choice.allow = NULL;
        st = check_reading(mem, resource, method, &parts, choice.route);
        if (st == AZ_OK)
            st = choice_fill(mem, &choice.route->pattern, &parts, &choice);
    } else if (choice.allow != NULL) {
        st = AZ_METHOD_NOT_ALLOWED;
    } else {
        st = parts.slash ? AZ_INVALID_REQUEST : AZ_NOT_FOUND;
    }
    if (st == AZ_OK || st == AZ_METHOD_NOT_ALLOWED)
        *ret = choice;
    return st;
}

enum az_status
managed_upstream_path(TALLOC_CTX *mem, const struct managed_route *route, const json_t *values,
                      const char *rest, char **ret)
{
    const struct managed_pattern *pattern = &route->upstream_pattern;
    char *path = talloc_strdup(mem, "");
    for (size_t i = 0; i < pattern->count && path != NULL; i++) {
        const struct managed_segment *segment = &pattern->segment[i];
        const char *text = segment->text;
        if (segment->variable) {
            char *encoded;
            const char *value = json_string_value(json_object_get(values, text));
            enum az_status st =
                value != NULL ? managed_part_encode(mem, value, route->encoded_slash, &encoded)
                              : AZ_INVALID;
            if (st != AZ_OK)
                return st;
            text = encoded;
        }
        path = talloc_asprintf_append_buffer(path, "/%s", text);
    }
    if (path != NULL && pattern->rest && rest != NULL)
        path = talloc_asprintf_append_buffer(path, "/%s", rest);
    *ret = path;
    return path != NULL ? AZ_OK : AZ_SERVER_ERROR;
}
