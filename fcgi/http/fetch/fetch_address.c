#include "config.h"

#include "http/fetch/fetch_address.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

/* A range: addresses whose first `bits` are those of `octets`. */
struct address_range {
    unsigned char octets[16];
    unsigned bits;
};

/* clang-format off */
/* https://www.iana.org/assignments/iana-ipv4-special-registry, also its reachable ranges: no
 * document lives at an anycast relay. */
static const struct address_range special4[] = {
    {{0},              8},  /* "this network" (RFC 791) */
    {{10},             8},  /* private (RFC 1918) */
    {{100, 64},        10}, /* shared, behind carrier NAT (RFC 6598); 100.100.100.200 is metadata */
    {{127},            8},  /* loopback (RFC 1122) */
    {{168, 63, 129, 16}, 32}, /* public by its number, but the host of a virtual machine at Azure */
    {{169, 254},       16}, /* link-local (RFC 3927); 169.254.169.254 is metadata */
    {{172, 16},        12}, /* private (RFC 1918) */
    {{192, 0, 0},      24}, /* protocol assignments (RFC 6890); 192.0.0.192 is metadata */
    {{192, 0, 2},      24}, /* documentation (RFC 5737) */
    {{192, 31, 196},   24}, /* AS112 (RFC 7535) */
    {{192, 52, 193},   24}, /* AMT relays (RFC 7450) */
    {{192, 88, 99},    24}, /* 6to4 relays, deprecated (RFC 7526) */
    {{192, 168},       16}, /* private (RFC 1918) */
    {{192, 175, 48},   24}, /* AS112 (RFC 7534) */
    {{198, 18},        15}, /* benchmarking (RFC 2544) */
    {{198, 51, 100},   24}, /* documentation (RFC 5737) */
    {{203, 0, 113},    24}, /* documentation (RFC 5737) */
    {{224},            4},  /* multicast (RFC 5771) */
    {{240},            4},  /* reserved (RFC 1112), and the broadcast address */
};

/* https://www.iana.org/assignments/iana-ipv6-special-registry, the part in 2000::/3. */
static const struct address_range special6[] = {
    {{0x20, 0x01, 0x00},             23}, /* protocol assignments (RFC 2928): Teredo, benchmarking, ORCHID ... */
    {{0x20, 0x01, 0x0d, 0xb8},       32}, /* documentation (RFC 3849) */
    {{0x20, 0x02},                   16}, /* 6to4 (RFC 3056): an IPv4 address by way of a tunnel */
    {{0x26, 0x20, 0, 0x4f, 0x80, 0}, 48}, /* AS112 (RFC 7534) */
    {{0x3f, 0xff},                   20}, /* documentation (RFC 9637) */
};

/* Link-local addresses, and hosts of metadata that are not. */
static const struct address_range metadata4[] = {
    {{100, 100, 100, 200}, 32}, /* Alibaba */
    {{168, 63, 129, 16},   32}, /* Azure */
    {{169, 254},           16}, /* link-local */
    {{192, 0, 0, 192},     32}, /* Oracle */
};
static const struct address_range metadata6[] = {
    {{0xfe, 0x80}, 10},                                                        /* link-local */
    {{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128}, /* Amazon */
    {{0xfd, 0x20, 0x00, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128}, /* Google */
};

/* The only block from which addresses are assigned (RFC 4291 2.4). All others are special or may
 * become so: loopback, unique-local, link-local, site-local, discard and multicast are outside. */
static const struct address_range unicast6 = {{0x20}, 3};

/* IPv6 forms of an IPv4 address: the system connects to the last four octets. */
static const struct address_range mapped6 = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}; /* RFC 4291 2.5.5.2 */
static const struct address_range nat64 = {{0x00, 0x64, 0xff, 0x9b}, 96};                     /* RFC 6052 2.1 */
/* clang-format on */

#define ENTRIES(ranges) (sizeof(ranges) / sizeof((ranges)[0]))

static bool
is_in_range(const unsigned char *octets, const struct address_range *range)
{
    size_t whole = range->bits / 8;
    unsigned rest = range->bits % 8;
    if (memcmp(octets, range->octets, whole) != 0)
        return false;
    return rest == 0 || (octets[whole] ^ range->octets[whole]) >> (8 - rest) == 0;
}

static bool
is_in_one(const unsigned char *octets, const struct address_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_in_range(octets, &ranges[i]))
            return true;
    return false;
}

static bool
is_public4(const unsigned char octets[4])
{
    return !is_in_one(octets, special4, ENTRIES(special4));
}

static bool
is_public6(const unsigned char octets[16])
{
    if (is_in_range(octets, &mapped6) || is_in_range(octets, &nat64))
        return is_public4(octets + 12);
    return is_in_range(octets, &unicast6) && !is_in_one(octets, special6, ENTRIES(special6));
}

static bool
is_forbidden4(const unsigned char octets[4])
{
    return is_in_one(octets, metadata4, ENTRIES(metadata4));
}

static bool
is_forbidden6(const unsigned char octets[16])
{
    if (is_in_range(octets, &mapped6) || is_in_range(octets, &nat64))
        return is_forbidden4(octets + 12);
    return is_in_one(octets, metadata6, ENTRIES(metadata6));
}

/* Apply the rule of the family; an address of another one is `other`. */
static bool
judge_address(const struct sockaddr *address, size_t length, bool (*rule4)(const unsigned char *),
              bool (*rule6)(const unsigned char *), bool other)
{
    struct sockaddr_in in4;
    struct sockaddr_in6 in6;
    if (length < sizeof(address->sa_family))
        return other;
    if (address->sa_family == AF_INET && length >= sizeof(in4)) {
        unsigned char octets[4];
        memcpy(&in4, address, sizeof(in4));
        memcpy(octets, &in4.sin_addr, sizeof(octets));
        return rule4(octets);
    }
    if (address->sa_family == AF_INET6 && length >= sizeof(in6)) {
        memcpy(&in6, address, sizeof(in6));
        return rule6(in6.sin6_addr.s6_addr);
    }
    return other;
}

bool
fetch_address_is_public(const struct sockaddr *address, size_t length)
{
    return judge_address(address, length, is_public4, is_public6, false);
}

bool
fetch_address_is_forbidden(const struct sockaddr *address, size_t length)
{
    return judge_address(address, length, is_forbidden4, is_forbidden6, true);
}
