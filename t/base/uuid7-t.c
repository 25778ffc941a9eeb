#include "config.h"

#include "base/uuid7.h"

#include <string.h>

#include "tap.h"

/* RFC 9562 appendix A.6. */
static const char example[] = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
static const unsigned char example_octets[UUID7_OCTETS] = {
    0x01, 0x7f, 0x22, 0xe2, 0x79, 0xb0, 0x7c, 0xc3, 0x98, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f,
};
#define EXAMPLE_MS 0x017f22e279b0ULL

/* clang-format off */
static const struct {
    const char *text;
    const char *why;
} refused[] = {
    {"", "nothing"},
    {"017f22e2-79b0-7cc3-98c4-dc0c0c07398", "one digit too few"},
    {"017f22e2-79b0-7cc3-98c4-dc0c0c07398f0", "one digit too many"},
    {"017f22e279b07cc398c4dc0c0c07398f", "no hyphens"},
    {"017f22e2-79b0-7cc3-98c4-dc0c0c07398g", "a character that is no hex digit"},
    {"017f22e27-9b0-7cc3-98c4-dc0c0c07398f", "a hyphen in the wrong place"},
    {"017f22e2+79b0-7cc3-98c4-dc0c0c07398f", "another separator"},
    {"{17f22e2-79b0-7cc3-98c4-dc0c0c07398}", "braces"},
    {"017f22e2-79b0-4cc3-98c4-dc0c0c07398f", "version 4"},
    {"017f22e2-79b0-1cc3-98c4-dc0c0c07398f", "version 1"},
    {"017f22e2-79b0-7cc3-08c4-dc0c0c07398f", "the variant of NCS"},
    {"017f22e2-79b0-7cc3-d8c4-dc0c0c07398f", "the variant of Microsoft"},
    {"00000000-0000-0000-0000-000000000000", "the nil UUID"},
    {"ffffffff-ffff-ffff-ffff-ffffffffffff", "the max UUID"},
};
/* clang-format on */

static void
test_make(void)
{
    unsigned char random[UUID7_RANDOM_OCTETS] = {0x0c, 0xc3, 0x18, 0xc4, 0xdc,
                                                 0x0c, 0x0c, 0x07, 0x39, 0x8f};
    unsigned char id[UUID7_OCTETS];

    uuid7_make(EXAMPLE_MS, random, id);
    is_bin(id, sizeof(id), example_octets, sizeof(example_octets), "make (RFC 9562 A.6)");
    memset(random, 0xff, sizeof(random));
    uuid7_make(EXAMPLE_MS, random, id);
    is_int(id[6], 0x7f, "random bits do not touch the version");
    is_int(id[8], 0xbf, "random bits do not touch the variant");
    is_int(uuid7_check(id), AZ_OK, "what is made passes the check");
    uuid7_make(UUID7_MS_MAX, random, id);
    is_int((int64_t) uuid7_ms(id), (int64_t) UUID7_MS_MAX, "the last millisecond comes back");
    uuid7_make(0, random, id);
    is_int((int64_t) uuid7_ms(id), 0, "the first millisecond comes back");
}

static void
test_order(void)
{
    unsigned char high[UUID7_RANDOM_OCTETS];
    unsigned char low[UUID7_RANDOM_OCTETS] = {0};
    unsigned char first[UUID7_OCTETS];
    unsigned char second[UUID7_OCTETS];

    memset(high, 0xff, sizeof(high));
    uuid7_make(EXAMPLE_MS, high, first);
    uuid7_make(EXAMPLE_MS + 1, low, second);
    ok(memcmp(first, second, UUID7_OCTETS) < 0, "octets sort by time (RFC 9562 6.11)");
}

int
main(void)
{
    unsigned char id[UUID7_OCTETS];
    char text[UUID7_TEXT_LENGTH + 1];

    plan(0);
    test_make();
    test_order();
    uuid7_format(example_octets, text);
    is_str(text, example, "format (RFC 9562 A.6)");
    is_int(uuid7_parse(example, strlen(example), id), AZ_OK, "parse (RFC 9562 A.6)");
    is_bin(id, sizeof(id), example_octets, sizeof(example_octets), "... to its octets");
    is_int((int64_t) uuid7_ms(id), EXAMPLE_MS, "... whose time is read");
    is_int(uuid7_parse("017F22E2-79B0-7CC3-98C4-DC0C0C07398F", UUID7_TEXT_LENGTH, id), AZ_OK,
           "parse takes capital letters (RFC 9562 4)");
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        memset(id, 0xaa, sizeof(id));
        enum az_status status = uuid7_parse(refused[i].text, strlen(refused[i].text), id);
        ok(status == AZ_INVALID && id[0] == 0xaa && id[15] == 0xaa, "parse refuses %s",
           refused[i].why);
    }
    return done();
}
