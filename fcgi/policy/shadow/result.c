#include "config.h"

#include "policy/shadow/result.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "policy/impact/groups.h"

/* Members that are not sums. */
#define EXAMPLES "examples"
#define OTHERS "others"

/* ---- sums */

/* Add the numbers of an object to those of another, at any depth. */
static void
add_numbers(struct jsonx_build *sum, const json_t *numbers)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) numbers, name, value) {
        json_t *before = json_object_get(sum->value, name);
        if (json_is_integer(value)) {
            jsonx_set(sum, name,
                      json_integer(json_integer_value(before) + json_integer_value(value)));
        } else if (json_is_object(value)) {
            struct jsonx_build inner = {before, false};
            if (before == NULL) {
                jsonx_set(sum, name, json_object());
                inner.value = json_object_get(sum->value, name);
            }
            add_numbers(&inner, value);
            sum->lost = sum->lost || inner.lost;
        } else if (before == NULL) {
            jsonx_set(sum, name, json_incref(value));
        }
    }
}

/* True if all texts of the two items are equal. */
static bool
texts_within(const json_t *one, const json_t *other)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) one, name, value)
        if (json_is_string(value) && !json_equal(value, json_object_get(other, name)))
            return false;
    return true;
}

/* True if two items of a list are about the same. The item of all others has no text. */
static bool
is_same(const json_t *one, const json_t *other)
{
    bool others = json_object_get(one, OTHERS) != NULL;
    if (others != (json_object_get(other, OTHERS) != NULL))
        return false;
    return others || (texts_within(one, other) && texts_within(other, one));
}

static json_t *
find_item(const json_t *list, const json_t *wanted)
{
    size_t index;
    json_t *item;
    json_array_foreach (list, index, item)
        if (is_same(item, wanted))
            return item;
    return NULL;
}

/* Add the numbers of an item to those of all others of a list. */
static void
add_to_others(struct jsonx_build *list, const json_t *item)
{
    json_t *wanted = json_pack("{s:{}}", OTHERS), *found;
    struct jsonx_build numbers = {json_object(), wanted == NULL};
    const char *name;
    json_t *value;
    if ((found = find_item(list->value, wanted)) == NULL) {
        jsonx_append(list, wanted);
        found = wanted;
    } else {
        json_decref(wanted);
    }
    json_object_foreach ((json_t *) (uintptr_t) item, name, value)
        if (json_is_integer(value))
            jsonx_set(&numbers, name, json_incref(value));
    struct jsonx_build sum = {json_object_get(found, OTHERS), numbers.lost};
    add_numbers(&sum, numbers.value);
    json_decref(numbers.value);
    list->lost = list->lost || sum.lost;
}

/* Add an item to a list that has at most so many. */
static void
add_item(struct jsonx_build *list, const json_t *item, size_t most)
{
    struct jsonx_build found = {find_item(list->value, item), false};
    if (found.value != NULL)
        add_numbers(&found, item);
    else if (json_array_size(list->value) < most || json_object_get(item, OTHERS) != NULL)
        jsonx_append(list, jsonx_deep_copy(item));
    else
        add_to_others(list, item);
    list->lost = list->lost || found.lost;
}

static void
add_items(struct jsonx_build *sum, const json_t *list)
{
    size_t index;
    const json_t *item;
    json_array_foreach (list, index, item)
        add_item(sum, item, SHADOW_KEYS_MAX);
}

/* ---- examples */

static bool
of_same_client(const json_t *one, const json_t *other)
{
    const json_t *a = json_object_get(one, "clientId"), *b = json_object_get(other, "clientId");
    return a == b || json_equal(a, b);
}

/* Return the place of the oldest example whose client has a newer one, or of the oldest. */
static size_t
oldest_double(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        for (size_t j = i + 1; j < json_array_size(list); j++)
            if (of_same_client(json_array_get(list, i), json_array_get(list, j)))
                return i;
    return 0;
}

/* Add examples {class: [example]}. */
static void
add_examples(struct jsonx_build *sum, const json_t *examples)
{
    const char *class;
    json_t *list, *item;
    size_t index;
    json_object_foreach ((json_t *) (uintptr_t) examples, class, list) {
        if (json_object_get(sum->value, class) == NULL)
            jsonx_set(sum, class, json_array());
        struct jsonx_build kept = {json_object_get(sum->value, class), false};
        json_array_foreach (list, index, item) {
            jsonx_append(&kept, json_incref(item));
            if (json_array_size(kept.value) > SHADOW_EXAMPLES)
                json_array_remove(kept.value, oldest_double(kept.value));
        }
        sum->lost = sum->lost || kept.lost;
    }
}

/* ---- the result */

/* Add one member of a report. */
static void
add_member(struct jsonx_build *sum, const char *name, json_t *value)
{
    bool list = json_is_array(value);
    if (!list && !json_is_object(value)) {
        json_int_t before = json_integer_value(json_object_get(sum->value, name));
        jsonx_set(sum, name, json_integer(before + json_integer_value(value)));
        return;
    }
    if (json_object_get(sum->value, name) == NULL)
        jsonx_set(sum, name, list ? json_array() : json_object());
    struct jsonx_build inner = {json_object_get(sum->value, name), false};
    if (list)
        add_items(&inner, value);
    else if (strcmp(name, EXAMPLES) == 0)
        add_examples(&inner, value);
    else
        add_numbers(&inner, value);
    sum->lost = sum->lost || inner.lost;
}

json_t *
shadow_result_add(TALLOC_CTX *mem, const json_t *result, const json_t *report)
{
    json_t *begun = result != NULL ? jsonx_deep_copy(result) : json_object();
    struct jsonx_build sum = {jsonx_own(mem, begun), false};
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) report, name, value)
        add_member(&sum, name, value);
    return jsonx_built(&sum);
}

/* ---- showing */

static const char *
text_of(const json_t *item)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) item, name, value)
        if (json_is_string(value))
            return json_string_value(value);
    return "";
}

/* Sort by count, the largest first, then by name; the sum of all others comes last. */
static int
by_weight(const void *a, const void *b)
{
    const json_t *one = *(json_t *const *) a, *other = *(json_t *const *) b;
    bool last = json_object_get(one, OTHERS) != NULL;
    json_int_t left = groups_sum(one), right = groups_sum(other);
    if (last != (json_object_get(other, OTHERS) != NULL))
        return last ? 1 : -1;
    if (left != right)
        return left < right ? 1 : -1;
    return strcmp(text_of(one), text_of(other));
}

/* Return a group with its largest keys, a new reference. */
static json_t *
show_group(TALLOC_CTX *mem, const json_t *group, size_t keys)
{
    size_t count = json_array_size(group);
    const json_t **item = talloc_array(mem, const json_t *, (unsigned) count + 1);
    struct jsonx_build shown = {json_array(), item == NULL};
    for (size_t i = 0; item != NULL && i < count; i++)
        item[i] = json_array_get(group, i);
    if (item != NULL)
        qsort(item, count, sizeof(*item), by_weight);
    for (size_t i = 0; item != NULL && i < count; i++)
        add_item(&shown, item[i], keys);
    talloc_free(item);
    if (shown.lost) {
        json_decref(shown.value);
        return NULL;
    }
    return shown.value;
}

/* Return the number of keys of a group. */
static json_t *
count_keys(const json_t *group)
{
    size_t index, count = 0;
    const json_t *item;
    json_array_foreach (group, index, item)
        count += json_object_get(item, OTHERS) == NULL;
    return json_integer((json_int_t) count);
}

/* Return a result with the largest keys of each group, at most so many. */
static struct jsonx_build
cut_keys(TALLOC_CTX *mem, const json_t *result, size_t keys)
{
    struct jsonx_build out = {jsonx_own(mem, json_object()), false};
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) result, name, value)
        jsonx_set(&out, name,
                  json_is_array(value) ? show_group(mem, value, keys) : json_incref(value));
    return out;
}

json_t *
shadow_result_show(TALLOC_CTX *mem, const json_t *result, size_t keys)
{
    struct jsonx_build out = cut_keys(mem, result, keys);
    jsonx_set(&out, "clients", count_keys(json_object_get(result, "byClient")));
    jsonx_set(&out, "people", count_keys(json_object_get(result, "bySubject")));
    return jsonx_built(&out);
}

const char *
shadow_result_text(TALLOC_CTX *mem, const json_t *result, size_t most)
{
    const char *text = jsonx_dump(mem, result);
    for (size_t keys = SHADOW_KEYS_MAX; text != NULL && strlen(text) > most && keys > 0;
         keys /= 10) {
        struct jsonx_build cut = cut_keys(mem, result, keys);
        json_object_del(cut.value, EXAMPLES);
        result = jsonx_built(&cut);
        text = result != NULL ? jsonx_dump(mem, result) : NULL;
    }
    return text;
}
