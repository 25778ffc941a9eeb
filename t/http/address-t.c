#include "config.h"

#include "http/address.h"

#include <string.h>

#include "tap.h"

/* clang-format off */
static const struct {
    const char *remote, *forwarded;
    long trusted;
    const char *wanted, *name;
} cases[] = {
    {"192.0.2.1", NULL, 0, "192.0.2.1", "the connection's address"},
    {"192.0.2.1", "198.51.100.9", 0, "192.0.2.1", "no trusted proxy: X-Forwarded-For is not read (specification 8)"},
    {"192.0.2.1", "198.51.100.9", 1, "198.51.100.9", "one trusted proxy: the last entry (specification 8)"},
    {"192.0.2.1", "203.0.113.5, 198.51.100.9", 1, "198.51.100.9", "what stands further left is the caller's own word"},
    {"192.0.2.1", "203.0.113.5, 198.51.100.9", 2, "203.0.113.5", "two trusted proxies: the last but one"},
    {"192.0.2.1", "evil, 203.0.113.5, 198.51.100.9", 2, "203.0.113.5", "garbage further left does not matter"},
    {"192.0.2.1", "198.51.100.9", 2, NULL, "fewer entries than proxies: no address (the connection is a proxy's, which rules may trust)"},
    {"192.0.2.1", NULL, 1, "192.0.2.1", "no header: the connection"},
    {"192.0.2.1", "", 1, NULL, "an empty header: no address"},
    {"192.0.2.1", ",", 1, NULL, "a comma alone: no address"},
    {"192.0.2.1", "198.51.100.9,", 1, NULL, "an empty last entry is not skipped to one the caller wrote"},
    {"192.0.2.1", "198.51.100.9, evil", 1, NULL, "a last entry that is no address is not skipped either"},
    {"192.0.2.1", "198.51.100.9, 203.0.113.5 203.0.113.6", 1, NULL, "two addresses in one entry are none"},
    {"192.0.2.1", "unknown", 1, NULL, "RFC 7239's `unknown` is no address"},
    {"192.0.2.1", "198.51.100.9:4711", 1, "198.51.100.9", "a port is cut off"},
    {"192.0.2.1", "\t 198.51.100.9 \t", 1, "198.51.100.9", "blanks around an entry"},
    {"192.0.2.1", "2001:db8::7", 1, "2001:db8::7", "IPv6"},
    {"192.0.2.1", "2001:0DB8:0:0:0:0:0:7", 1, "2001:db8::7", "IPv6 in another spelling counts as the same"},
    {"192.0.2.1", "[2001:db8::7]", 1, "2001:db8::7", "IPv6 in brackets"},
    {"192.0.2.1", "[2001:db8::7]:443", 1, "2001:db8::7", "IPv6 with a port"},
    {"192.0.2.1", "[2001:db8::7", 1, NULL, "an open bracket"},
    {"192.0.2.1", "[2001:db8::7]x", 1, NULL, "text after the bracket"},
    {"192.0.2.1", "2001:db8::7%eth0", 1, NULL, "a zone is no client's"},
    {"192.0.2.1", "198.51.100.256", 1, NULL, "a number past 255"},
    {"192.0.2.1", "198.51.100", 1, NULL, "three numbers"},
    {"192.0.2.1", "0xc6336409", 1, NULL, "a hexadecimal number"},
    {"192.0.2.1", "198.51.100.9\n", 1, NULL, "a line end"},
    {"::ffff:198.51.100.9", NULL, 0, "198.51.100.9", "an IPv4 client of a dual-stack listener is an IPv4 client"},
    {"192.0.2.1", "::ffff:198.51.100.9", 1, "198.51.100.9", "... in the header too"},
    {"::ffff:0:198.51.100.9", NULL, 0, "::ffff:0:c633:6409", "... another prefix is not"},
    {"2001:db8::1", NULL, 0, "2001:db8::1", "an IPv6 connection"},
    {NULL, "198.51.100.9", 1, "198.51.100.9", "a socket without address, behind a proxy"},
    {NULL, NULL, 0, NULL, "no address at all"},
    {"", NULL, 0, NULL, "an empty address"},
    {"unix:", NULL, 0, NULL, "a connection that has no IP address"},
    {"192.0.2.1", "[2001:db8::7]:0000000000000000000000000000000000000000000000443", 1, "2001:db8::7", "an entry of 63 octets"},
    {"192.0.2.1", "[2001:db8::7]:00000000000000000000000000000000000000000000000443", 1, NULL, "one of 64 is longer than any address"},
    {"192.0.2.1", "                                                                     198.51.100.9", 1, "198.51.100.9", "blanks do not count"},
    {"192.0.2.1", "[]", 1, NULL, "empty brackets"},
    {"192.0.2.1", "[198.51.100.9]", 1, "198.51.100.9", "IPv4 in brackets"},
    {"192.0.2.1", "::ffff:198.51.100.256", 1, NULL, "a mapped address that is none"},
    {"192.0.2.1", "::ffff:c633:6409", 1, "198.51.100.9", "a mapped address in hexadecimal"},
    {"192.0.2.1", "for=198.51.100.9", 1, NULL, "an entry in the words of RFC 7239"},
    {"192.0.2.1", "198.51.100.9;", 1, NULL, "another separator"},
    {"192.0.2.1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1, NULL, "an entry longer than any address"},
};
/* clang-format on */

static void
test_listed(void)
{
    static const struct {
        const char *address, *list;
        bool in;
    } lists[] = {
        {"127.0.0.1",   "127.0.0.1,::1",            true },
        {"::1",         "127.0.0.1,::1",            true },
        {"::1",         " 127.0.0.1 , 0:0::1 ",     true },
        {"127.0.0.1",   "127.0.0.10",               false},
        {"127.0.0.10",  "127.0.0.1",                false},
        {"127.0.0.1",   "",                         false},
        {"127.0.0.1",   ",,",                       false},
        {"127.0.0.1",   "x,127.0.0.1",              true },
        {"2001:db8::1", "2001:db8::/32,2001:db8::", false},
        {"",            "",                         false},
        {NULL,          "127.0.0.1",                false},
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        ok(address_is_listed(lists[i].address, lists[i].list) == lists[i].in,
           "%s is%s in the list '%s'", lists[i].address != NULL ? lists[i].address : "none",
           lists[i].in ? "" : " not", lists[i].list);
}

int
main(void)
{
    test_listed();
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        is_str(address_of_client(mem, cases[i].remote, cases[i].forwarded, cases[i].trusted),
               cases[i].wanted, "%s", cases[i].name);
    char *many = talloc_strdup(mem, "203.0.113.16");
    for (int i = 15; i > 0; i--)
        many = talloc_asprintf_append(many, ", 203.0.113.%d", i);
    for (long trusted = 1; trusted <= 16; trusted++)
        is_str(address_of_client(mem, "192.0.2.1", many, trusted),
               talloc_asprintf(mem, "203.0.113.%ld", trusted), "%ld trusted proxies", trusted);
    is_str(address_of_client(mem, "192.0.2.1", many, 17), NULL, "one more than entries");
    talloc_free(mem);
    return done();
}
