/* Types of values, and conversions between them. */
#include "config.h"

#include <string.h>

#include "rego/builtin/builtin.h"
#include "rego/number.h"

/* Longest number without an exponent, in octets, that is certainly within the range of binary64. */
#define PLAIN_DIGITS_MAX 300

static const char *const type_names[] = {
    [REGO_NULL] = "null",     [REGO_BOOLEAN] = "boolean", [REGO_NUMBER] = "number",
    [REGO_STRING] = "string", [REGO_ARRAY] = "array",     [REGO_OBJECT] = "object",
    [REGO_SET] = "set",
};

static const struct rego_value *
run_type_name(struct rego_machine *machine, const struct rego_value *const *arg)
{
    const char *name = type_names[arg[0]->type];
    return rego_text(machine->arena, name, strlen(name));
}

#define IS_TYPE(NAME, TYPE)                                                                        \
    static const struct rego_value *run_is_##NAME(struct rego_machine *machine,                    \
                                                  const struct rego_value *const *arg)             \
    {                                                                                              \
        (void) machine;                                                                            \
        return rego_boolean(arg[0]->type == (TYPE));                                               \
    }

IS_TYPE(null, REGO_NULL)
IS_TYPE(boolean, REGO_BOOLEAN)
IS_TYPE(number, REGO_NUMBER)
IS_TYPE(string, REGO_STRING)
IS_TYPE(array, REGO_ARRAY)
IS_TYPE(object, REGO_OBJECT)
IS_TYPE(set, REGO_SET)

static const struct rego_value *
run_to_number(struct rego_machine *machine, const struct rego_value *const *arg)
{
    switch ((enum rego_type) arg[0]->type) {
    case REGO_NULL:
        return rego_integer(machine->arena, 0);
    case REGO_BOOLEAN:
        return rego_integer(machine->arena, arg[0]->boolean);
    case REGO_NUMBER:
        return arg[0];
    case REGO_STRING:
        /* OPA refuses those beyond binary64, such as "1e400". */
        if (number_is_json(arg[0]->text, arg[0]->count) && arg[0]->count <= PLAIN_DIGITS_MAX
            && strpbrk(arg[0]->text, "eE") == NULL)
            return rego_number(machine->arena, arg[0]->text, arg[0]->count);
        /* OPA also reads texts such as "1_0", "0x1p-2" or "Inf". */
        return arg[0]->count > 0 && strpbrk(arg[0]->text, "_.xXpPnNfFeE+0123456789") != NULL
                   ? rego_give_up(machine, "to_number() of a text that is no plain number")
                   : NULL;
    default:
        return NULL;
    }
}

static const struct rego_value *
run_cast_array(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type == REGO_ARRAY)
        return arg[0];
    struct rego_value *array = arg[0]->type == REGO_SET ? rego_copy(machine->arena, arg[0]) : NULL;
    if (array != NULL)
        array->type = REGO_ARRAY;
    return array;
}

static const struct rego_value *
run_cast_set(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type == REGO_SET)
        return arg[0];
    struct rego_value *set = arg[0]->type == REGO_ARRAY ? rego_set(machine->arena, 0) : NULL;
    for (uint32_t i = 0; set != NULL && i < arg[0]->count; i++)
        if (!rego_spend(machine, set->count) || !rego_add(machine->arena, set, arg[0]->item[i]))
            return NULL;
    return set;
}

const struct rego_builtin rego_type_builtins[] = {
    {"cast_array", 1, run_cast_array},
    {"cast_set",   1, run_cast_set  },
    {"type_name",  1, run_type_name },
    {"is_null",    1, run_is_null   },
    {"is_boolean", 1, run_is_boolean},
    {"is_number",  1, run_is_number },
    {"is_string",  1, run_is_string },
    {"is_array",   1, run_is_array  },
    {"is_object",  1, run_is_object },
    {"is_set",     1, run_is_set    },
    {"to_number",  1, run_to_number },
    {NULL,         0, NULL          },
};
