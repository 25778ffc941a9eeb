/* JSON Pointers (RFC 6901). */
#include "config.h"

#include "base/json/json_pointer.h"

#include <stdint.h>
#include <string.h>

#include "tap.h"

/* The document of RFC 6901 section 5. */
static const char rfc[] =
    "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,"
    "\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8}";

/* clang-format off */
static const struct {
    const char *pointer, *value;
} found[] = {
    {"/foo", "[\"bar\",\"baz\"]"}, {"/foo/0", "\"bar\""}, {"/", "0"}, {"/a~1b", "1"}, {"/c%d", "2"},
    {"/e^f", "3"}, {"/g|h", "4"}, {"/i\\j", "5"}, {"/k\"l", "6"}, {"/ ", "7"}, {"/m~0n", "8"},
};
static const char *const not_found[] = {
    "foo", "/foo/2", "/foo/00", "/foo/-", "/foo/x", "/foo/0/x", "/m~2n", "/m~", "/none",
};
static const char *const good[] = {"", "/", "/a/b", "/~0~1", "//"};
static const char *const bad[] = {"a", "#/a", "/~", "/~2", "/a/~x"};
/* clang-format on */

static void
test_limits(void)
{
    char pointer[JSON_POINTER_TOKEN_MAX + 3] = "/";
    memset(pointer + 1, 'a', JSON_POINTER_TOKEN_MAX + 1);
    ok(!json_pointer_is_good(pointer), "refused: a token of %d octets", JSON_POINTER_TOKEN_MAX + 1);
    pointer[JSON_POINTER_TOKEN_MAX + 1] = '\0';
    ok(json_pointer_is_good(pointer), "... the longest token");
    json_t *array = json_pack("[i,i]", 1, 2);
    ok(json_pointer_place(array, "1") == 1, "the last element");
    ok(json_pointer_place(array, "2") == SIZE_MAX, "... there is none behind it");
    ok(json_pointer_place(array, "18446744073709551616") == SIZE_MAX,
       "an index that does not fit a number is none");
    json_decref(array);
}

int
main(void)
{
    json_t *document = json_loads(rfc, 0, NULL);
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        json_t *wanted = json_loads(found[i].value, JSON_DECODE_ANY, NULL);
        ok(json_equal(json_pointer_get(document, found[i].pointer), wanted),
           "RFC 6901 section 5: %s", found[i].pointer);
        json_decref(wanted);
    }
    ok(json_pointer_get(document, "") == document, "RFC 6901 section 5: the whole document");
    for (size_t i = 0; i < sizeof(not_found) / sizeof(not_found[0]); i++)
        ok(json_pointer_get(document, not_found[i]) == NULL, "nothing there: %s", not_found[i]);
    json_decref(document);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        ok(json_pointer_is_good(good[i]), "RFC 6901 section 3: '%s'", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(!json_pointer_is_good(bad[i]), "RFC 6901 section 3: refused: '%s'", bad[i]);
    test_limits();
    return done();
}
