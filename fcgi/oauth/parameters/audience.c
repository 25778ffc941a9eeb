#include "config.h"

#include "oauth/parameters/audience.h"

#include <string.h>

#include "policy/decide/registry.h"

#define GATEWAY_PATH "/gateway"

/* True if `inner` is `outer` with a slash and more after it. */
static bool
lies_below(const char *inner, const char *outer)
{
    size_t length = strlen(outer);
    return strncmp(inner, outer, length) == 0 && inner[length] == '/' && inner[length + 1] != '\0';
}

/* Return the address of the gateway, {issuer}/gateway, or NULL. */
static char *
gateway_root(TALLOC_CTX *mem, const char *issuer)
{
    char *text = resource_normal(mem, issuer);
    return text != NULL ? talloc_strdup_append(text, GATEWAY_PATH) : NULL;
}

bool
audience_is_gateway(const char *issuer, const char *resource)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *root = gateway_root(mem, issuer),
               *named = resource != NULL ? resource_normal(mem, resource) : NULL;
    bool below = root != NULL && named != NULL && lies_below(named, root);
    talloc_free(mem);
    return below;
}

const char *
audience_without_slash(TALLOC_CTX *mem, const char *issuer, const char *resource)
{
    size_t length = strlen(resource);
    return length > 0 && resource[length - 1] == '/' && audience_is_gateway(issuer, resource)
               ? talloc_strndup(mem, resource, length - 1)
               : resource;
}

bool
audience_covers(const char *issuer, const char *named, const char *wanted)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *base = resource_normal(mem, issuer), *root = gateway_root(mem, issuer),
               *has = named != NULL ? resource_normal(mem, named) : NULL,
               *asks = resource_normal(mem, wanted);
    bool known = base != NULL && root != NULL && has != NULL && asks != NULL;
    bool covers =
        known
        && (strcmp(has, asks) == 0 || strcmp(has, base) == 0
            || ((strcmp(has, root) == 0 || lies_below(has, root)) && lies_below(asks, has)));
    talloc_free(mem);
    return covers;
}
