#include "config.h"

#include "base/network.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/digits.h"

/* Room for an IPv6 address with a prefix length. */
#define ENTRY_MAX (INET6_ADDRSTRLEN + 4)

#define BETWEEN ", \t"

struct network {
    int family;
    unsigned char octets[16];
    unsigned bits; /* of the prefix */
};

/* Read an address of either family; AF_UNSPEC for anything else. */
static int
read_address(const char *text, unsigned char octets[16])
{
    return inet_pton(AF_INET, text, octets) == 1    ? AF_INET
           : inet_pton(AF_INET6, text, octets) == 1 ? AF_INET6
                                                    : AF_UNSPEC;
}

/* True if the first bits of both are the same. */
static bool
same_prefix(const unsigned char *a, const unsigned char *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    unsigned char mask = (unsigned char) (0xff << (8 - rest));
    return memcmp(a, b, whole) == 0 && (rest == 0 || ((a[whole] ^ b[whole]) & mask) == 0);
}

/* True if no bit is set behind the prefix. */
static bool
ends_with_prefix(const struct network *network, unsigned length)
{
    for (unsigned at = network->bits; at < length; at++)
        if ((network->octets[at / 8] & (0x80 >> (at % 8))) != 0)
            return false;
    return true;
}

static bool
read_network(const char *text, size_t size, struct network *ret)
{
    char entry[ENTRY_MAX];
    int64_t bits;
    if (size >= sizeof(entry))
        return false;
    memcpy(entry, text, size);
    entry[size] = '\0';
    char *slash = strchr(entry, '/');
    if (slash != NULL)
        *slash = '\0';
    ret->family = read_address(entry, ret->octets);
    unsigned length = ret->family == AF_INET ? 32 : 128;
    if (ret->family == AF_UNSPEC
        || (slash != NULL && !digits_read(slash + 1, (int64_t) length, &bits)))
        return false;
    ret->bits = slash != NULL ? (unsigned) bits : length;
    return ends_with_prefix(ret, length);
}

const char *
network_list_fault(TALLOC_CTX *mem, const char *list)
{
    struct network network;
    for (const char *at = list + strspn(list, BETWEEN); *at != '\0'; at += strspn(at, BETWEEN)) {
        size_t size = strcspn(at, BETWEEN);
        if (!read_network(at, size, &network))
            return talloc_strndup(mem, at, size);
        at += size;
    }
    return NULL;
}

bool
network_list_has(const char *list, const char *address)
{
    struct network network;
    unsigned char octets[16];
    int family = address != NULL ? read_address(address, octets) : AF_UNSPEC;
    if (family == AF_UNSPEC || list == NULL)
        return false;
    for (const char *at = list + strspn(list, BETWEEN); *at != '\0'; at += strspn(at, BETWEEN)) {
        size_t size = strcspn(at, BETWEEN);
        if (read_network(at, size, &network) && network.family == family
            && same_prefix(network.octets, octets, network.bits))
            return true;
        at += size;
    }
    return false;
}

bool
network_is_loopback(const char *address)
{
    return network_list_has("127.0.0.0/8, ::1", address);
}
