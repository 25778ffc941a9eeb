/* Values of Rego: their order, numbers by their digits, JSON, and the arena's bounds. */
#include "config.h"

#include "rego/value.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json/jsonx.h"
#include "rego/number.h"
#include "tap.h"

#define OCTETS_MAX (1 << 20)

static TALLOC_CTX *mem;

static const struct rego_value *
value_of(const char *text)
{
    static struct rego_arena arena;
    if (arena.mem == NULL)
        rego_arena_init(&arena, mem, OCTETS_MAX);
    return rego_parse(&arena, text, strlen(text));
}

/* Each is smaller than the next, in the order of OPA (ast.Compare). */
static const char *const ascending[] = {
    "null",
    "false",
    "true",
    "-9223372036854775809",
    "-9223372036854775808",
    "-1.5",
    "-1",
    "0",
    "1e-3",
    "0.1",
    "0.11",
    "1",
    "1.5",
    "2",
    "10",
    "9223372036854775807",
    "9223372036854775808",
    "1e30",
    "\"\"",
    "\"A\"",
    "\"a\"",
    "\"aa\"",
    "\"b\"",
    "\"\xc3\xa4\"",
    "[]",
    "[1]",
    "[1,2]",
    "[2]",
    "{}",
    "{\"a\":1}",
    "{\"a\":2}",
    "{\"b\":0}",
};

/* Different spellings of one number are equal. */
static const char *const same[][2] = {
    {"1",      "1.0"    },
    {"1",      "10e-1"  },
    {"0",      "-0"     },
    {"0",      "0.000"  },
    {"100",    "1e2"    },
    {"0.5",    "5e-1"   },
    {"-12.50", "-1.25e1"},
    {"1e400",  "10e399" },
};

static const char *const refused[] = {
    "",           "01",          "1.",
    "+1",         ".5",          "1e",
    "-",          "1 2",         "[1,]",
    "[1",         "{\"a\"}",     "{a:1}",
    "{\"a\":1,}", "tru",         "\"a",
    "\"\\q\"",    "\"\\ud800\"", "\"\\u0000\"",
    "\"\x01\"",   "\"\xff\"",    "{\"a\":1,\"a\":1}",
    "1e10000",
};

static void
test_order(void)
{
    size_t count = sizeof(ascending) / sizeof(ascending[0]);
    for (size_t i = 0; i + 1 < count; i++) {
        const struct rego_value *a = value_of(ascending[i]), *b = value_of(ascending[i + 1]);
        ok(a != NULL && b != NULL && rego_compare(a, b) < 0 && rego_compare(b, a) > 0,
           "order: %s is before %s", ascending[i], ascending[i + 1]);
    }
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        is_int(rego_compare(value_of(same[i][0]), value_of(same[i][1])), 0,
               "order: %s and %s are the same number", same[i][0], same[i][1]);
}

static void
test_json(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        ok(value_of(refused[i]) == NULL, "json: refuses text %zu", i);
    BUF_AUTO text;
    buf_init(&text, mem, OCTETS_MAX);
    ok(rego_write(&text, value_of("{\"b\" : [1.50, \"\\u000a\\\"\"], \"a\":{}}")),
       "json: a value is written");
    is_str(text.data, "{\"a\":{},\"b\":[1.50,\"\\n\\\"\"]}",
           "json: ... by the order of names, with the digits that were read");
}

/* ---- Jansson's values ---- */

/* Texts beside those above, whose values are read without a text. */
static const char *const trees[] = {
    "{\"b\":{\"z\":[],\"a\":{}},\"a\":[true,false,null,[1,[2]]],\"\":\"\"}",
    "[-9223372036854775808,9223372036854775807,-10,-9,9,10,100]",
    "[0.1,0.3,1.5e-7,1e22,1e300,-2.5,123456789.123,100.0,0.0,-0.0]",
    "[\"\\u0001\\u001f\\b\\f\\n\\r\\t\\\"\\\\/\",\"eight octets and \\\"more\\\" of them\"]",
    "{\"\xc3\xa4\":\"\xf0\x9f\x98\x80\",\"a\\nb\":\"\x7f\"}",
};

/* Check that a value of Jansson is read as its text is. */
static void
same_as_text(const json_t *json, const char *name)
{
    struct rego_arena arena;
    rego_arena_init(&arena, mem, OCTETS_MAX);
    size_t length = 0, text_length = 0;
    char *text = jsonx_dump_around(mem, "", json, "", &text_length);
    const struct rego_value *tree = rego_of_json(&arena, json, &length),
                            *read = text != NULL ? rego_parse(&arena, text, text_length) : NULL;
    BUF_AUTO one;
    BUF_AUTO other;
    buf_init(&one, mem, OCTETS_MAX);
    buf_init(&other, mem, OCTETS_MAX);
    bool both = tree != NULL && read != NULL && rego_write(&one, tree) && rego_write(&other, read);
    ok((tree == NULL && read == NULL)
           || (both && rego_compare(tree, read) == 0 && !rego_is_spelled_otherwise(tree, read)
               && tree->nodes == read->nodes && tree->traits == read->traits
               && strcmp(one.data, other.data) == 0 && length == text_length),
       "tree: read as its text: %s", name);
}

static void
same_as_read(const char *text)
{
    json_t *json = NULL;
    if (jsonx_parse(mem, text, strlen(text), REGO_DEPTH_MAX, &json, NULL) == AZ_OK)
        same_as_text(json, text);
}

static void
test_trees(void)
{
    char names[2] = "a";
    for (size_t i = 0; i < sizeof(ascending) / sizeof(ascending[0]); i++)
        same_as_read(ascending[i]);
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
        same_as_read(trees[i]);
    json_t *many = json_object();
    for (names[0] = 'z'; names[0] >= '!'; names[0]--)
        json_object_set_new(many, names, json_integer(names[0]));
    same_as_text(jsonx_own(mem, many), "an object of many members");
    struct rego_arena arena;
    rego_arena_init(&arena, mem, OCTETS_MAX);
    json_t *wrong = jsonx_own(mem, json_array());
    json_array_append_new(wrong, json_stringn("a\0b", 3));
    json_array_append_new(wrong, json_string_nocheck("plain until here \xff"));
    json_array_append_new(wrong, json_object());
    json_object_set_new_nocheck(json_array_get(wrong, 2), "\xc3", json_null());
    for (size_t i = 0, length; i < json_array_size(wrong); i++)
        ok(rego_of_json(&arena, json_array_get(wrong, i), &length) == NULL,
           "tree: refused, as its text is: value %zu", i);
    json_t *deep = json_array();
    for (int i = 1; i < REGO_DEPTH_MAX; i++)
        deep = json_pack("[o]", deep);
    same_as_text(jsonx_own(mem, deep), "arrays as deep as they may be");
    size_t length;
    deep = jsonx_own(mem, json_pack("[O]", deep));
    ok(rego_of_json(&arena, deep, &length) == NULL, "tree: one deeper is refused");
}

/* Return the value of arrays that are nested so deep. */
static const struct rego_value *
nested(size_t depth)
{
    char text[2 * REGO_DEPTH_MAX + 8];
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    text[2 * depth] = '\0';
    return value_of(text);
}

static void
test_bounds(void)
{
    struct rego_arena arena;
    ok(nested(REGO_DEPTH_MAX) != NULL, "bounds: values are nested %d deep", REGO_DEPTH_MAX);
    ok(nested(REGO_DEPTH_MAX + 1) == NULL, "bounds: ... and no deeper");
    rego_arena_init(&arena, mem, 1000);
    ok(rego_take(&arena, 1000) != NULL && !arena.full, "bounds: an arena gives what it may have");
    ok(rego_take(&arena, 8) == NULL && arena.full, "bounds: ... and not an octet more");
    ok(rego_take(&arena, 0) == NULL, "bounds: an arena that was full once gives nothing");
    rego_arena_init(&arena, mem, 1000);
    ok(rego_take(&arena, 1001) == NULL && arena.full, "bounds: one octet past is refused at once");
}

/* Arrays that each hold the one before twice are small, but whoever reads them sees all of it. */
static void
test_nodes(void)
{
    struct rego_arena arena;
    rego_arena_init(&arena, mem, OCTETS_MAX);
    const struct rego_value *item = &rego_null;
    struct rego_value *twice = NULL;
    for (uint32_t nodes = 0; nodes < REGO_NODES_MAX - 2; nodes = twice->nodes) {
        twice = rego_array(&arena, 2);
        if (!rego_append(&arena, twice, item) || !rego_append(&arena, twice, item))
            break;
        item = twice;
    }
    is_int(twice->nodes, REGO_NODES_MAX - 2, "bounds: values are counted where they stand");
    ok(rego_append(&arena, twice, &rego_null) && rego_append(&arena, twice, &rego_null),
       "bounds: a value holds %u values", REGO_NODES_MAX);
    ok(!rego_append(&arena, twice, &rego_null) && arena.full, "bounds: ... and not one more");
}

static void
test_composites(void)
{
    struct rego_arena arena;
    rego_arena_init(&arena, mem, OCTETS_MAX);
    struct rego_value *set = rego_set(&arena, 0), *object = rego_object(&arena, 0);
    for (int i = 20; i > 0; i--) {
        rego_add(&arena, set, rego_integer(&arena, i % 7));
        rego_insert(&arena, object, rego_integer(&arena, i % 7), rego_integer(&arena, i));
    }
    is_int(set->count, 7, "set: each item is there once");
    ok(rego_has(set, value_of("3.0")), "set: an item is found in another spelling");
    ok(!rego_has(set, value_of("\"3\"")), "set: a text is no number");
    is_int(rego_get(object, value_of("6"))->integer, 6, "object: the last value of a key counts");
    ok(rego_get(value_of("[1,2]"), value_of("2")) == NULL,
       "array: an index past the end has no item");
    ok(rego_get(value_of("[1,2]"), value_of("-1")) == NULL, "array: nor has one below zero");
    is_int(rego_get(value_of("[1,2]"), value_of("1.0"))->integer, 2, "array: 1.0 is an index");
    ok(rego_get(value_of("[1,2]"), value_of("1e0")) == NULL, "array: 1e0 is none, as in OPA");
    is_int(rego_get(value_of("[1,2]"), value_of("-0"))->integer, 1, "array: -0 is an index");
    ok(rego_get(value_of("[1,2]"), value_of("1.00000000000000000")) != NULL,
       "array: an index has 19 octets");
    ok(rego_get(value_of("[1,2]"), value_of("1.000000000000000000")) == NULL,
       "array: ... and no more");
    const struct rego_value *merged =
        rego_merge(&arena, value_of("{\"a\":{\"x\":1,\"y\":1},\"b\":1}"),
                   value_of("{\"a\":{\"y\":2},\"b\":{}}"));
    is_int(rego_compare(merged, value_of("{\"a\":{\"x\":1,\"y\":2},\"b\":{}}")), 0,
           "object: another is laid over it, object by object");
    ok(rego_append_member(&arena, object, value_of("1"), value_of("1"))
           && !rego_sort_members(object),
       "object: a key that is there twice is noticed");
}

/* Return an array of so many copies of an item, as text. */
static char *
repeat_text(size_t count, const char *item)
{
    char *text = talloc_zero_size(mem, count * (strlen(item) + 1) + 3), *at = text;
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%c%s", i == 0 ? '[' : ',', item);
    strcpy(at, "]");
    return text;
}

/* Large data keep equal texts once; what is read is the same. */
static void
test_shared(void)
{
    static const char *const items[] = {"{\"grants\":[\"a\",\"b\\u00e9\"],\"b\":\"\"}", "\"abc\""};
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        struct rego_arena arena;
        size_t count = 65536 / strlen(items[i]) + 2;
        char *text = repeat_text(count, items[i]);
        rego_arena_init(&arena, mem, 16 << 20);
        const struct rego_value *read = rego_parse(&arena, text, strlen(text));
        const struct rego_value *one = value_of(items[i]);
        size_t equal = 0;
        for (uint32_t k = 0; read != NULL && k < read->count; k++)
            equal += rego_compare(read->item[k], one) == 0;
        is_int(equal, count, "large data are read as small ones: %s", items[i]);
    }
    struct rego_arena arena;
    char *text = repeat_text(20000, "\"abc\"");
    rego_arena_init(&arena, mem, 16 << 20);
    const struct rego_value *read = rego_parse(&arena, text, strlen(text));
    ok(read != NULL && read->item[0] == read->item[19999],
       "... and a text that repeats is kept once");
    text[strlen(text) - 1] = ' ';
    ok(rego_parse(&arena, text, strlen(text)) == NULL, "... and damaged data are refused");
}

int
main(void)
{
    mem = talloc_new(NULL);
    plan(0);
    test_order();
    test_json();
    test_trees();
    test_bounds();
    test_nodes();
    test_composites();
    test_shared();
    talloc_free(mem);
    return done();
}
