#include "config.h"

#include "rego/reach.h"

#include <string.h>

#include "rego/builtins.h"
#include "rego/reach_private.h"

static bool same_blocks(struct reach *reach, const struct rego_block *one,
                        const struct rego_block *other, uint32_t count);

bool
reach_same_value(const struct rego_value *one, const struct rego_value *other)
{
    if (one == NULL || other == NULL)
        return one == other;
    return rego_compare(one, other) == 0 && !rego_is_spelled_otherwise(one, other);
}

bool
reach_visit(const struct rego_block *block, uint32_t count, reach_visit_fn *visit, void *arg)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < block[i].count; k++) {
            const struct rego_statement *statement = &block[i].statement[k];
            if (!visit(arg, statement))
                return false;
            if (rego_has_blocks(statement)
                && !reach_visit(statement->block, statement->count, visit, arg))
                return false;
        }
    return true;
}

/* ---- statements that do the same */

static bool
same_operand(const struct rego_operand *one, const struct rego_operand *other)
{
    return one->local == other->local && reach_same_value(one->constant, other->constant);
}

static bool
same_operands(const struct rego_statement *one, const struct rego_statement *other)
{
    for (uint32_t i = 0; i < one->count; i++)
        if (!same_operand(&one->operand[i], &other->operand[i]))
            return false;
    return true;
}

/* Let a function stand in the place of another one; what it does is compared later. False: they
 * differ, or another one stands there. */
static bool
pair_functions(struct reach *reach, const struct rego_function *one,
               const struct rego_function *other)
{
    struct reached *reached = &reach->function[one->index];
    if (reached->one != NULL)
        return reached->other == other;
    if (one->params != other->params || one->returns != other->returns
        || one->locals != other->locals || one->blocks != other->blocks)
        return false;
    reached->one = one;
    reached->other = other;
    reach->order[reach->count++] = one->index;
    return true;
}

/* Pair all functions below a path, any of which a dynamic call may call. */
static bool
pair_tree(struct reach *reach, const struct rego_value *one, const struct rego_value *other)
{
    if (one == NULL || other == NULL)
        return one == other;
    if (one->type != other->type)
        return false;
    if (one->type != REGO_OBJECT)
        return pair_functions(reach, &reach->one->plan->function[one->integer],
                              &reach->other->plan->function[other->integer]);
    if (one->count != other->count)
        return false;
    for (uint32_t i = 0; i < one->count; i++)
        if (!reach_same_value(one->member[i].key, other->member[i].key)
            || !pair_tree(reach, one->member[i].value, other->member[i].value))
            return false;
    return true;
}

/* Return what lies below the constant begin of a dynamic call's path, or NULL. */
static const struct rego_value *
below_path(const struct rego_plan *plan, const struct rego_statement *call)
{
    const struct rego_value *at = plan->dynamic;
    for (uint32_t i = 0; i < call->count && call->operand[i].constant != NULL && at != NULL; i++)
        at = at->type == REGO_OBJECT ? rego_get(at, call->operand[i].constant) : NULL;
    return at;
}

static bool
same_call(struct reach *reach, const struct rego_statement *one, const struct rego_statement *other)
{
    if (!same_operands(one, other))
        return false;
    if (one->kind == REGO_CALL_DYNAMIC)
        return pair_tree(reach, below_path(reach->one->plan, one),
                         below_path(reach->other->plan, other));
    if (one->function != NULL && other->function != NULL)
        return pair_functions(reach, one->function, other->function);
    return one->function == other->function && one->builtin == other->builtin
           && strcmp(one->name, other->name) == 0;
}

static bool
same_path(const struct rego_value *const *one, const struct rego_value *const *other)
{
    while (*one != NULL && reach_same_value(*one, *other)) {
        one++;
        other++;
    }
    return *one == NULL && *other == NULL;
}

static bool
same_statement(struct reach *reach, const struct rego_statement *one,
               const struct rego_statement *other)
{
    if (one->kind != other->kind || one->literal != other->literal || one->ordered != other->ordered
        || one->target != other->target || one->count != other->count
        || !same_operand(&one->a, &other->a) || !same_operand(&one->b, &other->b))
        return false;
    if (one->kind == REGO_CALL || one->kind == REGO_CALL_DYNAMIC)
        return same_call(reach, one, other);
    if (one->kind == REGO_WITH && !same_path(one->path, other->path))
        return false;
    return !rego_has_blocks(one) || same_blocks(reach, one->block, other->block, one->count);
}

static bool
same_blocks(struct reach *reach, const struct rego_block *one, const struct rego_block *other,
            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (one[i].count != other[i].count)
            return false;
        for (uint32_t k = 0; k < one[i].count; k++)
            if (!same_statement(reach, &one[i].statement[k], &other[i].statement[k]))
                return false;
    }
    return true;
}

/* True if all that the entrypoints reach does the same. */
static bool
code_is_same(struct reach *reach)
{
    if (!pair_functions(reach, reach->one->entrypoint, reach->other->entrypoint))
        return false;
    for (uint32_t i = 0; i < reach->count; i++) { /* `count` grows */
        const struct reached *reached = &reach->function[reach->order[i]];
        if (!same_blocks(reach, reached->one->block, reached->other->block, reached->one->blocks))
            return false;
    }
    return true;
}

bool
rego_is_unreached(TALLOC_CTX *mem, const struct rego_question *one,
                  const struct rego_question *other)
{
    uint32_t all = one->plan->functions + one->plan->entrypoints;
    struct reach reach = {.mem = talloc_new(mem), .one = one, .other = other};
    reach.function = talloc_zero_array(reach.mem, struct reached, all);
    reach.order = talloc_array(reach.mem, uint32_t, all);
    bool unreached = reach.mem != NULL && reach.function != NULL && reach.order != NULL
                     && code_is_same(&reach) && reach_data_is_same(&reach);
    talloc_free(reach.mem);
    return unreached;
}
