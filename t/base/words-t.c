#include "config.h"

#include "base/words.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "tap.h"

static json_t *
parse(TALLOC_CTX *mem, const char *text)
{
    json_t *value = NULL;
    jsonx_parse(mem, text, strlen(text), 4, &value, NULL);
    return value;
}

static void
test_list(TALLOC_CTX *mem)
{
    static const char *const list[] = {"code", "token", NULL}, *const none[] = {NULL};
    ok(words_has(list, "code") && words_has(list, "token"), "list: its words");
    ok(!words_has(list, "cod") && !words_has(list, "codes") && !words_has(list, ""),
       "list: no beginning, no longer word, not the empty one");
    ok(!words_has(list, NULL) && !words_has(none, "code"), "list: NULL, and an empty list");
    is_str(jsonx_dump(mem, jsonx_own(mem, words_array(list))), "[\"code\",\"token\"]",
           "list: as an array");
    is_str(jsonx_dump(mem, jsonx_own(mem, words_array(none))), "[]", "list: an empty one");
    ok(words_array(NULL) == NULL, "list: none, which could not be made");
}

static void
test_array(TALLOC_CTX *mem)
{
    json_t *array = parse(mem, "[\"b\",7,\"a\",\"b\",null,\"c\"]"), *odd = parse(mem, "{\"a\":1}");
    ok(words_array_has(array, "a") && words_array_has(array, "c"), "array: its words");
    ok(!words_array_has(array, "") && !words_array_has(array, "ab"), "array: no others");
    ok(!words_array_has(array, NULL) && !words_array_has(NULL, "a") && !words_array_has(odd, "a"),
       "array: no word, no array, another value");
    is_str(jsonx_dump(mem, words_array_within(mem, array, parse(mem, "[\"c\",\"b\",\"d\"]"))),
           "[\"b\",\"c\"]", "within: what both have, in the order of the first, once each");
    is_str(jsonx_dump(mem, words_array_once(mem, array)), "[\"b\",\"a\",\"c\"]",
           "once: all strings, in their order");
    is_str(jsonx_dump(mem, words_array_within(mem, array, parse(mem, "[]"))), "[]",
           "within: nothing, with an empty one");
    is_str(jsonx_dump(mem, words_array_within(mem, array, NULL)), "[]",
           "within: nothing either without a ceiling");
    ok(words_array_is_within(parse(mem, "[\"c\",\"a\"]"), array)
           && words_array_is_within(NULL, NULL) && words_array_is_within(parse(mem, "[]"), NULL),
       "is within: every string is, or there is none");
    ok(!words_array_is_within(parse(mem, "[\"a\",\"d\"]"), array)
           && !words_array_is_within(parse(mem, "[\"a\"]"), NULL)
           && !words_array_is_within(parse(mem, "[7]"), array),
       "is within: one is not, nothing is wider, or an item is no string");
    is_str(words_join(mem, array), "b a b c", "join: the strings with a space between them");
    is_str(words_join(mem, NULL), "", "join: no array gives an empty text");
    const char **list = words_array_list(mem, array);
    ok(strcmp(list[0], "b") == 0 && strcmp(list[3], "c") == 0 && list[4] == NULL,
       "list: the strings, then NULL");
    ok(words_array_list(mem, NULL)[0] == NULL, "list: of no array");
}

static void
test_split(TALLOC_CTX *mem)
{
    static const struct {
        const char *text, *words;
    } texts[] = {
        {NULL,        "[]"                    },
        {"",          "[]"                    },
        {"   ",       "[]"                    },
        {"a",         "[\"a\"]"               },
        {"  b  a b ", "[\"b\",\"a\"]"         },
        {"ab a abc",  "[\"ab\",\"a\",\"abc\"]"},
        {"a\tb,c",    "[\"a\\tb,c\"]"         },
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        is_str(jsonx_dump(mem, words_split(mem, texts[i].text)), texts[i].words, "split: '%s'",
               texts[i].text != NULL ? texts[i].text : "(none)");
    ok(words_split(mem, "a \xff") == NULL, "split: no text that is not UTF-8");
}

/* Texts with the separator, or with what stands for it, come back as they were. */
static void
test_texts(TALLOC_CTX *mem)
{
    static const struct {
        const char *array, *joined;
    } texts[] = {
        {"[]",                            ""                       },
        {"[\"one\",\"two\",\"one\"]",     "one two"                },
        {"[\"shop is closed\",\"late\"]", "shop%20is%20closed late"},
        {"[\"50% off\",\"%20\",\"%25\"]", "50%25%20off %2520 %2525"},
        {"[\"a\\tb,\\\"c\\\"\"]",         "a\tb,\"c\""             },
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        json_t *array = parse(mem, texts[i].array);
        const char *joined = words_join_texts(mem, array);
        is_str(joined, texts[i].joined, "join texts: %s", texts[i].array);
        is_str(jsonx_dump(mem, jsonx_own(mem, words_split_texts(joined))),
               jsonx_dump(mem, words_array_once(mem, array)), "split texts: '%s'", joined);
    }
    is_str(jsonx_dump(mem, jsonx_own(mem, words_split_texts("50% of it"))),
           "[\"50%\",\"of\",\"it\"]",
           "split texts: a text that another version joined is its words");
    ok(words_split_texts(NULL) == NULL, "split texts: of no text");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_list(mem);
    test_array(mem);
    test_split(mem);
    test_texts(mem);
    ok(words_end("a.rego", ".rego") && !words_end(".rego", ".rego") && !words_end("a.reg", ".rego")
           && !words_end("", ".rego") && words_end("a", ""),
       "end: with an octet before it");
    talloc_free(mem);
    return done();
}
