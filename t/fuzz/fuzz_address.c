/* Client addresses. An input is REMOTE_ADDR and, from the first line break on, X-Forwarded-For. */
#include "config.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "http/address.h"

#define TRUSTED_MAX 17 /* one more than SVC_TRUSTED_PROXY_COUNT may be */

/* Canonical: an address whose own canonical text it is. */
static void
check_address(TALLOC_CTX *mem, const char *address)
{
    unsigned char octets[16];
    if (address == NULL)
        return;
    MUST(inet_pton(strchr(address, ':') != NULL ? AF_INET6 : AF_INET, address, octets) == 1);
    const char *again = address_of_client(mem, address, NULL, 0);
    MUST(again != NULL && strcmp(again, address) == 0);
}

static bool
same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *remote = talloc_strndup(mem, (const char *) data, size), *forwarded = NULL;
    char *line = strchr(remote, '\n');

    if (line != NULL) {
        *line = '\0';
        forwarded = talloc_strdup(mem, line + 1);
    }
    const char *own = address_of_client(mem, remote, NULL, 0);
    MUST(same(own, address_of_client(mem, remote, forwarded, 0)));
    for (long trusted = 0; trusted <= TRUSTED_MAX; trusted++)
        check_address(mem, address_of_client(mem, remote, forwarded, trusted));
    if (forwarded != NULL) {
        /* Entries that a caller puts in front of the trusted proxy's entry change nothing. */
        const char *more = talloc_asprintf(mem, "203.0.113.1,%s", forwarded);
        MUST(same(address_of_client(mem, remote, forwarded, 1),
                  address_of_client(mem, remote, more, 1)));
    }
    talloc_free(mem);
    return 0;
}
