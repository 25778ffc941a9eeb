#include "config.h"

#include "base/json/jsonx.h"

#include <stdlib.h>
#include <string.h>

#include "scarce.h"
#include "tap.h"

/* clang-format off */
static const struct {
    const char *text;
    const char *why; /* what ret_why says; NULL: accepted */
    const char *name;
} texts[] = {
    {"{}", NULL, "an empty object"},
    {" \t\r\n[1, 2.5, -3e2, true, false, null, \"x\"] ", NULL, "all kinds of values"},
    {"\"text\"", NULL, "a string alone"},
    {"0", NULL, "a number alone"},
    {"{\"a\":{\"b\":1},\"b\":{\"b\":2}}", NULL, "one name in two objects"},
    {"\"\\ud83d\\ude00\"", NULL, "an escaped pair of surrogates"},
    {"9223372036854775807", NULL, "the largest integer"},
    {"\"[[[[[[[[[[[[\\\"[[[[[[[[[[[[\"", NULL, "brackets inside a string"},
    {"", "JSON ends too early", "nothing"},
    {"   ", "JSON ends too early", "white space alone"},
    {"{", "JSON ends too early", "an object cut short"},
    {"[1", "JSON ends too early", "an array cut short"},
    {"\"abc", "JSON ends too early", "a string cut short"},
    {"\"abc\\", "JSON ends too early", "a string cut short in an escape"},
    {"{} {}", "JSON is followed by other text", "two values"},
    {"{}x", "JSON is followed by other text", "text after the value"},
    {"{\"a\":1,\"a\":2}", "JSON contains a repeated member name", "a repeated name"},
    {"{\"a\":1,\"b\":{\"c\":1,\"c\":1}}", "JSON contains a repeated member name",
     "a repeated name further in"},
    {"{\"a\":1,\"\\u0061\":2}", "JSON contains a repeated member name", "a repeated name, once escaped"},
    {"\"a\\u0000b\"", "JSON contains a NUL character", "an escaped NUL"},
    {"{\"a\\u0000\":1}", "JSON contains a NUL character", "an escaped NUL in a name"},
    {"\"\xff\"", "JSON is not valid UTF-8", "octet FF"},
    {"\"\xc0\xaf\"", "JSON is not valid UTF-8", "an overlong form"},
    {"\"\xed\xa0\x80\"", "JSON is not valid UTF-8", "a surrogate in UTF-8"},
    {"{} \xff", "JSON is not valid UTF-8", "octet FF after the value"},
    {"\"\\ud800\"", "JSON is malformed", "a high surrogate alone"},
    {"\"\\udc00\"", "JSON is malformed", "a low surrogate alone"},
    {"\"\\ud800\\ud800\"", "JSON is malformed", "two high surrogates"},
    {"\"\\ud800x\"", "JSON is malformed", "a high surrogate before a letter"},
    {"9223372036854775808", "JSON contains a number that is too large", "an integer one too large"},
    {"-9223372036854775809", "JSON contains a number that is too large", "an integer one too small"},
    {"1e999", "JSON contains a number that is too large", "a real that is too large"},
    {"01", "JSON is malformed", "a leading zero"},
    {"+1", "JSON is malformed", "a plus sign"},
    {".5", "JSON is malformed", "no digit before the point"},
    {"1.", "JSON is malformed", "no digit after the point"},
    {"NaN", "JSON is malformed", "NaN"},
    {"Infinity", "JSON is malformed", "Infinity"},
    {"0x10", "JSON is followed by other text", "a hex number"},
    {"[1,]", "JSON is malformed", "a trailing comma"},
    {"{a:1}", "JSON is malformed", "a name without quotes"},
    {"{'a':1}", "JSON is malformed", "single quotes"},
    {"/**/{}", "JSON is malformed", "a comment"},
    {"\xef\xbb\xbf{}", "JSON is malformed", "a byte order mark"},
    {"\"a\nb\"", "JSON is malformed", "a line break in a string"},
    {"\"\\x41\"", "JSON is malformed", "an unknown escape"},
    {"TRUE", "JSON is malformed", "TRUE in capitals"},
    {"]", "JSON is malformed", "a closing bracket"},
};
/* clang-format on */

static void
test_texts(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        json_t *value = NULL;
        const char *why = NULL;
        enum az_status status =
            jsonx_parse(mem, texts[i].text, strlen(texts[i].text), 10, &value, &why);
        if (texts[i].why == NULL) {
            ok(status == AZ_OK && value != NULL, "accepts %s (RFC 8259)", texts[i].name);
            continue;
        }
        ok(status == AZ_INVALID && value == NULL, "refuses %s (RFC 8259)", texts[i].name);
        is_str(why, texts[i].why, "... and says why");
    }
    json_t *value = NULL;
    is_int(jsonx_parse(mem, "{}\0", 3, 10, &value, NULL), AZ_INVALID, "refuses a NUL octet");
    is_int(jsonx_parse(mem, "[1,2", 2, 10, &value, NULL), AZ_INVALID,
           "does not read past the length");
}

/* depth times open, then as many closing brackets. */
static char *
nested(TALLOC_CTX *mem, size_t depth, bool objects)
{
    char *text = talloc_strdup(mem, "");

    for (size_t i = 0; i < depth; i++)
        text = talloc_strdup_append_buffer(text, objects ? "{\"a\":" : "[");
    text = talloc_strdup_append_buffer(text, "1");
    for (size_t i = 0; i < depth; i++)
        text = talloc_strdup_append_buffer(text, objects ? "}" : "]");
    return text;
}

static void
test_depth(TALLOC_CTX *mem, size_t depth, bool objects)
{
    const char *kind = objects ? "objects" : "arrays";
    char *at = nested(mem, depth, objects);
    char *past = nested(mem, depth + 1, objects);
    const char *why = NULL;
    json_t *value;

    is_int(jsonx_parse(mem, at, strlen(at), depth, &value, &why), AZ_OK,
           "depth limit %zu: %s at it", depth, kind);
    is_int(jsonx_parse(mem, past, strlen(past), depth, &value, &why), AZ_INVALID,
           "depth limit %zu: %s one past it", depth, kind);
    is_str(why, "JSON is nested too deeply", "... and says why");
}

static void
test_depth_far_past(TALLOC_CTX *mem)
{
    size_t len = 1000000;
    char *text = talloc_size(mem, len);
    json_t *value;

    memset(text, '[', len);
    is_int(jsonx_parse(mem, text, len, 64, &value, NULL), AZ_INVALID,
           "a million brackets do not reach the stack");
    is_int(jsonx_parse(mem, text, len, SIZE_MAX, &value, NULL), AZ_INVALID,
           "... not even without a limit of ours");
}

static void
test_own(TALLOC_CTX *mem)
{
    TALLOC_CTX *inner = talloc_new(mem);
    json_t *value = json_object();

    json_incref(value);
    ok(jsonx_own(inner, value) == value, "own returns the value");
    is_int((int64_t) value->refcount, 2, "own takes the caller's reference");
    talloc_free(inner);
    is_int((int64_t) value->refcount, 1, "the context drops it when freed");
    json_decref(value);
    ok(jsonx_own(mem, NULL) == NULL, "own passes NULL on");
}

static void
test_dump(TALLOC_CTX *mem)
{
    static const char text[] = "{\"z\":[1,true,null,\"\xc3\xa4\"],\"a\":{}}";
    json_t *value;

    jsonx_parse(mem, text, strlen(text), 9, &value, NULL);
    is_str(jsonx_dump(mem, value), text, "dump is compact and keeps the order of members");
    is_str(jsonx_dump(mem, json_array_get(json_object_get(value, "z"), 0)), "1",
           "dump takes a scalar");
}

/* Counts allocations, of which the one with number fail_at fails. */
static size_t allocations, fail_at;

static void *
failing_malloc(size_t size)
{
    return ++allocations == fail_at ? NULL : malloc(size);
}

static void
test_out_of_memory(TALLOC_CTX *mem)
{
    static const char text[] = "{\"a\":[1,2,{\"b\":\"text\"}],\"c\":{\"d\":1.5}}";
    unsigned wrong = 0;
    unsigned ours = 0;
    json_t *value;

    json_set_alloc_funcs(failing_malloc, free);
    fail_at = 0;
    allocations = 0;
    enum az_status status = jsonx_parse(mem, text, strlen(text), 9, &value, NULL);
    size_t total = allocations;
    for (fail_at = 1; fail_at <= total; fail_at++) {
        json_t *untouched = NULL;
        allocations = 0;
        status = jsonx_parse(mem, text, strlen(text), 9, &untouched, NULL);
        wrong += status == AZ_OK;
        ours += status == AZ_SERVER_ERROR;
        wrong += untouched != NULL;
    }
    fail_at = 0;
    ok(total > 5 && wrong == 0, "memory failing at each of %zu points never parses", total);
    is_int(ours, (int64_t) total, "... and is our failure each time");
    talloc_free_children(mem);
    json_set_alloc_funcs(malloc, free);
}

static void
test_build(TALLOC_CTX *mem)
{
    struct jsonx_build object = {jsonx_own(mem, json_object()), false},
                       array = {jsonx_own(mem, json_array()), false}, none = {NULL, false};
    jsonx_append(&array, json_integer(1));
    jsonx_set(&object, "a", json_incref(jsonx_built(&array)));
    jsonx_set(&object, "b", json_true());
    is_str(jsonx_dump(mem, jsonx_built(&object)), "{\"a\":[1],\"b\":true}", "build: in this order");
    jsonx_append(&array, NULL);
    ok(jsonx_built(&array) == NULL, "build: a value that could not be made is a loss");
    jsonx_append(&array, json_integer(2));
    ok(jsonx_built(&array) == NULL, "... which the next one does not mend");
    jsonx_set(&object, "c", json_incref(jsonx_built(&array)));
    ok(jsonx_built(&object) == NULL, "... nor the object around it");
    jsonx_set(&none, "a", json_true());
    ok(none.lost && jsonx_built(&none) == NULL, "build: without an object all is lost");
    ok(jsonx_dump(mem, jsonx_built(&none)) == NULL, "build: and nothing is dumped");
}

static enum scarce_outcome
build_once(TALLOC_CTX *mem, void *arg)
{
    struct jsonx_build build = {jsonx_own(mem, json_object()), false};
    (void) arg;
    for (int i = 0; i < 20; i++)
        jsonx_set(&build, (char[]){(char) ('a' + i), '\0'}, json_integer(i));
    const json_t *built = jsonx_built(&build);
    return built == NULL ? SCARCE_FAILED
                         : (json_object_size(built) == 20 ? SCARCE_WHOLE : SCARCE_WRONG);
}

static enum scarce_outcome
copy_once(TALLOC_CTX *mem, void *arg)
{
    const json_t *value = arg, *copy = jsonx_own(mem, jsonx_copy(value));
    return copy == NULL ? SCARCE_FAILED : (json_equal(copy, value) ? SCARCE_WHOLE : SCARCE_WRONG);
}

static enum scarce_outcome
deep_copy_once(TALLOC_CTX *mem, void *arg)
{
    const json_t *value = arg, *copy = jsonx_own(mem, jsonx_deep_copy(value));
    return copy == NULL ? SCARCE_FAILED : (json_equal(copy, value) ? SCARCE_WHOLE : SCARCE_WRONG);
}

static void
test_without_memory(TALLOC_CTX *mem)
{
    static const char text[] = "{\"a\":[1,{\"b\":\"c\"}],\"d\":{\"e\":[true,null,2.5,\"f\"]}}";
    json_t *value = NULL;
    jsonx_parse(mem, text, strlen(text), 9, &value, NULL);
    struct scarce_count count = scarce_jansson(build_once, NULL);
    scarce_is_seen(&count, "build");
    count = scarce_jansson(copy_once, value);
    scarce_is_seen(&count, "copy of an object");
    count = scarce_jansson(deep_copy_once, value);
    scarce_is_seen(&count, "deep copy");
    count = scarce_jansson(copy_once, json_object_get(json_object_get(value, "d"), "e"));
    scarce_is_seen(&count, "copy of an array");
    ok(jsonx_copy(NULL) == NULL && jsonx_deep_copy(NULL) == NULL, "no value has no copy");
}

/* Members that count as absent (world.md U8). */
static void
test_drop_empty(TALLOC_CTX *mem)
{
    json_t *value;
    const char *text = "{\"a\":null,\"b\":\"\",\"c\":0,\"d\":false,\"e\":[],\"f\":{},\"g\":\" \","
                       "\"h\":{\"a\":null},\"i\":[null,\"\"]}";
    ok(jsonx_parse(mem, text, strlen(text), 2, &value, NULL) == AZ_OK,
       "an object with empty members");
    jsonx_drop_empty(value);
    is_str(
        jsonx_dump(mem, value),
        "{\"c\":0,\"d\":false,\"e\":[],\"f\":{},\"g\":\" \",\"h\":{\"a\":null},\"i\":[null,\"\"]}",
        "U8: null and \"\" are dropped; 0, false, blanks, containers and what they hold stay");
    value = jsonx_own(mem, json_array());
    jsonx_drop_empty(value);
    jsonx_drop_empty(NULL);
    ok(json_is_array(value), "... and a value that is no object stays as it is");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_texts(mem);
    test_drop_empty(mem);
    test_depth(mem, 0, false);
    test_depth(mem, 1, false);
    test_depth(mem, 4, true);
    test_depth(mem, 16, false);
    test_depth(mem, 64, true);
    test_depth(mem, 2047, false);
    test_depth_far_past(mem);
    test_own(mem);
    test_dump(mem);
    test_build(mem);
    talloc_free_children(mem);
    test_out_of_memory(mem);
    test_without_memory(mem);
    talloc_free(mem);
    return done();
}
