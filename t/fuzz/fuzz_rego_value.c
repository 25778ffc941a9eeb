/* JSON texts as values of Rego. A text that is read is written as one that is read again and is the
 * same value, and the order of values is one. */
#include "config.h"

#include <string.h>

#include "base/buf.h"
#include "base/json/jsonx.h"
#include "fuzz/fuzz.h"
#include "rego/value.h"

#define OCTETS_MAX (4 << 20)

/* Check that the items of a list are ordered in one way, whichever is compared first. */
static void
check_order(const struct rego_value *list)
{
    for (uint32_t i = 0; i + 1 < list->count && i < 16; i++) {
        int order = rego_compare(list->item[i], list->item[i + 1]);
        int other = rego_compare(list->item[i + 1], list->item[i]);
        MUST((order < 0) == (other > 0) && (order == 0) == (other == 0));
    }
}

/* Check that a value of Jansson is read as its text is. */
static void
check_tree(TALLOC_CTX *mem, const char *data, size_t size)
{
    struct rego_arena arena;
    json_t *json = NULL;
    size_t length = 0, text_length = 0;
    rego_arena_init(&arena, mem, OCTETS_MAX);
    if (jsonx_parse(mem, data, size, REGO_DEPTH_MAX, &json, NULL) != AZ_OK)
        return;
    const char *text = jsonx_dump_around(mem, "", json, "", &text_length);
    const struct rego_value *tree = rego_of_json(&arena, json, &length);
    const struct rego_value *read = text != NULL ? rego_parse(&arena, text, text_length) : NULL;
    MUST((tree != NULL) == (read != NULL) || arena.full);
    if (tree == NULL || read == NULL)
        return;
    MUST(length == text_length && tree->traits == read->traits);
    MUST(rego_compare(tree, read) == 0 && !rego_is_spelled_otherwise(tree, read));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct rego_arena arena;
    rego_arena_init(&arena, mem, OCTETS_MAX);
    const struct rego_value *value = rego_parse(&arena, size > 0 ? (const char *) data : "", size);
    if (value != NULL) {
        BUF_AUTO text;
        buf_init(&text, mem, OCTETS_MAX);
        MUST(rego_write(&text, value));
        const struct rego_value *again = rego_parse(&arena, text.data, text.len);
        MUST(again != NULL || arena.full);
        MUST(again == NULL || rego_compare(value, again) == 0);
        if (value->type == REGO_ARRAY)
            check_order(value);
    }
    check_tree(mem, size > 0 ? (const char *) data : "", size);
    talloc_free(mem);
    return 0;
}
