#include "config.h"

#include "base/json/schema/schema_value.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"

/* A double holds every integer up to this one exactly. */
#define EXACT_MAX 9007199254740992.0

/* Return a copy in which equal numbers are written alike. */
static json_t *
normalise(const json_t *value)
{
    size_t index;
    const char *name;
    json_t *item;
    double number = json_real_value(value);
    bool exact = json_is_real(value) && number >= -EXACT_MAX && number <= EXACT_MAX;
    if (exact && (double) (json_int_t) number == number)
        return json_integer((json_int_t) number);
    if (!json_is_array(value) && !json_is_object(value))
        return json_incref(schema_plain(value));
    struct jsonx_build copy = {json_is_array(value) ? json_array() : json_object(), false};
    json_array_foreach (value, index, item)
        jsonx_append(&copy, normalise(item));
    json_object_foreach (schema_plain(value), name, item)
        jsonx_set(&copy, name, normalise(item));
    if (copy.lost)
        json_decref(copy.value);
    return jsonx_built(&copy);
}

char *
schema_value_text(const json_t *value)
{
    json_t *copy = normalise(value);
    char *text = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    json_decref(copy);
    return text;
}

bool
schema_value_same(const json_t *a, const json_t *b, bool *ret_no_memory)
{
    if (json_is_string(a) || json_is_string(b))
        return json_equal(a, b);
    char *left = schema_value_text(a), *right = schema_value_text(b);
    bool same = left != NULL && right != NULL && strcmp(left, right) == 0;
    *ret_no_memory |= left == NULL || right == NULL;
    free(left);
    free(right);
    return same;
}

bool
schema_value_less(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) && json_is_integer(b))
        return json_integer_value(a) < json_integer_value(b);
    return json_number_value(a) < json_number_value(b);
}
