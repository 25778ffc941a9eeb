/* Networks of settings: what is one, and what is in it. */
#include "config.h"

#include "base/network.h"

#include "tap.h"

/* clang-format off */
static const struct {
    const char *list;
    const char *fault; /* NULL: none */
} lists[] = {
    {"", NULL}, {" , ", NULL}, {"192.0.2.7", NULL}, {"192.0.2.0/24", NULL}, {"0.0.0.0/0", NULL}, {"192.0.2.7/32", NULL},
    {"2001:db8::/32", NULL}, {"::1", NULL}, {"::/0", NULL}, {"192.0.2.0/24, 2001:db8::1/128", NULL},
    {"192.0.2.0/33", "192.0.2.0/33"}, {"2001:db8::/129", "2001:db8::/129"}, {"192.0.2.7/24", "192.0.2.7/24"},
    {"2001:db8::1/32", "2001:db8::1/32"}, {"192.0.2.0/", "192.0.2.0/"}, {"192.0.2.0/-1", "192.0.2.0/-1"},
    {"192.0.2.0/ 24", "192.0.2.0/"}, {"/24", "/24"}, {"192.0.2/24", "192.0.2/24"}, {"host.example", "host.example"},
    {"[2001:db8::]/32", "[2001:db8::]/32"}, {"::1,any", "any"}, {"192.0.2.0/24/24", "192.0.2.0/24/24"},
    {"2001:0db8:0000:0000:0000:0000:0000:0000:0000:0000/32", "2001:0db8:0000:0000:0000:0000:0000:0000:0000:0000/32"},
};

static const struct {
    const char *list, *address;
    bool in;
} cases[] = {
    {"192.0.2.0/24", "192.0.2.0", true}, {"192.0.2.0/24", "192.0.2.255", true}, {"192.0.2.0/24", "192.0.3.0", false},
    {"192.0.2.0/24", "192.0.1.255", false}, {"192.0.2.128/25", "192.0.2.128", true}, {"192.0.2.128/25", "192.0.2.127", false},
    {"192.0.2.7", "192.0.2.7", true}, {"192.0.2.7", "192.0.2.8", false}, {"192.0.2.6/31", "192.0.2.7", true},
    {"0.0.0.0/0", "203.0.113.9", true}, {"0.0.0.0/0", "2001:db8::1", false}, {"::/0", "2001:db8::1", true},
    {"::/0", "203.0.113.9", false}, {"2001:db8::/33", "2001:db8:7fff::1", true}, {"2001:db8::/33", "2001:db8:8000::", false},
    {"10.0.0.0/8 ,\t2001:db8::/32", "2001:db8::9", true}, {"any, 10.0.0.0/8", "10.9.9.9", true},
    {"", "10.0.0.1", false}, {NULL, "10.0.0.1", false}, {"0.0.0.0/0", NULL, false}, {"0.0.0.0/0", "nonsense", false},
    {"192.0.2.7/24", "192.0.2.7", false},
};
/* clang-format on */

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        is_str(network_list_fault(mem, lists[i].list), lists[i].fault, "[%s]: its fault",
               lists[i].list);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ok(network_list_has(cases[i].list, cases[i].address) == cases[i].in, "%s %s [%s]",
           cases[i].address != NULL ? cases[i].address : "no address",
           cases[i].in ? "is in" : "is not in", cases[i].list != NULL ? cases[i].list : "no list");
    ok(network_is_loopback("127.0.0.1") && network_is_loopback("127.9.9.9")
           && network_is_loopback("::1"),
       "loopback");
    ok(!network_is_loopback("128.0.0.1") && !network_is_loopback("::2")
           && !network_is_loopback("localhost") && !network_is_loopback(NULL),
       "... and what is not");
    talloc_free(mem);
    return done();
}
