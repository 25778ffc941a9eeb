/* Comparisons and arithmetic of 64-bit integers. Larger numbers and fractions are left to the
 * engine, which has integers of any size and mantissas of 64 bits. */
#include "config.h"

#include "rego/builtin/builtin.h"

#define BEYOND "a number that is no 64-bit integer"

static const struct rego_value *
run_equal(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    return rego_boolean(rego_compare(arg[0], arg[1]) == 0);
}

static const struct rego_value *
run_not_equal(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    return rego_boolean(rego_compare(arg[0], arg[1]) != 0);
}

static const struct rego_value *
run_less(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    return rego_boolean(rego_compare(arg[0], arg[1]) < 0);
}

static const struct rego_value *
run_at_most(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    return rego_boolean(rego_compare(arg[0], arg[1]) <= 0);
}

static const struct rego_value *
run_greater(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    return rego_boolean(rego_compare(arg[0], arg[1]) > 0);
}

static const struct rego_value *
run_at_least(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    return rego_boolean(rego_compare(arg[0], arg[1]) >= 0);
}

const struct rego_builtin rego_comparison_builtins[] = {
    {"eq",    2, run_equal    },
    {"equal", 2, run_equal    },
    {"neq",   2, run_not_equal},
    {"lt",    2, run_less     },
    {"lte",   2, run_at_most  },
    {"gt",    2, run_greater  },
    {"gte",   2, run_at_least },
    {NULL,    0, NULL         },
};

/* Read two numbers. False: an argument is not a number (undefined), or has no exact answer here. */
static bool
read_integers(struct rego_machine *machine, const struct rego_value *const *arg, size_t count,
              int64_t *ret)
{
    if (!rego_are(arg, count, REGO_NUMBER))
        return false;
    for (size_t i = 0; i < count; i++)
        if (arg[i]->decimal || !rego_is_integer(arg[i], &ret[i])) {
            rego_give_up(machine, BEYOND);
            return false;
        }
    return true;
}

/* Return the result of a calculation, unless it went beyond 64 bits. */
static const struct rego_value *
result_of(struct rego_machine *machine, bool overflow, int64_t result)
{
    return overflow ? rego_give_up(machine, BEYOND) : rego_integer(machine->arena, result);
}

static const struct rego_value *
run_plus(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n[2], sum;
    if (!read_integers(machine, arg, 2, n))
        return NULL;
    bool overflow = __builtin_add_overflow(n[0], n[1], &sum);
    return result_of(machine, overflow, sum);
}

/* Subtract numbers, or sets. */
static const struct rego_value *
run_minus(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n[2], difference;
    if (!rego_are(arg, 2, REGO_SET)) {
        if (!read_integers(machine, arg, 2, n))
            return NULL;
        bool overflow = __builtin_sub_overflow(n[0], n[1], &difference);
        return result_of(machine, overflow, difference);
    }
    struct rego_value *rest = rego_set(machine->arena, arg[0]->count);
    for (uint32_t i = 0; rest != NULL && i < arg[0]->count; i++)
        if (!rego_has(arg[1], arg[0]->item[i])
            && !rego_append(machine->arena, rest, arg[0]->item[i]))
            return NULL;
    return rest;
}

static const struct rego_value *
run_times(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n[2], product;
    if (!read_integers(machine, arg, 2, n))
        return NULL;
    bool overflow = __builtin_mul_overflow(n[0], n[1], &product);
    return result_of(machine, overflow, product);
}

static const struct rego_value *
run_divide(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n[2];
    if (!read_integers(machine, arg, 2, n) || n[1] == 0)
        return NULL;
    if (n[0] == 0 && n[1] < 0)
        return rego_give_up(machine, "a division that gives -0");
    if (n[1] == -1)
        return result_of(machine, n[0] == INT64_MIN, n[0] == INT64_MIN ? 0 : -n[0]);
    if (n[0] % n[1] != 0)
        return rego_give_up(machine, "a division with a remainder");
    return rego_integer(machine->arena, n[0] / n[1]);
}

static const struct rego_value *
run_remainder(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n[2];
    if (!read_integers(machine, arg, 2, n) || n[1] == 0)
        return NULL;
    return rego_integer(machine->arena, n[1] == -1 ? 0 : n[0] % n[1]);
}

static const struct rego_value *
run_absolute(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n;
    if (!read_integers(machine, arg, 1, &n))
        return NULL;
    return result_of(machine, n == INT64_MIN, n < 0 && n != INT64_MIN ? -n : n);
}

/* Return an integer as it is: rounding does not change it. */
static const struct rego_value *
run_round(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n;
    return read_integers(machine, arg, 1, &n) ? arg[0] : NULL;
}

/* Return the integers from one to another, up or down. */
static const struct rego_value *
range_of(struct rego_machine *machine, int64_t from, int64_t to, int64_t step)
{
    struct rego_value *range = rego_array(machine->arena, 0);
    step = from <= to ? step : -step;
    for (int64_t at = from; range != NULL && (step > 0 ? at <= to : at >= to);) {
        if (!rego_append(machine->arena, range, rego_integer(machine->arena, at)))
            return NULL;
        if (__builtin_add_overflow(at, step, &at))
            break;
    }
    return range;
}

static const struct rego_value *
run_range(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n[2];
    return read_integers(machine, arg, 2, n) ? range_of(machine, n[0], n[1], 1) : NULL;
}

static const struct rego_value *
run_range_step(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n[3];
    if (!read_integers(machine, arg, 3, n) || n[2] <= 0)
        return NULL;
    return range_of(machine, n[0], n[1], n[2]);
}

const struct rego_builtin rego_number_builtins[] = {
    {"plus",               2, run_plus      },
    {"minus",              2, run_minus     },
    {"mul",                2, run_times     },
    {"div",                2, run_divide    },
    {"rem",                2, run_remainder },
    {"abs",                1, run_absolute  },
    {"ceil",               1, run_round     },
    {"floor",              1, run_round     },
    {"round",              1, run_round     },
    {"numbers.range",      2, run_range     },
    {"numbers.range_step", 3, run_range_step},
    {NULL,                 0, NULL          },
};
