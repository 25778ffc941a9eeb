/* Counting, adding up and ordering; arrays and sets. */
#include "config.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "rego/builtin/builtin.h"

static bool
collection_is_list(const struct rego_value *value)
{
    return value->type == REGO_ARRAY || value->type == REGO_SET;
}

static const struct rego_value *
run_count(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type == REGO_STRING)
        return rego_integer(machine->arena, (int64_t) utf8_length(arg[0]->text, arg[0]->count));
    return arg[0]->type >= REGO_ARRAY ? rego_integer(machine->arena, arg[0]->count) : NULL;
}

/* Return the sum or the product of the numbers of a list. NULL: undefined, or the engine is asked.
 */
static const struct rego_value *
total_of(struct rego_machine *machine, const struct rego_value *list, bool product)
{
    int64_t total = product;
    if (!collection_is_list(list))
        return NULL;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct rego_value *item = list->item[i];
        if (item->type != REGO_NUMBER)
            return NULL;
        if (item->decimal
            || (product ? __builtin_mul_overflow(total, item->integer, &total)
                        : __builtin_add_overflow(total, item->integer, &total)))
            return rego_give_up(machine, product ? "a product beyond 64-bit integers"
                                                 : "a sum beyond 64-bit integers");
    }
    return rego_integer(machine->arena, total);
}

static const struct rego_value *
run_sum(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return total_of(machine, arg[0], false);
}

static const struct rego_value *
run_product(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return total_of(machine, arg[0], true);
}

/* Return the largest item or the smallest one; of equal ones, which may be spelled in several ways,
 * the last one, as OPA does. */
static const struct rego_value *
extreme_of(const struct rego_value *list, int sign)
{
    const struct rego_value *best = NULL;
    for (uint32_t i = 0; collection_is_list(list) && i < list->count; i++)
        if (best == NULL || sign * rego_compare(list->item[i], best) >= 0)
            best = list->item[i];
    return best;
}

static const struct rego_value *
run_max(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    return extreme_of(arg[0], 1);
}

static const struct rego_value *
run_min(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    return extreme_of(arg[0], -1);
}

static int
compare_for_sort(const void *a, const void *b)
{
    return rego_compare(*(const struct rego_value *const *) a,
                        *(const struct rego_value *const *) b);
}

static const struct rego_value *
run_sort(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!collection_is_list(arg[0]))
        return NULL;
    struct rego_value *sorted = rego_copy(machine->arena, arg[0]);
    if (sorted == NULL)
        return NULL;
    sorted->type = REGO_ARRAY;
    if (arg[0]->type == REGO_ARRAY && sorted->count > 1)
        qsort(sorted->item, sorted->count, sizeof(sorted->item[0]), compare_for_sort);
    for (uint32_t i = 1; i < sorted->count; i++)
        if (rego_compare(sorted->item[i - 1], sorted->item[i]) == 0
            && rego_is_spelled_otherwise(sorted->item[i - 1], sorted->item[i]))
            machine->arena->twins = true; /* OPA does not keep the order of equal ones */
    return sorted;
}

static const struct rego_value *
run_member(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    if (arg[1]->type == REGO_SET)
        return rego_boolean(rego_has(arg[1], arg[0]));
    for (uint32_t i = 0; arg[1]->type == REGO_ARRAY && i < arg[1]->count; i++)
        if (rego_compare(arg[1]->item[i], arg[0]) == 0)
            return &rego_true;
    for (uint32_t i = 0; arg[1]->type == REGO_OBJECT && i < arg[1]->count; i++)
        if (rego_compare(arg[1]->member[i].value, arg[0]) == 0)
            return &rego_true;
    return &rego_false;
}

static const struct rego_value *
run_member_with_key(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    const struct rego_value *value = rego_get(arg[2], arg[0]);
    return rego_boolean(value != NULL && rego_compare(value, arg[1]) == 0);
}

/* Append the items of a list. False: no memory. */
static bool
append_all(struct rego_machine *machine, struct rego_value *array, const struct rego_value *list)
{
    for (uint32_t i = 0; array != NULL && i < list->count; i++)
        if (!rego_append(machine->arena, array, list->item[i]))
            return false;
    return array != NULL;
}

static const struct rego_value *
run_array_concat(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!rego_are(arg, 2, REGO_ARRAY))
        return NULL;
    struct rego_value *both = rego_array(machine->arena, (size_t) arg[0]->count + arg[1]->count);
    return append_all(machine, both, arg[0]) && append_all(machine, both, arg[1]) ? both : NULL;
}

static const struct rego_value *
run_array_flatten(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_ARRAY)
        return NULL;
    struct rego_value *flat = rego_array(machine->arena, 0);
    for (uint32_t i = 0; flat != NULL && i < arg[0]->count; i++) {
        const struct rego_value *item = arg[0]->item[i];
        bool done = item->type == REGO_ARRAY ? append_all(machine, flat, item)
                                             : rego_append(machine->arena, flat, item);
        if (!done)
            return NULL;
    }
    return flat;
}

static const struct rego_value *
run_array_slice(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t start, stop;
    if (arg[0]->type != REGO_ARRAY || !rego_is_integer(arg[1], &start)
        || !rego_is_integer(arg[2], &stop))
        return NULL;
    stop = stop < 0 ? 0 : stop > arg[0]->count ? arg[0]->count : stop;
    start = start < 0 ? 0 : start > stop ? stop : start;
    struct rego_value *slice = rego_array(machine->arena, 0);
    for (int64_t i = start; slice != NULL && i < stop; i++)
        if (!rego_append(machine->arena, slice, arg[0]->item[i]))
            return NULL;
    return slice;
}

static const struct rego_value *
run_array_reverse(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_ARRAY)
        return NULL;
    struct rego_value *reversed = rego_array(machine->arena, 0);
    for (uint32_t i = arg[0]->count; reversed != NULL && i > 0; i--)
        if (!rego_append(machine->arena, reversed, arg[0]->item[i - 1]))
            return NULL;
    return reversed;
}

const struct rego_builtin rego_collection_builtins[] = {
    {"count",             1, run_count          },
    {"sum",               1, run_sum            },
    {"product",           1, run_product        },
    {"max",               1, run_max            },
    {"min",               1, run_min            },
    {"sort",              1, run_sort           },
    {"internal.member_2", 2, run_member         },
    {"internal.member_3", 3, run_member_with_key},
    {"array.concat",      2, run_array_concat   },
    {"array.flatten",     1, run_array_flatten  },
    {"array.slice",       3, run_array_slice    },
    {"array.reverse",     1, run_array_reverse  },
    {NULL,                0, NULL               },
};

static const struct rego_value *
run_and(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!rego_are(arg, 2, REGO_SET))
        return NULL;
    struct rego_value *both = rego_set(machine->arena, 0);
    for (uint32_t i = 0; both != NULL && i < arg[0]->count; i++) {
        const struct rego_value *item = arg[0]->item[i], *other = rego_get(arg[1], item);
        if (other != NULL && rego_is_spelled_otherwise(item, other))
            machine->arena->twins = true;
        if (other != NULL && !rego_append(machine->arena, both, item))
            return NULL;
    }
    return both;
}

/* Add the items of a set to another that this evaluation made. */
static bool
add_all(struct rego_machine *machine, struct rego_value *set, const struct rego_value *items)
{
    for (uint32_t i = 0; set != NULL && i < items->count; i++)
        if (!rego_spend(machine, set->count) || !rego_add(machine->arena, set, items->item[i]))
            return false;
    return set != NULL;
}

static const struct rego_value *
run_or(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!rego_are(arg, 2, REGO_SET))
        return NULL;
    struct rego_value *either = rego_copy(machine->arena, arg[0]);
    return add_all(machine, either, arg[1]) ? either : NULL;
}

/* True for a set of sets. */
static bool
is_set_of_sets(const struct rego_value *value)
{
    for (uint32_t i = 0; value->type == REGO_SET && i < value->count; i++)
        if (value->item[i]->type != REGO_SET)
            return false;
    return value->type == REGO_SET;
}

static const struct rego_value *
run_union(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!is_set_of_sets(arg[0]))
        return NULL;
    struct rego_value *all = rego_set(machine->arena, 0);
    for (uint32_t i = 0; all != NULL && i < arg[0]->count; i++)
        if (!add_all(machine, all, arg[0]->item[i]))
            return NULL;
    return all;
}

static const struct rego_value *
run_intersection(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!is_set_of_sets(arg[0]))
        return NULL;
    const struct rego_value *all =
        arg[0]->count > 0 ? arg[0]->item[0] : rego_set(machine->arena, 0);
    for (uint32_t i = 1; all != NULL && i < arg[0]->count; i++) {
        const struct rego_value *pair[2] = {all, arg[0]->item[i]};
        all = run_and(machine, pair);
    }
    return all;
}

const struct rego_builtin rego_set_builtins[] = {
    {"and",          2, run_and         },
    {"or",           2, run_or          },
    {"union",        1, run_union       },
    {"intersection", 1, run_intersection},
    {NULL,           0, NULL            },
};
