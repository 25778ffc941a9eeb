/* Narrowing of authorization_details (RFC 9396 6) against a model that tries every assignment. An
 * input is the narrow list, a line break and the wide one. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "fuzz/fuzz.h"
#include "policy/decide/details.h"

#define DEPTH 16

/* The model tries every assignment, so it takes short lists only. */
#define MODEL_MAX 6

static json_t *
parse(TALLOC_CTX *mem, const char *text, size_t length)
{
    json_t *value = NULL;
    return jsonx_parse(mem, text, length, DEPTH, &value, NULL) == AZ_OK ? value : NULL;
}

/* True if each item of one list is in the other. */
static bool
model_subset(json_t *list, json_t *of)
{
    size_t i, j;
    json_t *item, *other;
    json_array_foreach (list, i, item) {
        bool found = false;
        json_array_foreach (of, j, other)
            found = found || json_equal(item, other);
        if (!found)
            return false;
    }
    return true;
}

/* True if the wide entry becomes the narrow one when the lists that may be narrowed are replaced.
 */
static bool
model_entry(json_t *narrow, json_t *wide)
{
    static const char *const names[] = {"actions", "datatypes", "locations", "privileges"};
    if (!json_is_object(narrow) || !json_is_object(wide))
        return false;
    json_t *copy = json_copy(wide);
    for (size_t i = 0; i < 4; i++) {
        json_t *list = json_object_get(narrow, names[i]), *limit = json_object_get(wide, names[i]);
        if (json_is_array(list) && json_is_array(limit) && json_array_size(list) > 0
            && model_subset(list, limit))
            json_object_set(copy, names[i], list);
    }
    bool same = json_equal(copy, narrow);
    json_decref(copy);
    return same;
}

/* True if the entries from `index` on can be assigned to wide ones that are not taken. */
static bool
model_within(json_t *narrow, json_t *wide, size_t index, unsigned taken)
{
    if (index == json_array_size(narrow))
        return true;
    for (size_t i = 0; i < json_array_size(wide); i++)
        if ((taken & (1U << i)) == 0
            && model_entry(json_array_get(narrow, index), json_array_get(wide, i))
            && model_within(narrow, wide, index + 1, taken | (1U << i)))
            return true;
    return false;
}

static bool
all_objects(json_t *list)
{
    size_t i;
    json_t *entry;
    json_array_foreach (list, i, entry)
        if (!json_is_object(entry))
            return false;
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *) data, *line = memchr(data, '\n', size);
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *narrow = line != NULL ? parse(mem, text, (size_t) (line - text)) : NULL;
    json_t *wide = line != NULL ? parse(mem, line + 1, size - (size_t) (line + 1 - text)) : NULL;
    size_t entry = SIZE_MAX, count = json_array_size(narrow);
    bool within = details_within(narrow, wide, &entry);
    MUST(entry <= count);
    MUST(!within || entry == count);
    if (narrow != NULL && !json_is_array(narrow))
        MUST(!within);
    else if (wide != NULL && !json_is_array(wide))
        MUST(within == (count == 0));
    else if (count <= MODEL_MAX && json_array_size(wide) <= MODEL_MAX)
        MUST(within == model_within(narrow, wide, 0, 0));
    else
        MUST(!within || count <= json_array_size(wide));
    if (json_is_array(narrow) && count <= DETAILS_MAX)
        MUST(details_within(narrow, narrow, NULL) == all_objects(narrow));
    talloc_free(mem);
    return 0;
}
