/*
 * Values that a question hides (rego_hidden): a question that was stored without them is put again,
 * and the answer is exact if nothing depends on them. A hidden value may be of any type, and false;
 * only that it is defined is known. It may be passed on, stored and returned; what reads, compares
 * or scans it, or hands it to a builtin, ends the evaluation. What contains it is known but for
 * that value: its type, its number of items, its names and its other values.
 */
#include "config.h"

#include "rego/machine_private.h"

/* True if a value is hidden, or contains one that is. */
static bool
has_hidden(const struct rego_value *value)
{
    return value != NULL && (value->traits & REGO_HIDDEN) != 0;
}

/* True if a value itself is hidden. */
static bool
is_hidden(const struct rego_value *value)
{
    return has_hidden(value) && value->type < REGO_ARRAY;
}

static bool
hands_over_hidden(const struct rego_value *const *local, const struct rego_statement *call)
{
    if (call->kind == REGO_CALL && call->function != NULL)
        return false;
    for (uint32_t i = 0; i < call->count; i++)
        if (has_hidden(machine_place(local, &call->operand[i])))
            return true;
    return false;
}

/* True if a value is put below one that is hidden, which may be an object or not. */
static bool
puts_into_hidden(const struct rego_value *at, const struct rego_value *const *path)
{
    for (; *path != NULL && at != NULL; path++) {
        if (is_hidden(at))
            return true;
        at = at->type == REGO_OBJECT ? rego_get(at, *path) : NULL;
    }
    return false;
}

bool
machine_reads_hidden(const struct rego_value *const *local, const struct rego_statement *statement)
{
    const struct rego_value *a = machine_place(local, &statement->a),
                            *b = machine_place(local, &statement->b);
    switch ((enum rego_kind) statement->kind) {
    case REGO_CALL:
    case REGO_CALL_DYNAMIC:
        return hands_over_hidden(local, statement);
    case REGO_DOT:
        return is_hidden(a) || has_hidden(b);
    case REGO_LEN:
    case REGO_SCAN:
    case REGO_IS_ARRAY:
    case REGO_IS_OBJECT:
    case REGO_IS_SET:
        return is_hidden(a);
    case REGO_ASSIGN_VAR_ONCE:
        return local[statement->target] != NULL
               && (has_hidden(a) || has_hidden(local[statement->target]));
    case REGO_EQUAL:
    case REGO_NOT_EQUAL:
    case REGO_OBJECT_MERGE:
        return has_hidden(a) || has_hidden(b);
    /* Keys and items of sets are compared with one another. */
    case REGO_OBJECT_INSERT:
    case REGO_SET_ADD:
        return has_hidden(a);
    case REGO_OBJECT_INSERT_ONCE:
        return has_hidden(a) || has_hidden(b) || has_hidden(local[statement->target]);
    case REGO_WITH:
        return puts_into_hidden(local[statement->target], statement->path);
    default:
        return false;
    }
}
