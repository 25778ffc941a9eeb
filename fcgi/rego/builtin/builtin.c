#include "config.h"

#include "rego/builtin/builtin.h"

#include <string.h>

static const struct rego_builtin *const families[] = {
    rego_comparison_builtins, rego_number_builtins, rego_collection_builtins,
    rego_object_builtins,     rego_set_builtins,    rego_string_builtins,
    rego_text_builtins,       rego_json_builtins,   rego_net_builtins,
    rego_encoding_builtins,   rego_time_builtins,   rego_type_builtins,
    rego_glob_builtins,       rego_regex_builtins,  rego_token_builtins,
    rego_patch_builtins,      rego_schema_builtins,
};

const struct rego_builtin *
rego_builtin_at(size_t index)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        for (const struct rego_builtin *row = families[i]; row->name != NULL; row++)
            if (index-- == 0)
                return row;
    return NULL;
}

const struct rego_builtin *
rego_builtin_find(const char *name)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        for (const struct rego_builtin *row = families[i]; row->name != NULL; row++)
            if (strcmp(row->name, name) == 0)
                return row;
    return NULL;
}

const struct rego_value *
rego_give_up(struct rego_machine *machine, const char *why)
{
    return rego_stop(machine, REGO_GIVE_UP, "%s", why);
}

bool
rego_are(const struct rego_value *const *arg, size_t count, enum rego_type type)
{
    for (size_t i = 0; i < count; i++)
        if (arg[i]->type != type)
            return false;
    return true;
}
