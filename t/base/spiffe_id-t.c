#include "config.h"

#include "base/spiffe_id.h"

#include <string.h>
#include <talloc.h>

#include "tap.h"

static const char *const good[] = {
    "spiffe://example.org",
    "spiffe://example.org/billing",
    "spiffe://example.org/ns/prod/sa/Billing_1.2-3",
    "spiffe://a",
    "spiffe://10.0.0.1/a",
    "spiffe://example.org/...",
    "spiffe://example.org/.a/..b",
};
static const char *const bad[] = {
    "",
    "spiffe:",
    "spiffe:/example.org/a",
    "spiffe://",
    "spiffe:///a",
    "SPIFFE://example.org/a",
    "https://example.org/a",
    "spiffe://Example.org/a",
    "spiffe://example.org:443/a",
    "spiffe://user@example.org/a",
    "spiffe://ex ample.org/a",
    "spiffe://ex%61mple.org/a",
    "spiffe://example.org/",
    "spiffe://example.org/a/",
    "spiffe://example.org//a",
    "spiffe://example.org/.",
    "spiffe://example.org/..",
    "spiffe://../a",
    "spiffe://.",
    "spiffe://example.org/a/../b",
    "spiffe://example.org/a/./b",
    "spiffe://example.org/%61",
    "spiffe://example.org/a?b",
    "spiffe://example.org/a#b",
    "spiffe://example.org?a",
    "spiffe://example.org/a b",
    "spiffe://example.org/\xc3\xa9",
    " spiffe://example.org/a",
    "spiffe://example.org/a\n",
};

static const char *
id_of_length(TALLOC_CTX *mem, size_t domain, size_t path)
{
    char *text = talloc_zero_array(mem, char, (unsigned) (domain + path) + 16);
    strcpy(text, "spiffe://");
    memset(text + 9, 'a', domain);
    if (path > 0) {
        text[9 + domain] = '/';
        memset(text + 10 + domain, 'b', path - 1);
    }
    return text;
}

static void
test_forms(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        ok(spiffe_id_fault(good[i]) == NULL, "SPIFFE-ID 2: valid: %s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(spiffe_id_fault(bad[i]) != NULL, "SPIFFE-ID 2: refused: %s", bad[i]);
    ok(spiffe_id_fault(id_of_length(mem, SPIFFE_DOMAIN_MAX, 2)) == NULL,
       "SPIFFE-ID 2.1: a trust domain of 255 octets");
    ok(spiffe_id_fault(id_of_length(mem, SPIFFE_DOMAIN_MAX + 1, 2)) != NULL, "... one more is not");
    ok(spiffe_id_fault(id_of_length(mem, 10, SPIFFE_ID_MAX - 19)) == NULL,
       "SPIFFE-ID 2.3: an ID of 2048 octets");
    ok(spiffe_id_fault(id_of_length(mem, 10, SPIFFE_ID_MAX - 18)) != NULL, "... one more is not");
}

static void
test_domains(void)
{
    ok(spiffe_id_is_in("spiffe://example.org/a", "example.org"), "an ID is in its trust domain");
    ok(spiffe_id_is_in("spiffe://example.org", "example.org"), "... also without a path");
    static const char *const others[] = {"example.or",    "example.org.evil",     "Example.org",
                                         "a.example.org", "example.org/a",        "",
                                         "xample.org",    "spiffe://example.org", "a"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        ok(!spiffe_id_is_in("spiffe://example.org/ab", others[i]), "... and not in \"%s\"",
           others[i]);
    ok(!spiffe_id_is_in("https://example.org/a", "example.org"), "a URL is in no trust domain");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_forms(mem);
    test_domains();
    talloc_free(mem);
    return done();
}
