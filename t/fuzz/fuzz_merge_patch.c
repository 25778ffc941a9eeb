/* JSON Merge Patch (RFC 7396). An input is the target, a line break and the patch. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/merge_patch.h"
#include "fuzz/fuzz.h"

#define DEPTH 32

static json_t *
parse(TALLOC_CTX *mem, const char *text, size_t length)
{
    json_t *value = NULL;
    return jsonx_parse(mem, text, length, DEPTH, &value, NULL) == AZ_OK ? value : NULL;
}

static size_t
depth_of(const json_t *value)
{
    size_t most = 0, index;
    const char *name;
    json_t *item, *plain = (json_t *) (uintptr_t) value;
    if (!json_is_object(value) && !json_is_array(value))
        return 0;
    json_object_foreach (plain, name, item) {
        size_t depth = depth_of(item);
        most = depth > most ? depth : most;
    }
    json_array_foreach (plain, index, item) {
        size_t depth = depth_of(item);
        most = depth > most ? depth : most;
    }
    return most + 1;
}

/* Section 1 in words: what the patch names is as it says, what it does not name is as it was. */
static void
check_merged(const json_t *target, const json_t *patch, const json_t *merged)
{
    const char *name;
    json_t *value;
    if (!json_is_object(patch)) {
        MUST(json_equal(merged, patch));
        return;
    }
    MUST(json_is_object(merged));
    json_object_foreach ((json_t *) (uintptr_t) patch, name, value) {
        const json_t *now = json_object_get(merged, name);
        MUST(json_is_null(value) == (now == NULL));
        if (now != NULL)
            check_merged(json_object_get(target, name), value, now);
    }
    json_object_foreach ((json_t *) (uintptr_t) merged, name, value)
        if (json_object_get(patch, name) == NULL)
            MUST(json_equal(value, json_object_get(target, name)));
    json_object_foreach ((json_t *) (uintptr_t) target, name, value)
        if (json_object_get(patch, name) == NULL)
            MUST(json_object_get(merged, name) != NULL);
}

static void
check(TALLOC_CTX *mem, const json_t *target, const json_t *patch)
{
    const char *target_text = jsonx_dump(mem, target), *patch_text = jsonx_dump(mem, patch);
    json_t *merged = jsonx_own(mem, merge_patch(target, patch));
    MUST(merged != NULL);
    const char *merged_text = jsonx_dump(mem, merged);
    check_merged(target, patch, merged);
    MUST(depth_of(merged) <= DEPTH);
    /* Both are left as they were, and once is as good as twice. */
    json_t *again = jsonx_own(mem, merge_patch(merged, patch));
    MUST(again != NULL && json_equal(again, merged));
    MUST(strcmp(merged_text, jsonx_dump(mem, merged)) == 0);
    MUST(target == NULL || strcmp(target_text, jsonx_dump(mem, target)) == 0);
    MUST(strcmp(patch_text, jsonx_dump(mem, patch)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *text = (const char *) data;
    const char *line = size > 0 ? memchr(text, '\n', size) : NULL;
    size_t first = line != NULL ? (size_t) (line - text) : 0, skip = line != NULL ? first + 1 : 0;
    json_t *target = parse(mem, text, first), *patch = parse(mem, text + skip, size - skip);

    if (patch != NULL) {
        check(mem, NULL, patch);
        check(mem, patch, patch);
    }
    if (patch != NULL && target != NULL) {
        check(mem, target, patch);
        check(mem, patch, target);
    }
    talloc_free(mem);
    return 0;
}
