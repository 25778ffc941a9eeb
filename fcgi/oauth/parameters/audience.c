#include "config.h"

#include "oauth/parameters/audience.h"

#include <ctype.h>
#include <string.h>

#define GATEWAY_PATH "/gateway"

char *
audience_normal(TALLOC_CTX *mem, const char *address)
{
    static const struct {
        const char *scheme, *port;
    } defaults[] = {
        {"https://", ":443"},
        {"http://",  ":80" }
    };
    const char *mark = strstr(address, "://");
    if (mark == NULL)
        return NULL;
    size_t authority = (size_t) (mark + 3 - address), end = authority + strcspn(mark + 3, "/?#");
    if (end == authority || memchr(address + authority, '@', end - authority) != NULL)
        return NULL;
    const char *rest = strcmp(address + end, "/") == 0 ? "" : address + end;
    char *text = talloc_strndup(mem, address, end);
    if (text == NULL)
        return NULL;
    for (char *c = text; *c != '\0'; c++)
        *c = (char) tolower((unsigned char) *c);
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        size_t length = strlen(text), port = strlen(defaults[i].port);
        if (strncmp(text, defaults[i].scheme, strlen(defaults[i].scheme)) == 0 && length > port
            && strcmp(text + length - port, defaults[i].port) == 0)
            text[length - port] = '\0';
    }
    return talloc_strdup_append(text, rest);
}

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
    char *text = audience_normal(mem, issuer);
    return text != NULL ? talloc_strdup_append(text, GATEWAY_PATH) : NULL;
}

bool
audience_is_gateway(const char *issuer, const char *resource)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *root = gateway_root(mem, issuer),
               *named = resource != NULL ? audience_normal(mem, resource) : NULL;
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
    const char *base = audience_normal(mem, issuer), *root = gateway_root(mem, issuer),
               *has = named != NULL ? audience_normal(mem, named) : NULL,
               *asks = audience_normal(mem, wanted);
    bool known = base != NULL && root != NULL && has != NULL && asks != NULL;
    bool covers =
        known
        && (strcmp(has, asks) == 0 || strcmp(has, base) == 0
            || ((strcmp(has, root) == 0 || lies_below(has, root)) && lies_below(asks, has)));
    talloc_free(mem);
    return covers;
}
