/* jsonx_parse() is held against json_loadb() (t/fuzz/jsonx_model.h): it takes and refuses the same
 * texts, and makes the same values of them. What it refuses, and why, is in jsonx-t.c. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/jsonx_text.h"
#include "fuzz/jsonx_model.h"
#include "tap.h"

#define DEPTH 16

/* The text stands in memory of exactly its size, so that valgrind and ASan see an octet too many.
 */
static bool
same_as_jansson(TALLOC_CTX *mem, const char *text, size_t len)
{
    TALLOC_CTX *scratch = talloc_new(mem);
    char *copy = talloc_memdup(scratch, text, len);
    json_t *theirs = model_parse(text, len, DEPTH), *ours = NULL;
    const char *why = NULL;
    enum az_status st = jsonx_parse(scratch, copy, len, DEPTH, &ours, &why);
    bool same = theirs == NULL ? st == AZ_INVALID && ours == NULL && why != NULL
                               : st == AZ_OK && model_same(ours, theirs);
    json_decref(theirs);
    talloc_free(scratch);
    return same;
}

/* Texts at the edges of the grammar; each is also tried with every octet changed, taken out and
 * doubled, and cut short everywhere. */
static const char *const texts[] = {
    " { } ",
    "[ ]\n",
    "\t[ 1 , 2 ]\r",
    "{\"a\":1,\"b\":[true,false,null],\"c\":{\"d\":\"e\"}}",
    "{\"\":\"\",\" \":\" \"}",
    "-0",
    "[0,-0,1,-1,10,-10,100]",
    "[9223372036854775807,-9223372036854775808]",
    "[9223372036854775806,-9223372036854775807,922337203685477580]",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "92233720368547758070",
    "[0.0,-0.0,1.5,-1.5e1,1E2,1e+2,1e-2,0e0,12.340e05]",
    "[1.7976931348623157e308,2.2250738585072014e-308,4.9e-324,1e-999]",
    "1.8e308",
    "-1e309",
    "\"plain text of more than eight octets\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"\\u0041\\u00e4\\u20AC\\uFFFF\\u007f\\u0080\\u07ff\\u0800\"",
    "\"\\ud83d\\ude00\\uD800\\uDC00\\uDBFF\\uDFFF\"",
    "\"a\\ud83d\\ude0\"",
    "\"\\ud83dx\"",
    "\"\\u0000\"",
    "\"\\u00\"",
    "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \x7f\"",
    "{\"k\xc3\xa4\\u00e4\":\"v\xe2\x82\xac\\n\"}",
    "{\"a\":1,\"\\u0061\":2}",
    "{\"a\\nb\":1,\"a\\tb\":{\"a\\nb\":[\"a\\nb\"]}}",
    "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
    "[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]",
    "[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]",
    "[{\"a\":[]},{\"a\":{}},[[]],[]]",
    "truefalse",
    "[truefalse]",
    "nul",
    "\xef\xbb\xbf{}",
};

/* Return how many of the ways to spoil a text give another outcome than Jansson's. */
static unsigned
spoil(TALLOC_CTX *mem, const char *text, const char *octets, size_t count)
{
    size_t len = strlen(text);
    char other[256];
    unsigned wrong = 0;

    for (size_t at = 0; at <= len; at++) {
        wrong += !same_as_jansson(mem, text, at);
        wrong += !same_as_jansson(mem, text + at, len - at);
        memcpy(other, text, at);
        memcpy(other + at + 1, text + at, len - at);
        for (size_t i = 0; i < count; i++) { /* an octet put in */
            other[at] = octets[i];
            wrong += !same_as_jansson(mem, other, len + 1);
        }
        if (at == len)
            break;
        memcpy(other, text, len);
        for (size_t i = 0; i < count; i++) { /* another octet */
            other[at] = octets[i];
            wrong += !same_as_jansson(mem, other, len);
        }
        memmove(other + at, text + at + 1, len - at - 1); /* one taken out */
        wrong += !same_as_jansson(mem, other, len - 1);
    }
    return wrong;
}

static void
test_texts(TALLOC_CTX *mem)
{
    char octets[256];

    for (int i = 0; i < 256; i++)
        octets[i] = (char) i;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ok(same_as_jansson(mem, texts[i], strlen(texts[i])), "as Jansson reads it: %s",
           strpbrk(texts[i], "\n\r") != NULL ? "(with line breaks)" : texts[i]);
        is_int(spoil(mem, texts[i], octets, sizeof(octets)), 0,
               "... with any octet changed, put in or taken out, and cut short anywhere");
    }
}

/* Jansson counts a scalar as one level more; the rule of jsonx.h is about containers. */
static void
test_deepest(TALLOC_CTX *mem)
{
    char *text = talloc_size(mem, 2 * (JSONX_DEPTH_MAX + 1));
    const char *why = NULL;
    json_t *value = NULL;

    memset(text, '[', JSONX_DEPTH_MAX + 1);
    memset(text + JSONX_DEPTH_MAX + 1, ']', JSONX_DEPTH_MAX + 1);
    is_int(jsonx_parse(mem, text + 1, 2 * JSONX_DEPTH_MAX, SIZE_MAX, &value, &why), AZ_OK,
           "%d arrays are read where the caller sets no limit", JSONX_DEPTH_MAX);
    is_int(jsonx_parse(mem, text, 2 * (JSONX_DEPTH_MAX + 1), SIZE_MAX, &value, &why), AZ_INVALID,
           "one more is not");
    is_str(why, "JSON is nested too deeply", "... and says why");
}

/* Names and texts that are decoded use memory of their own, which is given back. */
static void
test_memory(TALLOC_CTX *mem)
{
    static const char *const refused[] = {"{\"a\\n\":1,\"a\\n\":2}", "{\"a\\n\" 1}", "[\"a\\n\",]",
                                          "\"\\u00e4\\x\"",
                                          "{\"a\\n\":[1,{\"b\\n\":\"\\ud800\"}]}"};
    size_t blocks = talloc_total_blocks(mem);
    json_t *value;

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        is_int(jsonx_parse(mem, refused[i], strlen(refused[i]), DEPTH, &value, NULL), AZ_INVALID,
               "refuses %s", refused[i]);
    is_int((int64_t) talloc_total_blocks(mem), (int64_t) blocks, "a refused text keeps no memory");
    jsonx_parse(mem, "{\"a\\n\":\"b\\n\"}", 13, DEPTH, &value, NULL);
    is_int((int64_t) talloc_total_blocks(mem), (int64_t) blocks + 1,
           "one that is read keeps the value's owner alone");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_texts(mem);
    test_deepest(mem);
    test_memory(mem);
    talloc_free(mem);
    return done();
}
