#include "config.h"

#include "base/jsonx.h"

#include <stdlib.h>
#include <string.h>

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
    {"{\"a\":1,\"a\":2}", "JSON has a repeated member name", "a repeated name"},
    {"{\"a\":1,\"b\":{\"c\":1,\"c\":1}}", "JSON has a repeated member name",
     "a repeated name further in"},
    {"{\"a\":1,\"\\u0061\":2}", "JSON has a repeated member name", "a repeated name, once escaped"},
    {"\"a\\u0000b\"", "JSON has a NUL character", "an escaped NUL"},
    {"{\"a\\u0000\":1}", "JSON has a NUL character", "an escaped NUL in a name"},
    {"\"\xff\"", "JSON is not valid UTF-8", "octet FF"},
    {"\"\xc0\xaf\"", "JSON is not valid UTF-8", "an overlong form"},
    {"\"\xed\xa0\x80\"", "JSON is not valid UTF-8", "a surrogate in UTF-8"},
    {"{} \xff", "JSON is not valid UTF-8", "octet FF after the value"},
    {"\"\\ud800\"", "JSON is malformed", "a high surrogate alone"},
    {"\"\\udc00\"", "JSON is malformed", "a low surrogate alone"},
    {"\"\\ud800\\ud800\"", "JSON is malformed", "two high surrogates"},
    {"\"\\ud800x\"", "JSON is malformed", "a high surrogate before a letter"},
    {"9223372036854775808", "JSON has a number that is too large", "an integer one too large"},
    {"-9223372036854775809", "JSON has a number that is too large", "an integer one too small"},
    {"1e999", "JSON has a number that is too large", "a real that is too large"},
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

struct sample {
    const char *name;
    int64_t count;
    bool enabled;
    const json_t *tags;
    const json_t *meta;
    const json_t *any;
    const json_t *list;
};

static const struct jsonx_field fields[] = {
    {"name",    JSONX_TEXT,       offsetof(struct sample, name),    true,  1, 5,  0},
    {"count",   JSONX_INTEGER,    offsetof(struct sample, count),   false, 1, 10, 0},
    {"enabled", JSONX_BOOLEAN,    offsetof(struct sample, enabled), false, 0, 0,  0},
    {"tags",    JSONX_TEXT_ARRAY, offsetof(struct sample, tags),    false, 0, 2,  3},
    {"meta",    JSONX_OBJECT,     offsetof(struct sample, meta),    false, 0, 0,  0},
    {"any",     JSONX_ANY,        offsetof(struct sample, any),     false, 0, 0,  0},
    {"list",    JSONX_ARRAY,      offsetof(struct sample, list),    false, 1, 2,  0},
};

/* Gathers "name why; name why; ". */
static void
gather(void *arg, const char *name, const char *why)
{
    char **faults = arg;
    *faults = talloc_asprintf_append(*faults, "%s %s; ", name, why);
}

/* clang-format off */
static const struct {
    const char *text;
    unsigned flags;
    const char *faults; /* "": accepted */
    const char *name;
} readings[] = {
    {"{\"name\":\"x\"}", 0, "", "the required member alone"},
    {"{\"name\":\"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\"}", 0, "", "a text of 5 code points"},
    {"{\"name\":\"123456\"}", 0, "name is too long; ", "a text of 6 code points"},
    {"{\"name\":\"\"}", 0, "name must not be empty; ", "an empty text"},
    {"{}", 0, "name is required; ", "a missing required member"},
    {"{\"name\":null}", 0, "name is required; ", "null for a required member"},
    {"{\"name\":null}", JSONX_REFUSE_NULL, "name must not be null; ", "null where it is refused"},
    {"{\"name\":\"x\",\"count\":null}", 0, "", "null for an optional member"},
    {"{\"name\":\"x\",\"count\":null}", JSONX_REFUSE_NULL, "count must not be null; ",
     "null for an optional member where it is refused"},
    {"{\"name\":\"x\",\"any\":null}", JSONX_REFUSE_NULL, "", "null where anything goes"},
    {"{\"name\":1}", 0, "name must be a string; ", "a number for a text"},
    {"{\"name\":\"x\",\"count\":1}", 0, "", "the smallest integer"},
    {"{\"name\":\"x\",\"count\":10}", 0, "", "the largest integer"},
    {"{\"name\":\"x\",\"count\":0}", 0, "count is too small; ", "an integer below"},
    {"{\"name\":\"x\",\"count\":11}", 0, "count is too large; ", "an integer above"},
    {"{\"name\":\"x\",\"count\":1.0}", 0, "count must be an integer; ", "a real for an integer"},
    {"{\"name\":\"x\",\"count\":\"1\"}", 0, "count must be an integer; ", "a text for an integer"},
    {"{\"name\":\"x\",\"enabled\":\"true\"}", 0, "enabled must be true or false; ",
     "a text for a boolean"},
    {"{\"name\":\"x\",\"enabled\":1}", 0, "enabled must be true or false; ",
     "a number for a boolean"},
    {"{\"name\":\"x\",\"tags\":[\"abc\",\"\"]}", 0, "", "two texts of at most 3"},
    {"{\"name\":\"x\",\"tags\":[]}", 0, "", "no texts where no minimum is set"},
    {"{\"name\":\"x\",\"tags\":[\"a\",\"b\",\"c\"]}", 0, "tags has too many items; ",
     "three texts"},
    {"{\"name\":\"x\",\"tags\":[\"abcd\"]}", 0, "tags has an item that is too long; ",
     "a text of 4"},
    {"{\"name\":\"x\",\"tags\":[\"a\",1]}", 0, "tags must be an array of strings; ",
     "a number among texts"},
    {"{\"name\":\"x\",\"tags\":\"a\"}", 0, "tags must be an array of strings; ",
     "a text for an array of texts"},
    {"{\"name\":\"x\",\"meta\":[]}", 0, "meta must be an object; ", "an array for an object"},
    {"{\"name\":\"x\",\"list\":{}}", 0, "list must be an array; ", "an object for an array"},
    {"{\"name\":\"x\",\"list\":[]}", 0, "list must not be empty; ", "an empty array below minimum"},
    {"{\"name\":\"x\",\"list\":[1,2,3]}", 0, "list has too many items; ", "three items"},
    {"{\"name\":\"x\",\"other\":1}", 0, "", "an unknown member where it is ignored"},
    {"{\"name\":\"x\",\"other\":1}", JSONX_REFUSE_UNKNOWN, "other is not known; ",
     "an unknown member where it is refused"},
    {"{\"count\":\"x\",\"enabled\":0,\"nam\":1}", JSONX_REFUSE_UNKNOWN,
     "name is required; count must be an integer; enabled must be true or false; nam is not "
     "known; ",
     "several faults at once"},
    {"[]", 0, " must be an object; ", "an array for the whole"},
};
/* clang-format on */

static void
test_read(TALLOC_CTX *mem)
{
    const size_t count = sizeof(fields) / sizeof(fields[0]);

    for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
        struct sample sample = {0};
        char *faults = talloc_strdup(mem, "");
        json_t *value = NULL;
        jsonx_parse(mem, readings[i].text, strlen(readings[i].text), 9, &value, NULL);
        enum az_status status =
            jsonx_read(value, fields, count, readings[i].flags, &sample, gather, &faults);
        is_str(faults, readings[i].faults, "read: %s", readings[i].name);
        is_int(status, readings[i].faults[0] == '\0' ? AZ_OK : AZ_INVALID, "... and its status");
        is_int(jsonx_read(value, fields, count, readings[i].flags, &sample, NULL, NULL), status,
               "... the same without a listener");
    }
}

static void
test_read_targets(TALLOC_CTX *mem)
{
    static const char text[] = "{\"name\":\"x\",\"count\":7,\"enabled\":true,\"tags\":[\"a\"],"
                               "\"meta\":{\"k\":1},\"any\":null,\"list\":[1]}";
    struct sample sample = {0};
    struct sample kept = {.count = 99, .enabled = true};
    json_t *value = NULL;
    json_t *only_name = NULL;

    jsonx_parse(mem, text, strlen(text), 9, &value, NULL);
    jsonx_parse(mem, "{\"name\":\"y\"}", 12, 9, &only_name, NULL);
    jsonx_read(value, fields, 7, 0, &sample, NULL, NULL);
    is_str(sample.name, "x", "read stores a text");
    is_int(sample.count, 7, "read stores an integer");
    ok(sample.enabled, "read stores a boolean");
    ok(sample.tags == json_object_get(value, "tags"), "read stores an array of texts");
    ok(sample.meta == json_object_get(value, "meta"), "read stores an object");
    ok(json_is_null(sample.any), "read stores a null where anything goes");
    ok(sample.list == json_object_get(value, "list"), "read stores an array");
    jsonx_read(only_name, fields, 7, 0, &kept, NULL, NULL);
    ok(kept.count == 99 && kept.enabled && kept.tags == NULL && kept.any == NULL,
       "read leaves defaults where members are absent");
}

/* Jansson's allocations, of which the one with number fail_at fails. */
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

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_texts(mem);
    test_depth(mem, 0, false);
    test_depth(mem, 1, false);
    test_depth(mem, 4, true);
    test_depth(mem, 16, false);
    test_depth(mem, 64, true);
    test_depth(mem, 2047, false);
    test_depth_far_past(mem);
    test_own(mem);
    test_dump(mem);
    test_read(mem);
    test_read_targets(mem);
    talloc_free_children(mem);
    test_out_of_memory(mem);
    talloc_free(mem);
    return done();
}
