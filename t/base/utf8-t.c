#include "config.h"

#include "base/utf8.h"

#include <string.h>

#include "tap.h"

/* clang-format off */
static const struct {
    const char *text;
    size_t length; /* code points */
    const char *name;
} accepted[] = {
    {"", 0, "the empty text"},
    {"plain", 5, "ASCII"},
    {"\x7f", 1, "U+007F, the last of one octet"},
    {"\xc2\x80", 1, "U+0080, the first of two octets"},
    {"\xdf\xbf", 1, "U+07FF, the last of two octets"},
    {"\xe0\xa0\x80", 1, "U+0800, the first of three octets"},
    {"\xed\x9f\xbf", 1, "U+D7FF, the last before the surrogates"},
    {"\xee\x80\x80", 1, "U+E000, the first after the surrogates"},
    {"\xef\xbf\xbf", 1, "U+FFFF, the last of three octets"},
    {"\xf0\x90\x80\x80", 1, "U+10000, the first of four octets"},
    {"\xf4\x8f\xbf\xbf", 1, "U+10FFFF, the last of all"},
    {"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", 5, "a mixture"},
};
/* clang-format on */

/* clang-format off */
static const struct {
    const char *text;
    const char *why;
} refused[] = {
    {"\x80", "a tail octet alone"},
    {"\xbf", "the last tail octet alone"},
    {"\xc0\xaf", "overlong '/' of two octets"},
    {"\xc1\xbf", "overlong U+007F"},
    {"\xc0\x80", "overlong NUL"},
    {"\xe0\x80\xaf", "overlong '/' of three octets"},
    {"\xe0\x9f\xbf", "overlong U+07FF"},
    {"\xf0\x80\x80\xaf", "overlong '/' of four octets"},
    {"\xf0\x8f\xbf\xbf", "overlong U+FFFF"},
    {"\xed\xa0\x80", "the first surrogate U+D800"},
    {"\xed\xbf\xbf", "the last surrogate U+DFFF"},
    {"\xed\xa0\xbd\xed\xb8\x80", "a pair of surrogates (CESU-8)"},
    {"\xf4\x90\x80\x80", "U+110000"},
    {"\xf5\x80\x80\x80", "lead octet F5"},
    {"\xf8\x88\x80\x80\x80", "five octets"},
    {"\xfc\x84\x80\x80\x80\x80", "six octets"},
    {"\xfe", "octet FE"},
    {"\xff", "octet FF"},
    {"\xc3", "two octets cut to one"},
    {"\xe2\x82", "three octets cut to two"},
    {"\xf0\x9f\x98", "four octets cut to three"},
    {"\xc3(", "no tail in second place"},
    {"\xe2\x82(", "no tail in third place"},
    {"\xf0\x9f\x98(", "no tail in fourth place"},
    {"good then bad \xc3\xa4\xa4", "one tail too many"},
};
/* clang-format on */

/* Counts which of all code points, encoded by hand, are accepted. */
static void
test_every_code_point(void)
{
    unsigned wrong = 0;

    for (unsigned c = 0; c <= 0x1fffff; c++) {
        char text[4];
        size_t len;
        if (c < 0x80) {
            text[0] = (char) c;
            len = 1;
        } else if (c < 0x800) {
            text[0] = (char) (0xc0 | c >> 6);
            len = 2;
        } else if (c < 0x10000) {
            text[0] = (char) (0xe0 | c >> 12);
            len = 3;
        } else {
            text[0] = (char) (0xf0 | c >> 18);
            len = 4;
        }
        for (size_t i = 1; i < len; i++)
            text[i] = (char) (0x80 | (c >> 6 * (len - 1 - i) & 0x3f));
        bool wanted = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
        wrong += utf8_valid(text, len) != wanted;
        wrong += wanted && utf8_length(text, len) != 1;
    }
    is_int(wrong, 0, "of all code points to U+1FFFFF exactly the Unicode scalars (RFC 3629 3)");
}

/* Count the places in ASCII text, which is read word by word, where a text is judged otherwise than
 * alone. */
static unsigned
wrong_places(const char *text, bool wanted)
{
    unsigned wrong = 0;
    char around[64];
    size_t len = strlen(text);

    for (size_t before = 0; before <= 17; before++)
        for (size_t after = 0; after <= 17; after++) {
            memset(around, 'a', sizeof(around));
            memcpy(around + before, text, len);
            wrong += utf8_valid(around, before + len + after) != wanted;
        }
    return wrong;
}

static void
test_every_place(void)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++)
        wrong += wrong_places(accepted[i].text, true);
    is_int(wrong, 0, "accepts each of them at every place of an ASCII text");
    wrong = 0;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        wrong += wrong_places(refused[i].text, false);
    is_int(wrong, 0, "refuses each of them at every place of an ASCII text");
}

int
main(void)
{
    plan(0);
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        size_t len = strlen(accepted[i].text);
        ok(utf8_valid(accepted[i].text, len), "accepts %s (RFC 3629 4)", accepted[i].name);
        is_int((int64_t) utf8_length(accepted[i].text, len), (int64_t) accepted[i].length,
               "... and counts its code points");
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        ok(!utf8_valid(refused[i].text, strlen(refused[i].text)), "refuses %s (RFC 3629 4)",
           refused[i].why);
    ok(!utf8_valid("\xc3\xa4", 1), "does not take a tail from past the length (two octets)");
    ok(!utf8_valid("\xe2\x82\xac", 2), "does not take a tail from past the length (three octets)");
    ok(!utf8_valid("\xf0\x9f\x98\x80", 3),
       "does not take a tail from past the length (four octets)");
    test_every_code_point();
    test_every_place();
    ok(utf8_valid("a\0b", 3), "a NUL is valid UTF-8");
    ok(text_has_nul("a\0b", 3), "text_has_nul sees a NUL inside");
    ok(text_has_nul("ab\0", 3), "text_has_nul sees a NUL at the end");
    ok(!text_has_nul("ab", 2), "text_has_nul does not look past the length");
    ok(!text_has_nul("", 0), "text_has_nul: nothing holds no NUL");
    return done();
}
