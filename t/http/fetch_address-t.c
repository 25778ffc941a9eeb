/* Public and special addresses: each range of the registries is tried at its first and last
 * address, and at the address before and after. */
#include "config.h"

#include "http/fetch/fetch_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "tap.h"

static bool
is_public(const char *text)
{
    struct sockaddr_in in4 = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    struct sockaddr_storage address = {0};
    if (inet_pton(AF_INET, text, &in4.sin_addr) == 1) {
        memcpy(&address, &in4, sizeof(in4));
        return fetch_address_is_public((const struct sockaddr *) &address, sizeof(in4));
    }
    if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1) {
        memcpy(&address, &in6, sizeof(in6));
        return fetch_address_is_public((const struct sockaddr *) &address, sizeof(in6));
    }
    ok(false, "%s is an address", text);
    return false;
}

/* clang-format off */
/* One address before, the first, the last, one after. NULL: it lies in another special range or
 * does not exist. */
static const struct {
    const char *name, *before, *first, *last, *after;
} ranges[] = {
    {"this network (RFC 791)",             NULL,              "0.0.0.0",       "0.255.255.255",   "1.0.0.0"},
    {"private 10/8 (RFC 1918)",            "9.255.255.255",   "10.0.0.0",      "10.255.255.255",  "11.0.0.0"},
    {"shared 100.64/10 (RFC 6598)",        "100.63.255.255",  "100.64.0.0",    "100.127.255.255", "100.128.0.0"},
    {"loopback 127/8 (RFC 1122)",          "126.255.255.255", "127.0.0.0",     "127.255.255.255", "128.0.0.0"},
    {"the host at Azure",                  "168.63.129.15",   "168.63.129.16", "168.63.129.16",   "168.63.129.17"},
    {"link-local 169.254/16 (RFC 3927)",   "169.253.255.255", "169.254.0.0",   "169.254.255.255", "169.255.0.0"},
    {"private 172.16/12 (RFC 1918)",       "172.15.255.255",  "172.16.0.0",    "172.31.255.255",  "172.32.0.0"},
    {"protocols 192.0.0/24 (RFC 6890)",    "191.255.255.255", "192.0.0.0",     "192.0.0.255",     "192.0.1.0"},
    {"documentation 192.0.2/24 (RFC 5737)", "192.0.1.255",    "192.0.2.0",     "192.0.2.255",     "192.0.3.0"},
    {"AS112 192.31.196/24 (RFC 7535)",     "192.31.195.255",  "192.31.196.0",  "192.31.196.255",  "192.31.197.0"},
    {"AMT 192.52.193/24 (RFC 7450)",       "192.52.192.255",  "192.52.193.0",  "192.52.193.255",  "192.52.194.0"},
    {"6to4 relays 192.88.99/24 (RFC 7526)", "192.88.98.255",  "192.88.99.0",   "192.88.99.255",   "192.88.100.0"},
    {"private 192.168/16 (RFC 1918)",      "192.167.255.255", "192.168.0.0",   "192.168.255.255", "192.169.0.0"},
    {"AS112 192.175.48/24 (RFC 7534)",     "192.175.47.255",  "192.175.48.0",  "192.175.48.255",  "192.175.49.0"},
    {"benchmarking 198.18/15 (RFC 2544)",  "198.17.255.255",  "198.18.0.0",    "198.19.255.255",  "198.20.0.0"},
    {"documentation 198.51.100/24 (RFC 5737)", "198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
    {"documentation 203.0.113/24 (RFC 5737)", "203.0.112.255", "203.0.113.0",  "203.0.113.255",   "203.0.114.0"},
    {"multicast 224/4 (RFC 5771)",         "223.255.255.255", "224.0.0.0",     "239.255.255.255", NULL},
    {"reserved 240/4 and broadcast (RFC 1112)", NULL,         "240.0.0.0",     "255.255.255.255", NULL},

    {"all below 2000::/3: unspecified, loopback, IPv4-compatible, discard (RFC 4291, RFC 6666)", NULL, "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"},
    {"loopback and unspecified",           NULL,              "::",            "::1",             NULL},
    {"IPv4-compatible (RFC 4291 2.5.5.1)", NULL,              "::8.8.8.8",     "::255.255.255.255", NULL},
    {"local NAT64 64:ff9b:1::/48 (RFC 8215)", NULL,           "64:ff9b:1::",   "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", NULL},
    {"discard 100::/64 (RFC 6666)",        NULL,              "100::",         "100::ffff:ffff:ffff:ffff", NULL},
    {"protocols 2001::/23: Teredo, benchmarking, ORCHID (RFC 2928)", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"},
    {"documentation 2001:db8::/32 (RFC 3849)", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
    {"6to4 2002::/16 (RFC 3056)",          "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"},
    {"AS112 2620:4f:8000::/48 (RFC 7534)", "2620:4f:7fff:ffff:ffff:ffff:ffff:ffff", "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "2620:4f:8001::"},
    {"documentation 3fff::/20 (RFC 9637)", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"},
    {"all above 2000::/3", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {"segment routing 5f00::/16 (RFC 9602)", NULL,            "5f00::",        "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {"unique-local fc00::/7 (RFC 4193)",   NULL,              "fc00::",        "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {"link-local fe80::/10 (RFC 4291)",    NULL,              "fe80::",        "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {"site-local fec0::/10 (RFC 3879)",    NULL,              "fec0::",        "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {"multicast ff00::/8 (RFC 4291)",      NULL,              "ff00::",        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
};

static const struct {
    const char *address;
    bool is_public;
    const char *name;
} singles[] = {
    {"8.8.8.8",                  true,  "an address of the Internet"},
    {"2606:4700:4700::1111",     true,  "one of IPv6"},
    {"2a00:1450:4001:800::200e", true,  "another"},
    {"169.254.169.254",          false, "metadata of clouds"},
    {"100.100.100.200",          false, "metadata at Alibaba"},
    {"192.0.0.192",              false, "metadata at Oracle"},
    {"fd00:ec2::254",            false, "metadata at Amazon, IPv6"},
    {"::ffff:8.8.8.8",           true,  "IPv4-mapped: a public one"},
    {"::ffff:127.0.0.1",         false, "IPv4-mapped loopback (RFC 4291 2.5.5.2)"},
    {"::ffff:10.0.0.1",          false, "IPv4-mapped private"},
    {"::ffff:169.254.169.254",   false, "IPv4-mapped metadata"},
    {"::fffe:8.8.8.8",           false, "one prefix before IPv4-mapped"},
    {"::ffff:0:8.8.8.8",         false, "IPv4-translated (RFC 2765)"},
    {"64:ff9b::8.8.8.8",         true,  "NAT64: a public one (RFC 6052)"},
    {"64:ff9b::127.0.0.1",       false, "NAT64 of loopback"},
    {"64:ff9b::192.168.1.1",     false, "NAT64 of a private one"},
    {"64:ff9b::1:8.8.8.8",       false, "past the prefix of NAT64"},
    {"2002:7f00:1::1",           false, "6to4 of loopback"},
    {"2002:808:808::1",          false, "6to4 of a public one: a tunnel all the same"},
    {"2001:0:4136:e378:8000:63bf:3fff:fdd2", false, "Teredo (RFC 4380)"},
    {"2001:2::1",                false, "benchmarking 2001:2::/48 (RFC 5180)"},
    {"2001:20::1",               false, "ORCHIDv2 (RFC 7343)"},
};
/* clang-format on */

static void
test_ranges(void)
{
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        ok(!is_public(ranges[i].first), "%s: the first, %s", ranges[i].name, ranges[i].first);
        ok(!is_public(ranges[i].last), "%s: the last, %s", ranges[i].name, ranges[i].last);
        if (ranges[i].before != NULL)
            ok(is_public(ranges[i].before), "%s: not one before, %s", ranges[i].name,
               ranges[i].before);
        if (ranges[i].after != NULL)
            ok(is_public(ranges[i].after), "%s: not one after, %s", ranges[i].name,
               ranges[i].after);
    }
}

static void
test_others(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
    struct sockaddr_in in4 = {.sin_family = AF_INET};
    struct sockaddr_storage any = {.ss_family = AF_UNSPEC};
    in4.sin_addr.s_addr = htonl(0x08080808);
    memcpy(&any, &un, sizeof(un));
    ok(!fetch_address_is_public((const struct sockaddr *) &any, sizeof(un)),
       "a UNIX socket is not public");
    memset(&any, 0, sizeof(any));
    ok(!fetch_address_is_public((const struct sockaddr *) &any, sizeof(any)),
       "no family is not public");
    memcpy(&any, &in4, sizeof(in4));
    ok(fetch_address_is_public((const struct sockaddr *) &any, sizeof(in4)), "a whole address is");
    ok(!fetch_address_is_public((const struct sockaddr *) &any, sizeof(in4) - 1),
       "one that is cut off is not");
    any.ss_family = AF_INET6;
    ok(!fetch_address_is_public((const struct sockaddr *) &any, sizeof(in4)),
       "nor one of IPv6 with the octets of IPv4");
    ok(!fetch_address_is_public((const struct sockaddr *) &any, 0), "nor nothing");
}

int
main(void)
{
    plan(0);
    test_ranges();
    for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++)
        ok(is_public(singles[i].address) == singles[i].is_public, "%s %s: %s", singles[i].address,
           singles[i].is_public ? "is public" : "is not public", singles[i].name);
    test_others();
    return done();
}
