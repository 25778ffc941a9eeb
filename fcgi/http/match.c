#include "config.h"

#include "http/match.h"

#include <string.h>

#include "http/form.h"

/* The end of a pattern that matches everything below, in any number of segments. */
#define BELOW "/**"

/* True if the pattern ends so. */
static bool
takes_below(const char *pattern)
{
    size_t length = strlen(pattern);
    return length >= sizeof(BELOW) - 1
           && strcmp(pattern + length - (sizeof(BELOW) - 1), BELOW) == 0;
}

/* True if this is the end of such a pattern. */
static bool
is_below(const char *pattern)
{
    return pattern[1] == '*' && strcmp(pattern, BELOW) == 0;
}

/* Pass over a segment of both if it is the same; false: it differs. Most rows differ from a path in
 * the first characters. */
static bool
skip_same(const char **pattern, const char **path)
{
    const char *wanted = *pattern + 1, *given = *path + 1;
    for (; *wanted == *given && *wanted != '\0' && *wanted != '/'; wanted++)
        given++;
    *pattern = wanted;
    *path = given;
    return (*wanted == '\0' || *wanted == '/') && (*given == '\0' || *given == '/');
}

enum az_status
route_path_matches(TALLOC_CTX *mem, const char *pattern, const char *path, const char **values)
{
    size_t value = 0;
    while (*pattern != '\0' && (*path != '\0' || is_below(pattern))) {
        if (is_below(pattern) && (*path == '\0' || *path == '/')) {
            values[value] = path;
            return AZ_OK;
        }
        if (*path != '/')
            return AZ_NOT_FOUND;
        if (pattern[1] == '{') {
            size_t given = strcspn(path + 1, "/");
            char *decoded = NULL;
            enum az_status st =
                given > 0 ? request_url_decode(mem, path + 1, given, false, &decoded) : AZ_INVALID;
            if (st != AZ_OK)
                return st == AZ_INVALID ? AZ_NOT_FOUND : st;
            values[value++] = decoded;
            pattern += 1 + strcspn(pattern + 1, "/");
            path += 1 + given;
        } else if (!skip_same(&pattern, &path)) {
            return AZ_NOT_FOUND;
        }
    }
    return *pattern == '\0' && *path == '\0' ? AZ_OK : AZ_NOT_FOUND;
}

/* Match a row, with or without a slash at the end of the path where the row takes both. */
static enum az_status
row_matches(TALLOC_CTX *mem, const struct route *row, const char *path, const char **values)
{
    size_t length = strlen(path);
    enum az_status st = route_path_matches(mem, row->path, path, values);
    if (st != AZ_NOT_FOUND || !row->slash || length == 0 || path[length - 1] != '/')
        return st;
    const char *plain = talloc_strndup(mem, path, length - 1);
    return plain != NULL ? route_path_matches(mem, row->path, plain, values) : AZ_SERVER_ERROR;
}

/* True if the row answers the method. HEAD is answered like GET (RFC 9110 9.3.2; the dispatcher
 * leaves the body out), except where a GET does something, which is where it is audited: a link
 * preview must not use up a sign-in or a code. */
static bool
method_matches(const struct route *row, const char *method)
{
    return strcmp(row->method, method) == 0
           || (strcmp(method, "HEAD") == 0 && strcmp(row->method, "GET") == 0 && !row->audited);
}

/* True if the list has the method already: a fixed path and one with {name} may both match. */
static bool
lists_method(const char *allow, const char *method)
{
    size_t length = strlen(method);
    for (const char *at = allow; (at = strstr(at, method)) != NULL; at += length)
        if ((at == allow || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

enum az_status
route_find(TALLOC_CTX *mem, const struct settings *cfg, const char *method, const char *path,
           const char **values, const struct route **ret, const struct route **ret_other,
           const char **ret_allow)
{
    const struct route *other = NULL;
    char *allow = NULL;
    for (const struct route *row = routes; row < routes + routes_count; row++) {
        const char *found[HTTP_PATH_VALUES_MAX] = {NULL};
        /* A path with a row of its own does not match **: GET /gateway/mcp is a wrong method. */
        if ((other != NULL && takes_below(row->path) && !takes_below(other->path))
            || (row->is_on != NULL && cfg != NULL && !row->is_on(cfg)))
            continue;
        enum az_status st = row_matches(mem, row, path, found);
        if (st == AZ_NOT_FOUND)
            continue;
        if (st != AZ_OK)
            return st;
        if (method_matches(row, method)) {
            memcpy(values, found, sizeof(found));
            *ret = row;
            return AZ_OK;
        }
        other = other == NULL ? row : other;
        if (allow != NULL && lists_method(allow, row->method))
            continue;
        allow = allow == NULL ? talloc_strdup(mem, row->method)
                              : talloc_asprintf_append(allow, ", %s", row->method);
    }
    *ret_other = other;
    *ret_allow = allow;
    return AZ_NOT_FOUND;
}
