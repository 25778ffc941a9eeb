#include "config.h"

#include "gateway/mcp/peer/peer_redirect.h"

#include <stdbool.h>
#include <string.h>

#include "base/uri.h"
#include "managed/status.h"

/* True if a Location is a URI and no reference relative to another. */
static bool
has_scheme(const char *location)
{
    return location[strcspn(location, ":/?#")] == ':';
}

/* Drop the segments "." and ".." of a path, in its place (RFC 3986 5.2.4). */
static void
drop_dots(char *path)
{
    char *to = path;
    const char *from = path;
    while (*from != '\0') {
        size_t length = 1 + strcspn(from + 1, "/");
        bool up = length == 3 && memcmp(from, "/..", 3) == 0, here = length == 2 && from[1] == '.';
        while (up && to > path && *--to != '/')
            ;
        if (up || here) {
            if (from[length] == '\0')
                *to++ = '/';
        } else {
            memmove(to, from, length);
            to += length;
        }
        from += length;
    }
    *to = '\0';
}

/* Return the path of a relative Location, by that of upstreamUrl. NULL: no memory. */
static char *
redirect_path(TALLOC_CTX *mem, const char *base, const char *location)
{
    int length = (int) strcspn(location, "?#");
    const char *last = strrchr(base, '/');
    if (length == 0)
        return talloc_strdup(mem, base);
    char *path = *location == '/'
                     ? talloc_strndup(mem, location, (size_t) length)
                     : talloc_asprintf(mem, "%.*s/%.*s", last != NULL ? (int) (last - base) : 0,
                                       base, length, location);
    if (path != NULL)
        drop_dots(path);
    return path;
}

/* Return a Location with scheme and host, taken from upstreamUrl if the Location has none (RFC 9110
 * 10.2.2). NULL: no memory, or upstreamUrl has no scheme and host. */
static const char *
redirect_whole(TALLOC_CTX *mem, const char *upstream_url, const char *location)
{
    struct uri base;
    if (has_scheme(location))
        return location;
    if (uri_parse(mem, upstream_url, &base) != AZ_OK || base.host == NULL)
        return NULL;
    if (strncmp(location, "//", 2) == 0)
        return talloc_asprintf(mem, "%s:%s", base.scheme, location);
    const char *origin = uri_origin(mem, &base), *path = redirect_path(mem, base.path, location);
    return origin != NULL && path != NULL ? talloc_asprintf(mem, "%s%s", origin, path) : NULL;
}

/* Return the address that is shown, or NULL. */
static const char *
redirect_shown(TALLOC_CTX *mem, const char *upstream_url, const char *location)
{
    struct uri uri;
    const char *whole = redirect_whole(mem, upstream_url, location);
    if (whole == NULL || uri_parse(mem, whole, &uri) != AZ_OK || uri.host == NULL
        || (strcmp(uri.scheme, "https") != 0 && strcmp(uri.scheme, "http") != 0))
        return NULL;
    const char *origin = uri_origin(mem, &uri);
    const char *shown = origin != NULL ? talloc_asprintf(mem, "%s%s", origin, uri.path) : NULL;
    return shown != NULL && strlen(shown) <= PEER_REDIRECT_MAX ? shown : NULL;
}

const char *
peer_redirect_text(TALLOC_CTX *mem, const char *upstream_url, const char *location)
{
    const char *shown = redirect_shown(mem, upstream_url, location);
    return talloc_asprintf(mem, MANAGED_REDIRECTS "%s: change upstreamUrl",
                           shown != NULL ? shown : "an address that cannot be shown");
}
