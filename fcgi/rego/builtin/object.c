/* Objects, and walking through documents. */
#include "config.h"

#include "rego/builtin/builtin.h"

/* Return the keys that an argument names: the items of an array or set, or an object's keys. NULL:
 * it is something else, or no memory. */
static const struct rego_value *
keys_of(struct rego_machine *machine, const struct rego_value *value)
{
    if (value->type == REGO_SET)
        return value;
    struct rego_value *keys = value->type >= REGO_ARRAY ? rego_set(machine->arena, 0) : NULL;
    for (uint32_t i = 0; keys != NULL && i < value->count; i++)
        if (!rego_spend(machine, keys->count)
            || !rego_add(machine->arena, keys,
                         value->type == REGO_OBJECT ? value->member[i].key : value->item[i]))
            return NULL;
    return keys;
}

/* Return the members of an object whose keys are in the set, or are not. */
static const struct rego_value *
pick_members(struct rego_machine *machine, const struct rego_value *const *arg, bool in)
{
    const struct rego_value *keys = arg[0]->type == REGO_OBJECT ? keys_of(machine, arg[1]) : NULL;
    struct rego_value *picked = keys != NULL ? rego_object(machine->arena, 0) : NULL;
    for (uint32_t i = 0; picked != NULL && i < arg[0]->count; i++) {
        const struct rego_member *member = &arg[0]->member[i];
        const struct rego_value *key = rego_get(keys, member->key);
        /* OPA takes the key of either side. */
        if (in && key != NULL && rego_is_spelled_otherwise(key, member->key))
            machine->arena->twins = true;
        if ((key != NULL) == in
            && !rego_append_member(machine->arena, picked, member->key, member->value))
            return NULL;
    }
    return picked;
}

static const struct rego_value *
run_object_filter(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return pick_members(machine, arg, true);
}

static const struct rego_value *
run_object_remove(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return pick_members(machine, arg, false);
}

static const struct rego_value *
run_object_get(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    if (arg[0]->type != REGO_OBJECT)
        return NULL;
    const struct rego_value *at = arg[0];
    if (arg[1]->type != REGO_ARRAY)
        at = rego_get(at, arg[1]);
    else
        for (uint32_t i = 0; at != NULL && i < arg[1]->count; i++)
            at = rego_get(at, arg[1]->item[i]);
    return at != NULL ? at : arg[2];
}

static const struct rego_value *
run_object_keys(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return arg[0]->type == REGO_OBJECT ? keys_of(machine, arg[0]) : NULL;
}

static const struct rego_value *
run_object_union(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return rego_are(arg, 2, REGO_OBJECT) ? rego_merge(machine->arena, arg[0], arg[1]) : NULL;
}

static const struct rego_value *
run_object_union_n(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_ARRAY)
        return NULL;
    const struct rego_value *all = rego_object(machine->arena, 0);
    for (uint32_t i = 0; all != NULL && i < arg[0]->count; i++) {
        if (arg[0]->item[i]->type != REGO_OBJECT)
            return NULL;
        all = rego_merge(machine->arena, all, arg[0]->item[i]);
    }
    return all;
}

/* Add [path, value] for a value and all below it. */
static bool
walk_value(struct rego_machine *machine, const struct rego_value *value,
           const struct rego_value *path, struct rego_value *pairs, unsigned depth)
{
    struct rego_value *pair = rego_array(machine->arena, 2);
    if (depth > REGO_DEPTH_MAX * 2) {
        rego_stop(machine, REGO_EXCEEDED, "walk() goes too deep");
        return false;
    }
    if (pair == NULL || !rego_append(machine->arena, pair, path)
        || !rego_append(machine->arena, pair, value) || !rego_append(machine->arena, pairs, pair))
        return false;
    for (uint32_t i = 0; value->type >= REGO_ARRAY && i < value->count; i++) {
        bool object = value->type == REGO_OBJECT;
        const struct rego_value *inner = object ? value->member[i].value : value->item[i];
        const struct rego_value *key = object                      ? value->member[i].key
                                       : value->type == REGO_ARRAY ? rego_integer(machine->arena, i)
                                                                   : inner;
        struct rego_value *deeper = rego_copy(machine->arena, path);
        if (key == NULL || deeper == NULL || !rego_append(machine->arena, deeper, key)
            || !walk_value(machine, inner, deeper, pairs, depth + 1))
            return false;
    }
    return true;
}

/* Plans read walk() as an array of all its pairs. */
static const struct rego_value *
run_walk(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct rego_value *pairs = rego_array(machine->arena, 0);
    struct rego_value *path = rego_array(machine->arena, 0);
    return pairs != NULL && path != NULL && walk_value(machine, arg[0], path, pairs, 0) ? pairs
                                                                                        : NULL;
}

const struct rego_builtin rego_object_builtins[] = {
    {"object.filter",  2, run_object_filter },
    {"object.get",     3, run_object_get    },
    {"object.keys",    1, run_object_keys   },
    {"object.remove",  2, run_object_remove },
    {"object.union",   2, run_object_union  },
    {"object.union_n", 1, run_object_union_n},
    {"walk",           1, run_walk          },
    {NULL,             0, NULL              },
};
