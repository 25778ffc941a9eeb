#include "config.h"

#include "http/address.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

/* Room for an IPv6 address in brackets with a port, as some proxies write it. */
#define ENTRY_MAX 64

/* Return the address in canonical text, or NULL. Accepts 192.0.2.1, 192.0.2.1:80, 2001:db8::1,
 * [2001:db8::1] and [2001:db8::1]:80. */
static const char *
canonical(TALLOC_CTX *mem, const char *text, size_t len)
{
    char entry[ENTRY_MAX], out[INET6_ADDRSTRLEN];
    unsigned char octets[16];
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    while (len > 0 && (*text == ' ' || *text == '\t'))
        text++, len--;
    if (len == 0 || len >= sizeof(entry))
        return NULL;
    memcpy(entry, text, len);
    entry[len] = '\0';
    char *start = entry, *end;
    if (*start == '[') {
        if ((end = strchr(++start, ']')) == NULL || (end[1] != '\0' && end[1] != ':'))
            return NULL;
        *end = '\0';
    } else if ((end = strchr(start, ':')) != NULL && strchr(end + 1, ':') == NULL) {
        *end = '\0';
    }
    int family = strchr(start, ':') != NULL ? AF_INET6 : AF_INET;
    if (inet_pton(family, start, octets) != 1)
        return NULL;
    /* ::ffff:192.0.2.1 is an IPv4 client of a dual-stack listener and is counted as IPv4. */
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    bool is_mapped = family == AF_INET6 && memcmp(octets, mapped, sizeof(mapped)) == 0;
    if (inet_ntop(is_mapped ? AF_INET : family, octets + (is_mapped ? 12 : 0), out, sizeof(out))
        == NULL)
        return NULL;
    return talloc_strdup(mem, out);
}

const char *
address_of_client(TALLOC_CTX *mem, const char *remote, const char *forwarded, long trusted)
{
    if (trusted <= 0 || forwarded == NULL)
        return remote != NULL ? canonical(mem, remote, strlen(remote)) : NULL;
    const char *end = forwarded + strlen(forwarded), *start = end;
    for (long i = 1;; i++) {
        for (start = end; start > forwarded && start[-1] != ',';)
            start--;
        if (i == trusted)
            return canonical(mem, start, (size_t) (end - start));
        if (start == forwarded)
            return NULL;
        end = start - 1;
    }
}

bool
address_is_listed(const char *address, const char *list)
{
    unsigned char wanted[16], octets[16];
    int family = address == NULL                             ? AF_UNSPEC
                 : inet_pton(AF_INET, address, wanted) == 1  ? AF_INET
                 : inet_pton(AF_INET6, address, wanted) == 1 ? AF_INET6
                                                             : AF_UNSPEC;
    size_t length = family == AF_INET ? 4 : 16;
    for (const char *at = list, *end; family != AF_UNSPEC && *at != '\0';
         at = end + (*end == ',')) {
        char entry[INET6_ADDRSTRLEN] = "";
        at += strspn(at, " \t");
        end = at + strcspn(at, ",");
        size_t size = strcspn(at, ", \t");
        if (size < sizeof(entry))
            memcpy(entry, at, size);
        if (inet_pton(family, entry, octets) == 1 && memcmp(octets, wanted, length) == 0)
            return true;
    }
    return false;
}

size_t
address_counted(const char *address, unsigned char ret[ADDRESS_OCTETS_MAX])
{
    if (address == NULL)
        return 0;
    if (inet_pton(AF_INET, address, ret) == 1)
        return 4;
    return inet_pton(AF_INET6, address, ret) == 1 ? 8 : 0;
}
