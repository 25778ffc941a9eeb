/* jsonx_dump() is held against json_dumps(JSON_COMPACT): same octets but for reals, same refusals.
 */
#include "config.h"

#include "base/json/jsonx.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx_text.h"
#include "fuzz/jsonx_model.h"
#include "tap.h"

/* True if our text equals Jansson's; where a value cannot be written, both write nothing. */
static bool
same_as_jansson(TALLOC_CTX *mem, const json_t *value)
{
    char *ours = jsonx_dump(mem, value);
    bool same = model_written(ours, value);
    talloc_free(ours);
    return same;
}

static void
test_octets(TALLOC_CTX *mem)
{
    unsigned wrong = 0, wrong_lanes = 0;

    /* Each octet in each place of a string, so that each lane of the eight at once is met. */
    for (int octet = 1; octet < 256; octet++) {
        for (size_t at = 0; at < 20; at++) {
            char text[21] = "abcdefghijklmnopqrst";
            text[at] = (char) octet;
            json_t *value = json_pack("{s:o}", "s", json_string_nocheck(text));
            wrong += !same_as_jansson(mem, value);
            json_decref(value);
            value = json_object();
            json_object_set_new_nocheck(value, text, json_null());
            /* Jansson writes {":null} for a name that is no UTF-8; we write nothing. */
            wrong += octet < 0x80 ? !same_as_jansson(mem, value) : jsonx_dump(mem, value) != NULL;
            json_decref(value);
        }
    }
    is_int(wrong, 0, "each octet in each place: escaped, kept or refused as Jansson does");
    for (int octet = 0; octet < 256; octet++)
        for (size_t at = 0; at < 8; at++) {
            char text[8];
            memset(text, 'x', 8);
            text[at] = (char) octet;
            size_t seen = jsonx_plain_length(text, 8);
            wrong_lanes += seen != (jsonx_is_plain((unsigned char) octet) ? 8 : at);
        }
    is_int(wrong_lanes, 0, "eight octets at once are told apart as one alone is");
    json_t *nul = json_stringn("a\0b", 3);
    is_str(jsonx_dump(mem, nul), "\"a\\u0000b\"", "a NUL inside a string is escaped");
    json_decref(nul);
}

static void
test_texts(TALLOC_CTX *mem)
{
    static const char *const texts[] = {
        "",
        "\xc3\xa4",
        "\xe2\x82\xac",
        "\xf0\x9f\x98\x80",
        "long and plain until the end comes \xf0\x9f\x98\x80",
        "\"\\\b\f\n\r\t/\x01\x1f\x7f",
        "\xc0\xaf",
        "\xed\xa0\x80",
        "\xf4\x90\x80\x80",
        "\xe2\x82",
        "plain and then cut \xf0\x9f\x98",
        "\"\xff",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        json_t *value = json_string_nocheck(texts[i]);
        ok(same_as_jansson(mem, value), "text %zu: as Jansson writes it or refuses it", i);
        json_decref(value);
    }
}

static void
test_numbers(TALLOC_CTX *mem)
{
    static const json_int_t integers[] = {0,    1,          -1,        9,         10,           -10,
                                          3600, 4294967296, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    static const double reals[] = {0.0,
                                   -0.0,
                                   1.0,
                                   0.1,
                                   -2.5,
                                   1e15,
                                   1e16,
                                   1e17,
                                   1e22,
                                   1e-5,
                                   123456789.125,
                                   DBL_MAX,
                                   -DBL_MAX,
                                   DBL_MIN,
                                   -2.2250738585072014e-308,
                                   4.9406564584124654e-324,
                                   1.0 / 3};

    for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
        json_t *value = json_integer(integers[i]);
        ok(same_as_jansson(mem, value), "integer %lld", (long long) integers[i]);
        json_decref(value);
    }
    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
        json_t *value = json_real(reals[i]);
        ok(same_as_jansson(mem, value), "real %.17g", reals[i]);
        json_decref(value);
    }
}

/* The policy engine compares decimal digits: what was written as 0.1 must reach it as 0.1. */
static void
test_digits(TALLOC_CTX *mem)
{
    static const char *const same[] = {"0.1",
                                       "0.3",
                                       "99.99",
                                       "19.99",
                                       "-0.7",
                                       "1e-7",
                                       "1234.56",
                                       "1e100",
                                       "0.5",
                                       "-0.0",
                                       "2.0",
                                       "3.14159265358979",
                                       "0.1234567890123456",
                                       "0.30000000000000004",
                                       "4.94065645841247e-324",
                                       "1.7976931348623157e308"};
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        json_t *value = json_loads(same[i], JSON_DECODE_ANY, NULL);
        is_str(jsonx_dump(mem, value), same[i], "real %s: the digits it was written with", same[i]);
        json_decref(value);
    }
}

static void
test_sorted(TALLOC_CTX *mem)
{
    json_t *value =
        json_pack("{s:i,s:{s:f,s:[{s:n,s:n}]},s:{}}", "b", 1, "a", "z", 0.1, "y", "d", "c", "ab");
    is_str(jsonx_dump_sorted(mem, value),
           "{\"a\":{\"y\":[{\"c\":null,\"d\":null}],\"z\":0.1},\"ab\":{},\"b\":1}",
           "sorted: members by name, at every depth");
    json_decref(value);
    ok(jsonx_dump_sorted(mem, NULL) == NULL, "sorted: no value has no text");
}

static uint32_t state = 2463534242u;

static uint32_t
draw(uint32_t below)
{
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state % below;
}

static json_t *
random_string(void)
{
    static const char *const pieces[] = {
        "a",    "scope",    "https://as.example/", "\"", "\\",  "\n",
        "\x02", "\xc3\xa4", "\xf0\x9f\x98\x80",    " ",  "\x7f"};
    char text[512] = "";
    for (uint32_t left = draw(24); left > 0; left--)
        strcat(text, pieces[draw(sizeof(pieces) / sizeof(pieces[0]))]);
    return json_string(text);
}

static json_t *
random_value(int depth)
{
    json_t *value;

    switch (draw(depth > 0 ? 8 : 6)) {
    case 0:
        return json_integer((json_int_t) ((uint64_t) draw(UINT32_MAX) << draw(33)));
    case 1:
        return json_real((double) draw(UINT32_MAX) / (1 + draw(1000)));
    case 2:
        return json_boolean(draw(2));
    case 3:
        return json_null();
    case 4:
    case 5:
        return random_string();
    case 6:
        value = json_array();
        for (uint32_t left = draw(9); left > 0; left--)
            json_array_append_new(value, random_value(depth - 1));
        return value;
    default:
        value = json_object();
        for (uint32_t left = draw(9); left > 0; left--) {
            json_t *name = random_string();
            json_object_set_new(value, json_string_value(name), random_value(depth - 1));
            json_decref(name);
        }
        return value;
    }
}

static void
test_random(TALLOC_CTX *mem)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < 3000; i++) {
        json_t *value = random_value(5);
        wrong += !same_as_jansson(mem, value);
        json_decref(value);
    }
    is_int(wrong, 0, "3000 made-up values are written as Jansson writes them");
}

/* Lengths around each size the text's memory has. */
static void
test_lengths(TALLOC_CTX *mem)
{
    unsigned wrong = 0;
    static char text[20000];

    memset(text, 'x', sizeof(text) - 1);
    for (size_t length = 0; length < sizeof(text); length += length < 4200 ? 1 : 997) {
        json_t *value = json_pack("[so]", "\xc3\xa4", json_stringn(text, length));
        wrong += !same_as_jansson(mem, value);
        json_decref(value);
    }
    is_int(wrong, 0, "texts of 0 to 4200 octets and some up to 20000");
}

/* depth arrays around 1. */
static json_t *
nested(size_t depth)
{
    json_t *value = json_integer(1);
    while (depth-- > 0) {
        json_t *outer = json_array();
        json_array_append_new(outer, value);
        value = outer;
    }
    return value;
}

static void
test_refused(TALLOC_CTX *mem)
{
    size_t before = talloc_total_size(mem), length = 77;
    json_t *at = nested(JSONX_DEPTH_MAX), *past = nested(JSONX_DEPTH_MAX + 1);
    json_t *self = json_object(), *inner = json_object();
    char *text = jsonx_dump(mem, at);

    ok(text != NULL && strlen(text) == 2 * JSONX_DEPTH_MAX + 1, "%d arrays deep is written",
       JSONX_DEPTH_MAX);
    talloc_free(text);
    ok(jsonx_dump(mem, past) == NULL, "one array deeper is not");
    json_object_set_new(self, "inner", inner);
    json_object_set(inner, "outer", self);
    ok(jsonx_dump(mem, self) == NULL, "a value that holds itself is not written");
    json_object_del(inner, "outer");
    ok(jsonx_dump(mem, NULL) == NULL, "no value has no text");
    ok(jsonx_dump_around(mem, "(", past, ")", &length) == NULL && length == 77,
       "a refusal leaves the length untouched");
    is_int((int64_t) talloc_total_size(mem), (int64_t) before, "... and keeps no memory");
    json_decref(at);
    json_decref(past);
    json_decref(self);
}

static void
test_around(TALLOC_CTX *mem)
{
    json_t *value = json_pack("{s:[i,b]}", "a", 1, 1);
    size_t length = 0;

    is_str(jsonx_dump_around(mem, "{\"input\":", value, "}", &length),
           "{\"input\":{\"a\":[1,true]}}", "a value in its envelope");
    is_int((int64_t) length, 24, "... and the length of both");
    is_str(jsonx_dump_around(mem, "", value, "", &length), "{\"a\":[1,true]}", "in none");
    is_int((int64_t) length, 14, "... and its length");
    is_str(jsonx_dump_around(mem, "<", value, ">", NULL), "<{\"a\":[1,true]}>",
           "the length need not be asked for");
    json_decref(value);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_octets(mem);
    test_texts(mem);
    test_numbers(mem);
    test_digits(mem);
    test_sorted(mem);
    test_random(mem);
    test_lengths(mem);
    test_refused(mem);
    test_around(mem);
    talloc_free(mem);
    return done();
}
