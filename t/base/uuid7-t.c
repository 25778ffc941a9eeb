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

static void
test_check(void)
{
    unsigned char id[UUID7_OCTETS];
    for (unsigned version = 0; version < 16; version++)
        for (unsigned variant = 0; variant < 16; variant++) {
            memcpy(id, example_octets, sizeof(id));
            id[6] = (unsigned char) (version << 4 | (id[6] & 0x0f));
            id[8] = (unsigned char) (variant << 4 | (id[8] & 0x0f));
            enum az_status wanted = version == 7 && variant >> 2 == 2 ? AZ_OK : AZ_INVALID;
            if (uuid7_check(id) != wanted)
                ok(false, "check: version %u, variant bits %x", version, variant);
        }
    memset(id, 0, sizeof(id));
    is_int(uuid7_check(id), AZ_INVALID, "check refuses the nil UUID");
    memset(id, 0xff, sizeof(id));
    is_int(uuid7_check(id), AZ_INVALID, "check refuses the max UUID");
}

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

/* Each text differs from the example in one place. */
static void
test_parse(void)
{
    static const struct {
        const char *text, *name;
    } bad[] = {
        {"",                                           "an empty text"            },
        {"017F22E2-79B0-7CC3-98C4-DC0C0C07398F",       "capital letters"          },
        {"017f22e279b07cc398c4dc0c0c07398f",           "a text without hyphens"   },
        {"{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}",     "braces"                   },
        {"017f22e2-79b0-7cc3-98c4-dc0c0c07398",        "a character less"         },
        {"017f22e2-79b0-7cc3-98c4-dc0c0c07398f0",      "a character more"         },
        {"017f22e2-79b0-7cc3-98c4-dc0c0c07398g",       "a letter that is no digit"},
        {"017f22e2-79b0-7cc3-98c4-dc0c0c07398 ",       "a blank"                  },
        {"017f22e2079b0-7cc3-98c4-dc0c0c07398f",       "a digit for a hyphen"     },
        {"017f22e27-9b0-7cc3-98c4-dc0c0c07398f",       "a hyphen in another place"},
        {"017f22e2-79b0-4cc3-98c4-dc0c0c07398f",       "version 4"                },
        {"017f22e2-79b0-7cc3-18c4-dc0c0c07398f",       "another variant"          },
        {"017f22e2-79b0-7cc3-98c4-dc0c0c0739\xc3\xa9", "a letter outside ASCII"   },
    };
    unsigned char id[UUID7_OCTETS] = {1}, untouched[UUID7_OCTETS] = {1};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        is_int(uuid7_parse(bad[i].text, id), AZ_INVALID, "parse refuses %s", bad[i].name);
    is_bin(id, sizeof(id), untouched, sizeof(untouched), "... and leaves the id alone");
    is_int(uuid7_parse(example, id), AZ_OK, "parse accepts the text of format");
    is_bin(id, sizeof(id), example_octets, sizeof(example_octets), "... and gives its octets");
}

int
main(void)
{
    char text[UUID7_TEXT_LENGTH + 1];

    plan(0);
    test_make();
    test_order();
    uuid7_format(example_octets, text);
    is_str(text, example, "format (RFC 9562 A.6)");
    is_int((int64_t) uuid7_ms(example_octets), EXAMPLE_MS, "... whose time is read");
    test_check();
    test_parse();
    return done();
}
