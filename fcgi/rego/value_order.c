/* The order of values. */
#include "config.h"

#include <string.h>

#include "rego/number.h"
#include "rego/value.h"

static int
rego_order_compare_texts(const struct rego_value *a, const struct rego_value *b)
{
    uint32_t shorter = a->count < b->count ? a->count : b->count;
    int order = memcmp(a->text, b->text, shorter);
    return order != 0 ? order : (a->count > b->count) - (a->count < b->count);
}

static int
rego_order_compare_items(const struct rego_value *a, const struct rego_value *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        int order = rego_compare(a->item[i], b->item[i]);
        if (order != 0)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

/* Compare the keys first, pair by pair, then the values (ast.Object.Compare of OPA). */
static int
compare_objects(const struct rego_value *a, const struct rego_value *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        int order = rego_compare(a->member[i].key, b->member[i].key);
        if (order == 0)
            order = rego_compare(a->member[i].value, b->member[i].value);
        if (order != 0)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

bool
rego_is_spelled_otherwise(const struct rego_value *a, const struct rego_value *b)
{
    if (a == b)
        return false;
    if (a->type == REGO_NUMBER)
        return (a->decimal || b->decimal)
               && (a->decimal != b->decimal || strcmp(a->text, b->text) != 0);
    bool other = false;
    if (a->type == REGO_OBJECT)
        for (uint32_t i = 0; i < a->count && !other; i++)
            other = rego_is_spelled_otherwise(a->member[i].key, b->member[i].key)
                    || rego_is_spelled_otherwise(a->member[i].value, b->member[i].value);
    else if (a->type >= REGO_ARRAY)
        for (uint32_t i = 0; i < a->count && !other; i++)
            other = rego_is_spelled_otherwise(a->item[i], b->item[i]);
    return other;
}

int
rego_compare(const struct rego_value *a, const struct rego_value *b)
{
    if (a == b)
        return 0;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    switch ((enum rego_type) a->type) {
    case REGO_NULL:
        return 0;
    case REGO_BOOLEAN:
        return a->boolean - b->boolean;
    case REGO_NUMBER:
        if (!a->decimal && !b->decimal)
            return (a->integer > b->integer) - (a->integer < b->integer);
        return number_compare(a, b);
    case REGO_STRING:
        return rego_order_compare_texts(a, b);
    case REGO_OBJECT:
        return compare_objects(a, b);
    case REGO_ARRAY:
    case REGO_SET:
        break;
    }
    return rego_order_compare_items(a, b);
}
