#include "config.h"

#include "base/utf8.h"

#include <stdlib.h>
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

/* ---- cuts */

/* Characters of 1, 2, 3 and 4 octets. */
static const char *const characters[] = {"", "a", "\u00e9", "\u20ac", "\U0001f600"};

/* The limits of the callers that cut: names in messages, fetch, agent, reasons, plan, upstream's
 * errors, refusals. */
static const size_t limits[] = {0,   1,   2,   3,   4,   5,    60,   64,   100,
                                160, 200, 255, 256, 300, 1000, 1001, 4096, 4100};

#define TEXT_MAX 4100

/* Return a text of a whole number of characters behind some letters, of length octets, on a block
 * of its own size, so that a sanitizer sees a read behind the text. */
static char *
text_of(size_t octets, size_t length)
{
    char *text = malloc(length + 1);
    memset(text, 'x', length % octets);
    for (size_t i = length % octets; i < length; i += octets)
        memcpy(text + i, characters[octets], octets);
    text[length] = '\0';
    return text;
}

/* Count the lengths to TEXT_MAX for which a cut is not the longest start within a limit that is
 * whole. */
static unsigned
wrong_cuts(size_t octets, size_t limit)
{
    unsigned wrong = 0;
    for (size_t length = 0; length <= TEXT_MAX; length++) {
        char *text = text_of(octets, length), *copy = utf8_strndup(NULL, text, limit);
        size_t cut = utf8_start(text, limit), room = limit < length ? limit : length;
        wrong += cut > room || room - cut >= octets || !utf8_valid(text, cut);
        wrong += copy == NULL || strlen(copy) != cut || memcmp(copy, text, cut) != 0;
        talloc_free(copy);
        free(text);
    }
    return wrong;
}

static void
test_cuts(void)
{
    for (size_t octets = 1; octets <= 4; octets++)
        for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
            is_int(wrong_cuts(octets, limits[i]), 0,
                   "texts of characters of %zu octets are cut at %zu between two", octets,
                   limits[i]);
    is_int((int64_t) utf8_start("a\xe2\x82\xac", 100), 4, "a text within its limit is whole");
    is_int((int64_t) utf8_start("a\xe2\x82", 100), 1, "what another cut has split is taken off");
    is_int((int64_t) utf8_start("a\x82\x82\x82\x82", 4), 4,
           "tails without a lead are not walked over");
    is_int((int64_t) utf8_start("\x82", 1), 1, "... nor before the text");
}

static void
test_print(void)
{
    char room[6];
    utf8_print(room, sizeof(room), "%s", "abc\u20ac");
    is_str(room, "abc", "a text that is printed into a room ends with a whole character");
    utf8_print(room, sizeof(room), "%s", "ab\u20ac");
    is_str(room, "ab\u20ac", "... and one that fits is whole");
    utf8_print(room, sizeof(room), "%.*s!", UTF8_SHOWN("a\u20ac", 3));
    is_str(room, "a!", "... as is a part of it");
}

/* Count the steps over a text that do not stop at its NUL or do not move. */
static unsigned
wrong_steps(const char *octets, size_t length)
{
    char *text = malloc(length + 1);
    unsigned point;
    memcpy(text, octets, length);
    text[length] = '\0';
    const char *at = text;
    for (size_t step; (step = utf8_step(at, &point)) > 0; at += step)
        if (at + step > text + length || point > UTF8_MALFORMED)
            break;
    bool wrong = at != text + strlen(text);
    free(text);
    return wrong;
}

/* A step over each text of two octets, alone and before a NUL that hides two tails. */
static void
test_steps(void)
{
    unsigned wrong = 0, point;
    for (unsigned pair = 0; pair <= 0xffff; pair++) {
        const char text[] = {(char) (pair >> 8), (char) pair, '\0', '\x80', '\x80'};
        wrong += wrong_steps(text, 1) + wrong_steps(text, 2) + wrong_steps(text, 5);
    }
    is_int(wrong, 0, "no step passes a NUL, whatever stands before it");
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]) - 1; i++) {
        is_int((int64_t) utf8_step(refused[i].text, &point), 1, "one octet of %s", refused[i].why);
        is_int(point, UTF8_MALFORMED, "... which is no code point");
    }
    is_int((int64_t) utf8_step("", &point), 0, "no octet of the empty text");
    is_int((int64_t) utf8_step("\xed\x9f\xbf", &point), 3, "the octets of a character");
    is_int(point, 0xd7ff, "... and its code point");
    utf8_step("\xdf\xbf", &point);
    is_int(point, 0x7ff, "... of two octets");
    utf8_step("\xf4\x8f\xbf\xbf", &point);
    is_int(point, 0x10ffff, "... of four octets");
}

int
main(void)
{
    plan(0);
    test_cuts();
    test_print();
    test_steps();
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
