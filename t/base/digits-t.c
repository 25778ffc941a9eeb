#include "config.h"

#include "base/digits.h"

#include <string.h>

#include "tap.h"

static const struct {
    const char *text;
    int64_t max, number; /* number -1: refused */
} texts[] = {
    {"0",                       9,         0         },
    {"9",                       9,         9         },
    {"10",                      9,         -1        },
    {"007",                     9,         7         },
    {"0",                       0,         0         },
    {"1",                       0,         -1        },
    {"9223372036854775807",     INT64_MAX, INT64_MAX },
    {"9223372036854775808",     INT64_MAX, -1        },
    {"99999999999999999999",    INT64_MAX, -1        },
    {"18446744073709551617",    INT64_MAX, -1        },
    {"18446744073709551816",    200,       -1        },
    {"00000000000000000000001", INT64_MAX, 1         },
    {"2147483647",              INT32_MAX, 2147483647},
    {"2147483648",              INT32_MAX, -1        },
    {"",                        9,         -1        },
    {"+1",                      9,         -1        },
    {"-1",                      9,         -1        },
    {" 1",                      9,         -1        },
    {"1 ",                      9,         -1        },
    {"1.0",                     9,         -1        },
    {"0x1",                     9,         -1        },
    {"1e1",                     99,        -1        },
    {"\xd9\xa1",                9,         -1        },
};

static void
test_take(const char *text, size_t length, size_t taken, int64_t number)
{
    int64_t got = -1;
    is_int((int64_t) digits_take(text, length, 59, &got), (int64_t) taken, "take: digits of '%s'",
           text);
    is_int(got, number, "... and their number");
}

int
main(void)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int64_t got = -2;
        bool good = digits_read(texts[i].text, texts[i].max, &got);
        ok(good == (texts[i].number >= 0) && got == (good ? texts[i].number : -2),
           "read: '%s' up to %lld", texts[i].text, (long long) texts[i].max);
    }
    test_take("12, x", 5, 2, 12);
    test_take("12, x", 1, 1, 1);
    test_take("60", 2, 2, 59);
    test_take("99999999999999999999;", 21, 20, 59);
    test_take("x1", 2, 0, 0);
    test_take("", 0, 0, 0);
    for (int c = -128; c < 128; c++) {
        static const char digits[] = "0123456789abcdef", capitals[] = "0123456789ABCDEF";
        const char *low = c > 0 ? strchr(digits, c) : NULL,
                   *high = c > 0 ? strchr(capitals, c) : NULL;
        int wanted = low != NULL    ? (int) (low - digits)
                     : high != NULL ? (int) (high - capitals)
                                    : -1;
        if (digits_hex((char) c) != wanted)
            ok(false, "hex: octet %d", c);
    }
    ok(true, "hex: each octet was looked at");
    return done();
}
