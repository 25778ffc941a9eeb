#include "config.h"

#include "gateway/mcp/peer/peer_redirect.h"

#include <string.h>

#include "base/uri.h"
#include "managed/status.h"

/* Return a Location with scheme and host, taken from upstreamUrl if the Location has none. NULL: no
 * memory, or upstreamUrl has no scheme and host. */
static const char *
redirect_whole(TALLOC_CTX *mem, const char *upstream_url, const char *location)
{
    struct uri base;
    if (*location != '/')
        return location;
    if (uri_parse(mem, upstream_url, &base) != AZ_OK || base.host == NULL)
        return NULL;
    if (location[1] == '/')
        return talloc_asprintf(mem, "%s:%s", base.scheme, location);
    const char *origin = uri_origin(mem, &base);
    return origin != NULL ? talloc_asprintf(mem, "%s%s", origin, location) : NULL;
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
