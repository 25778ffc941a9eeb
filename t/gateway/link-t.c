/* The rules of links without HTTP and SQL (gateway-admin.md 3.5): state,
 * places of metadata, return_to. */
#include "config.h"

#include <string.h>

#include "gateway/link/metadata.h"
#include "gateway/link/need.h"
#include "gateway/link/state.h"
#include "tap.h"

static void
check_state(void)
{
    struct link_keys keys = {.count = 1}, other = {.count = 1}, both = {.count = 2};
    const struct link_state state = {.jti = "0123456789abcde", .expires_at = 1795172300};
    struct link_state seen;
    char text[LINK_STATE_SIZE], changed[LINK_STATE_SIZE];
    link_key_derive("the secret of the tests", keys.key[0]);
    link_key_derive("another secret", other.key[0]);
    memcpy(both.key[0], other.key[0], SHA256_OCTETS);
    memcpy(both.key[1], keys.key[0], SHA256_OCTETS);
    is_int(link_state_make(&keys, &state, text), AZ_OK, "a state is made");
    is_int((int64_t) strlen(text), LINK_STATE_LENGTH, "... of one length");
    ok(strncmp(text, "v1.", 3) == 0, "... with its version");
    is_int(link_state_read(&keys, text, &seen), AZ_OK, "it is read again");
    is_int(seen.expires_at, state.expires_at, "... with its expiry");
    is_bin(seen.jti, LINK_JTI_OCTETS, state.jti, LINK_JTI_OCTETS, "... and its id");
    is_int(link_state_read(&other, text, &seen), AZ_INVALID, "another key does not read it");
    is_int(link_state_read(&both, text, &seen), AZ_OK, "the previous key does during a rotation");
    size_t read = 0;
    for (size_t i = 0; i < LINK_STATE_LENGTH; i++) {
        memcpy(changed, text, sizeof(changed));
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        read += link_state_read(&keys, changed, &seen) == AZ_OK;
    }
    is_int((int64_t) read, 0, "no state with one changed character is read");
    text[LINK_STATE_LENGTH - 1] = '\0';
    is_int(link_state_read(&keys, text, &seen), AZ_INVALID, "a state that is cut is not read");
    is_int(link_state_read(&keys, "", &seen), AZ_INVALID, "nor an empty one");
    const struct link_state ancient = {.expires_at = INT64_MIN};
    link_state_make(&keys, &ancient, text);
    is_int(link_state_read(&keys, text, &seen), AZ_INVALID, "nor one whose expiry is no time");
}

/* clang-format off */
static const struct { const char *one, *other; bool same; const char *name; } issuers[] = {
    {"https://as", "https://as", true, "equal"},
    {"https://as/", "https://as", true, "google_slash: the lone slash of an empty path (RFC 3986 6.2.3)"},
    {"https://as:8443", "https://as:8443/", true, "... with a port"},
    {"https://as/a/", "https://as/a", false, "a slash behind a path"},
    {"https://as//", "https://as", false, "two slashes"},
    {"https://as", "http://as/", false, "another scheme"},
    {"https://as/", "https://as.evil/", false, "another host"},
    {"https://as", "https://as?/", false, "a query"},
    {"https://As/", "https://as/", false, "other letters"},
    {"as/", "as", false, "no address"},
    {"", "https://as/", false, "nothing"},
};
static const struct { const char *address, *name; enum link_well_known where; const char *wanted; } places[] = {
    {"https://h", "n", LINK_INSERTED, "https://h/.well-known/n"},
    {"https://h/", "n", LINK_INSERTED, "https://h/.well-known/n"},
    {"https://h/a/b", "n", LINK_INSERTED, "https://h/.well-known/n/a/b"},
    {"https://h/a/", "n", LINK_INSERTED, "https://h/.well-known/n/a"},
    {"https://h:8443/a", "n", LINK_APPENDED, "https://h:8443/a/.well-known/n"},
    {"ftp://h/a", "n", LINK_INSERTED, NULL},
    {"https://h/a?b", "n", LINK_INSERTED, NULL},
    {"https://u@h/", "n", LINK_INSERTED, NULL},
    {"h", "n", LINK_INSERTED, NULL},
};
static const struct { const char *identifier, *address; bool wanted; } covers[] = {
    {"https://h/a", "https://h/a", true},
    {"https://h", "https://h/a", true},
    {"https://h/", "https://h/a", true},
    {"https://h/a", "https://h/a/b", true},
    {"https://h/a", "https://h/ab", false},
    {"https://h/a/b", "https://h/a", false},
    {"https://other/a", "https://h/a", false},
    {"http://h/a", "https://h/a", false},
};
static const struct { const char *text; bool wanted; } returns[] = {
    {"/", true}, {"/portal?a=1", true}, {"/a//b", true},
    {"//evil.example", false}, {"/\\evil.example", false}, {"\\\\evil.example", false}, {"https://evil.example/", false},
    {"", false}, {"evil", false}, {"/a b", false}, {"/a\tb", false}, {"/a#b", false}, {"/%zz", false}, {"/\xc3\xa9", false},
};
/* clang-format on */
#define EACH(i, table) for (size_t i = 0; i < sizeof(table) / sizeof((table)[0]); i++)

static void
check_issuers(void)
{
    for (size_t i = 0; i < sizeof(issuers) / sizeof(issuers[0]); i++)
        ok(link_issuer_is_same(issuers[i].one, issuers[i].other) == issuers[i].same
               && link_issuer_is_same(issuers[i].other, issuers[i].one) == issuers[i].same,
           "M3: %s: %s", issuers[i].name, issuers[i].same ? "one issuer" : "two issuers");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    check_state();
    check_issuers();
    EACH(i, places)
    is_str(link_well_known_url(mem, places[i].address, places[i].name, places[i].where),
           places[i].wanted, "the place of metadata of %s", places[i].address);
    EACH(i, covers)
    ok(link_resource_covers(mem, covers[i].identifier, covers[i].address) == covers[i].wanted,
       "%s %s %s", covers[i].identifier, covers[i].wanted ? "covers" : "does not cover",
       covers[i].address);
    EACH(i, returns)
    ok(link_return_is_ours(mem, returns[i].text) == returns[i].wanted, "return_to \"%s\" %s",
       returns[i].text, returns[i].wanted ? "stays here" : "is refused");
    char longest[LINK_RETURN_MAX + 2] = "/";
    memset(longest + 1, 'x', LINK_RETURN_MAX - 1);
    ok(link_return_is_ours(mem, longest), "the longest return_to");
    longest[LINK_RETURN_MAX] = 'x';
    ok(!link_return_is_ours(mem, longest), "one octet more is refused");
    talloc_free(mem);
    return done();
}
