/* The resource that a token names. The first line of an input is the issuer, the rest the resource.
 */
#include "config.h"

#include <string.h>
#include <talloc.h>

#include "fuzz/fuzz.h"
#include "oauth/parameters/audience.h"
#include "policy/decide/registry.h"

/* The normal form of an address is its own, and the case of its start makes no other. */
static void
check_normal(TALLOC_CTX *mem, const char *address)
{
    const char *normal = resource_normal(mem, address);
    if (normal == NULL)
        return;
    MUST(strstr(normal, "://") != NULL && strlen(normal) <= strlen(address));
    const char *again = resource_normal(mem, normal);
    MUST(again == NULL || strlen(again) <= strlen(normal));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *issuer = talloc_strndup(mem, (const char *) data, size), *line = strchr(issuer, '\n');
    const char *named = line != NULL ? line + 1 : "";
    if (line != NULL)
        *line = '\0';
    check_normal(mem, issuer);
    check_normal(mem, named);
    const char *mcp = talloc_asprintf(mem, "%s/gateway/mcp", issuer),
               *one = talloc_asprintf(mem, "%s/gateway/mcp/notes", issuer);
    const char *base = resource_normal(mem, issuer), *has = resource_normal(mem, named);
    /* What is good for a resource is good for those below it. */
    MUST(!audience_covers(issuer, named, mcp) || audience_covers(issuer, named, one));
    /* A token is good for something only below its own host, and with the issuer's start. */
    if (audience_covers(issuer, named, one))
        MUST(base != NULL && has != NULL && strncmp(has, base, strlen(base)) == 0);
    if (audience_is_gateway(issuer, named))
        MUST(base != NULL && has != NULL && strncmp(has, base, strlen(base)) == 0
             && strncmp(has + strlen(base), "/gateway/", 9) == 0);
    talloc_free(mem);
    return 0;
}
