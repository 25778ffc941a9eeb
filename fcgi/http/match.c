#include "config.h"

#include "http/match.h"

#include <string.h>

#include "http/form.h"

/* Matches one path against one pattern, segment by segment, on the raw path: %2F stays inside its
 * segment. */
static bool
pattern_matches(TALLOC_CTX *mem, const char *pattern, const char *path, const char **values)
{
    size_t value = 0;
    while (*pattern != '\0' && *path != '\0') {
        size_t wanted = strcspn(pattern + 1, "/"), given = strcspn(path + 1, "/");
        if (*path != '/')
            return false;
        if (pattern[1] == '{') {
            values[value] = given > 0 ? request_url_decode(mem, path + 1, given, false) : NULL;
            if (values[value++] == NULL)
                return false;
        } else if (wanted != given || memcmp(pattern + 1, path + 1, wanted) != 0) {
            return false;
        }
        pattern += 1 + wanted;
        path += 1 + given;
    }
    return *pattern == '\0' && *path == '\0';
}

/* RFC 9110 9.3.2: HEAD wherever GET; the dispatcher leaves the body out. But not where a GET does
 * something, which the audit tells of: whoever looks ahead must not use up a sign-in or a code. */
static bool
method_matches(const struct route *row, const char *method)
{
    return strcmp(row->method, method) == 0
           || (strcmp(method, "HEAD") == 0 && strcmp(row->method, "GET") == 0 && !row->audited);
}

/* A fixed path and one with {name} may both fit. */
static bool
lists_method(const char *allow, const char *method)
{
    size_t length = strlen(method);
    for (const char *at = allow; (at = strstr(at, method)) != NULL; at += length)
        if ((at == allow || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

const struct route *
route_find(TALLOC_CTX *mem, const char *method, const char *path, const char **values,
           const struct route **ret_other, const char **ret_allow)
{
    const struct route *other = NULL;
    char *allow = NULL;
    for (const struct route *row = routes; row < routes + routes_count; row++) {
        const char *found[HTTP_PATH_VALUES_MAX] = {NULL};
        if (!pattern_matches(mem, row->path, path, found))
            continue;
        if (method_matches(row, method)) {
            memcpy(values, found, sizeof(found));
            return row;
        }
        other = other == NULL ? row : other;
        if (allow != NULL && lists_method(allow, row->method))
            continue;
        allow = allow == NULL ? talloc_strdup(mem, row->method)
                              : talloc_asprintf_append(allow, ", %s", row->method);
    }
    *ret_other = other;
    *ret_allow = allow;
    return NULL;
}
