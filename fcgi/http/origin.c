#include "config.h"

#include "http/origin.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/settings/settings.h"

/* Headers that a page of another origin may send (gateway-admin.md 1.3). */
#define REQUEST_HEADERS                                                                            \
    "Authorization, Content-Type, DPoP, MCP-Protocol-Version, Mcp-Method, Mcp-Name, "              \
    "Mcp-Session-Id, Last-Event-ID"

/* The first letters of headers that carry a parameter of an MCP tool, whose names the tool chooses.
 */
#define PARAM_PREFIX "Mcp-Param-"

bool
origin_is_allowed(const char *issuer, const char *listed, const char *origin)
{
    const char *authority = strstr(issuer, "://");
    size_t own = authority != NULL ? (size_t) (authority + 3 - issuer) + strcspn(authority + 3, "/")
                                   : strlen(issuer);
    size_t length = strlen(origin);
    /* The issuer may be written in any case; browsers write scheme and host in lower case. */
    if (length == own && strncasecmp(origin, issuer, own) == 0)
        return true;
    for (const char *at = listed; at != NULL && *at != '\0';) {
        at += strspn(at, ", \t");
        size_t entry = strcspn(at, ", \t");
        if (entry > 0 && entry == length && memcmp(at, origin, entry) == 0)
            return true;
        at += entry;
    }
    return false;
}

static const char *
page_origin(const struct request *req)
{
    return req->io->variable(req->io, "HTTP_ORIGIN");
}

enum az_status
origin_check(struct request *req)
{
    const struct settings *cfg = req->op.az->cfg;
    const char *origin = page_origin(req);
    if (req->route->cors != CORS_LISTED || origin == NULL
        || origin_is_allowed(cfg->oidc_issuer, cfg->gateway_allowed_origins, origin))
        return AZ_OK;
    return op_fail(&req->op, AZ_FORBIDDEN, "Pages of this origin must not call this address",
                   "the Origin is neither that of SVC_OIDC_ISSUER nor in "
                   "SVC_GATEWAY_ALLOWED_ORIGINS: %.200s",
                   origin);
}

const char *
origin_that_reads(const struct request *req)
{
    const struct settings *cfg = req->op.az->cfg;
    if (req->route->cors == CORS_OPEN)
        return "*";
    /* Each look goes through all CGI variables. */
    const char *origin = req->route->cors == CORS_LISTED ? page_origin(req) : NULL;
    return origin != NULL
                   && origin_is_allowed(cfg->oidc_issuer, cfg->gateway_allowed_origins, origin)
               ? origin
               : NULL;
}

/* True if a header has the prefix, more after it, and the characters of a name alone (RFC 9110
 * 5.1), so that nothing of the caller's text can begin another header. */
static bool
carries_param(const char *name, size_t length)
{
    size_t prefix = sizeof(PARAM_PREFIX) - 1;
    if (length <= prefix || strncasecmp(name, PARAM_PREFIX, prefix) != 0)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char) name[i]) && strchr("-_.", name[i]) == NULL)
            return false;
    return true;
}

const char *
origin_request_headers(TALLOC_CTX *mem, const char *asked)
{
    char *text = talloc_strdup(mem, REQUEST_HEADERS);
    if (asked == NULL || strlen(asked) > ORIGIN_HEADERS_MAX)
        return text;
    for (const char *at = asked; *at != '\0' && text != NULL;) {
        at += strspn(at, ", \t");
        size_t length = strcspn(at, ", \t");
        if (carries_param(at, length))
            text = talloc_asprintf_append_buffer(text, ", %.*s", (int) length, at);
        at += length;
    }
    return text;
}
