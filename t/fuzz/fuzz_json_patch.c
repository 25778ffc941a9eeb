/* JSON Patch (RFC 6902). An input is the target, a line break and the patch. */
#include "config.h"

#include <string.h>

#include "base/json_patch.h"
#include "base/jsonx.h"
#include "fuzz/fuzz.h"

#define DEPTH 32

static json_t *
parse(TALLOC_CTX *mem, const char *text, size_t length)
{
    json_t *value = NULL;
    return jsonx_parse(mem, text, length, DEPTH, &value, NULL) == AZ_OK ? value : NULL;
}

/* A patch that puts the value where the pointer says; an answer's value must be found there. */
static void
check_read_back(TALLOC_CTX *mem, const json_t *result, const json_t *element)
{
    const char *op = json_string_value(json_object_get(element, "op")),
               *path = json_string_value(json_object_get(element, "path")), *why;
    size_t length = path != NULL ? strlen(path) : 0;
    json_t *same;
    if (op == NULL || (strcmp(op, "add") != 0 && strcmp(op, "replace") != 0)
        || (length > 0 && path[length - 1] == '-'))
        return;
    json_t *test = jsonx_own(mem, json_pack("[{s:s,s:s,s:O}]", "op", "test", "path", path, "value",
                                            json_object_get(element, "value")));
    MUST(json_patch(mem, result, test, DEPTH, &same, &why) == AZ_OK);
    MUST(json_equal(same, (json_t *) (uintptr_t) result));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *text = (const char *) data, *why = NULL;
    const char *line = size > 0 ? memchr(text, '\n', size) : NULL;
    size_t first = line != NULL ? (size_t) (line - text) : 0, skip = line != NULL ? first + 1 : 0;
    json_t *target = parse(mem, text, first), *patch = parse(mem, text + skip, size - skip),
           *result = NULL, *again;

    if (target != NULL && patch != NULL) {
        const char *before = jsonx_dump(mem, target), *patch_before = jsonx_dump(mem, patch);
        enum az_status st = json_patch(mem, target, patch, DEPTH, &result, &why);
        MUST(st == AZ_OK || st == AZ_INVALID || st == AZ_CONFLICT);
        MUST((st == AZ_OK) == (result != NULL) && (st == AZ_OK || *why != '\0'));
        /* Both are left as they were; the same gives the same. */
        MUST(strcmp(before, jsonx_dump(mem, target)) == 0);
        MUST(strcmp(patch_before, jsonx_dump(mem, patch)) == 0);
        MUST(json_patch(mem, target, patch, DEPTH, &again, &why) == st);
        if (result != NULL) {
            const char *whole = jsonx_dump(mem, result);
            MUST(json_equal(again, result));
            /* Within the bound on depth: what the parser takes. */
            MUST(parse(mem, whole, strlen(whole)) != NULL);
            if (json_array_size(patch) > 0)
                check_read_back(mem, result, json_array_get(patch, json_array_size(patch) - 1));
        }
    }
    talloc_free(mem);
    return 0;
}
