/* Statements that make and change values. */
#include "config.h"

#include "rego/machine_private.h"

#include "base/utf8.h"

int
machine_stop_for_memory(struct rego_machine *machine)
{
    rego_stop(machine, REGO_EXCEEDED, "the evaluation needs more than %zu octets",
              machine->bounds.octets);
    return BLOCK_STOP;
}

static int
stop_at(struct rego_machine *machine, enum rego_outcome outcome,
        const struct rego_statement *statement, const char *what)
{
    const struct rego_plan *plan = machine->question->plan;
    const char *file = statement->file < plan->files ? plan->file[statement->file] : "";
    rego_stop(machine, outcome, "%.*s:%u: %s", UTF8_SHOWN(file, 100), statement->row, what);
    return BLOCK_STOP;
}

/* Return a composite that a statement may add to, which is one that this evaluation made. */
static struct rego_value *
writable(const struct rego_value *value, enum rego_type type)
{
    if (value == NULL || !value->open || value->type != type)
        return NULL;
    return (struct rego_value *) (uintptr_t) value;
}

/* True if OPA 1.20.2 gives the key the hash 0. Of an object with two such keys it loses the second
 * when the first is inserted again. */
static bool
has_no_hash(const struct rego_value *key)
{
    int64_t number;
    return key->type == REGO_NULL || (key->type == REGO_BOOLEAN && !key->boolean)
           || (rego_is_integer(key, &number) && number == 0)
           || (key->type >= REGO_ARRAY && key->count == 0);
}

int
machine_insert(struct rego_machine *machine, const struct rego_value *const *local,
               const struct rego_statement *statement, bool once)
{
    struct rego_value *object = writable(local[statement->target], REGO_OBJECT);
    const struct rego_value *key = machine_place(local, &statement->a);
    const struct rego_value *value = machine_place(local, &statement->b);
    if (object == NULL || key == NULL || value == NULL)
        return stop_at(machine, REGO_CONFLICT, statement,
                       "the plan inserts into a value that it did not make");
    const struct rego_value *before = once ? rego_get(object, key) : NULL;
    /* OPA may find before it makes a comprehension that its value does not matter. */
    if (before != NULL && !machine_equal(before, value))
        return stop_at(machine, REGO_GIVE_UP, statement, "object keys are not unique");
    if (before != NULL && object->count > 1 && has_no_hash(key))
        return stop_at(machine, REGO_GIVE_UP, statement, "a key without a hash is inserted again");
    if (before != NULL && rego_is_spelled_otherwise(before, value))
        machine->arena->twins = true;
    return rego_insert(machine->arena, object, key, value) ? BLOCK_END
                                                           : machine_stop_for_memory(machine);
}

int
machine_add(struct rego_machine *machine, const struct rego_value *const *local,
            const struct rego_statement *statement, enum rego_type type)
{
    struct rego_value *composite = writable(local[statement->target], type);
    const struct rego_value *item = machine_place(local, &statement->a);
    if (composite == NULL || item == NULL)
        return stop_at(machine, REGO_CONFLICT, statement,
                       "the plan adds to a value that it did not make");
    bool added = type == REGO_SET ? rego_add(machine->arena, composite, item)
                                  : rego_append(machine->arena, composite, item);
    return added ? BLOCK_END : machine_stop_for_memory(machine);
}

int
machine_make(struct rego_machine *machine, const struct rego_value **local,
             const struct rego_statement *statement, enum rego_type type)
{
    struct rego_value *value = type == REGO_ARRAY ? rego_array(machine->arena, 0)
                               : type == REGO_SET ? rego_set(machine->arena, 0)
                                                  : rego_object(machine->arena, 0);
    if (value == NULL)
        return machine_stop_for_memory(machine);
    value->open = true;
    value->literal = statement->literal;
    local[statement->target] = value;
    return BLOCK_END;
}

int
machine_merge(struct rego_machine *machine, const struct rego_value **local,
              const struct rego_statement *statement)
{
    /* Base documents take precedence over the values of rules. */
    const struct rego_value *over = local[statement->a.local], *base = local[statement->b.local];
    const struct rego_value *merged = base == NULL ? over : base;
    if (base != NULL && over != NULL && (merged = rego_merge(machine->arena, base, over)) == NULL)
        return machine_stop_for_memory(machine);
    local[statement->target] = merged;
    return BLOCK_END;
}

int
machine_assign_once(struct rego_machine *machine, const struct rego_value **local,
                    const struct rego_statement *statement)
{
    const struct rego_value *value = machine_place(local, &statement->a);
    const struct rego_value *before = local[statement->target];
    if (before != NULL && !machine_equal(before, value))
        return stop_at(machine, REGO_CONFLICT, statement,
                       "complete rules and functions must not give several values");
    if (before != NULL && rego_is_spelled_otherwise(before, value))
        machine->arena->twins = true;
    local[statement->target] = value;
    return BLOCK_END;
}
