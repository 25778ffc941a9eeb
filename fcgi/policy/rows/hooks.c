#include "config.h"

#include "policy/rows/hooks.h"

#include <stdbool.h>
#include <string.h>

#include "policy/rows/rego_text.h"

/* A type: an expression that the engine's type checker refuses for any other one, and the form of a
 * rule that has it. */
struct hook_type {
    const char *name, *article, *probe_before, *probe_after, *form;
};
#define TYPES 4
static const char set_type[] = "set", object_type[] = "object", boolean_type[] = "boolean",
                  number_type[] = "number";
static const struct hook_type hook_types[TYPES] = {
    {set_type,     "a",  "",             " & set()", " contains VALUE"  },
    {object_type,  "an", "object.keys(", ")",        "[NAME] := VALUE"  },
    {boolean_type, "a",  "",             " == true", " if { CONDITION }"},
    {number_type,  "a",  "",             " + 0",     " := NUMBER"       },
};

const struct policy_hook policy_hooks[] = {
    {"custom.issue.deny",             set_type    },
    {"custom.issue.block_scopes",     set_type    },
    {"custom.issue.obligations",      object_type },
    {"custom.issue.extensions",       object_type },
    {"custom.issue.claims",           object_type },
    {"custom.issue.opaque",           set_type    },
    {"custom.introspect.deny",        set_type    },
    {"custom.introspect.obligations", object_type },
    {"custom.introspect.extensions",  object_type },
    {"custom.introspect.claims",      object_type },
    {"custom.register.deny",          set_type    },
    {"custom.authzen.allow",          boolean_type},
    {"custom.authzen.deny",           set_type    },
    {"custom.authzen.context",        object_type },
    {"custom.gateway.deny",           set_type    },
    {"custom.gateway.obligations",    object_type },
    {"custom.gateway.cache_seconds",  number_type },
    {"custom.admin.deny",             set_type    },
};
const size_t policy_hooks_count = sizeof(policy_hooks) / sizeof(policy_hooks[0]);

static const struct hook_type *
hook_type(const struct policy_hook *hook)
{
    size_t i = 0;
    while (i < TYPES - 1 && hook_types[i].name != hook->type)
        i++;
    return &hook_types[i];
}

char *
policy_hooks_typed(TALLOC_CTX *mem, const char *before)
{
    char *text = talloc_strdup(mem, "");
    for (size_t i = 0; text != NULL && i < policy_hooks_count; i++) {
        const struct hook_type *type = hook_type(&policy_hooks[i]);
        text = talloc_asprintf_append_buffer(text, "%s%sdata.%s%s\n", before, type->probe_before,
                                             policy_hooks[i].path, type->probe_after);
    }
    return text;
}

char *
policy_hooks_types(TALLOC_CTX *mem)
{
    char *text = talloc_strdup(mem, "{");
    for (size_t i = 0; text != NULL && i < policy_hooks_count; i++)
        text = talloc_asprintf_append_buffer(text, "%s\"%s\": {type_name(v) | v := data.%s}",
                                             i > 0 ? ", " : "", policy_hooks[i].path,
                                             policy_hooks[i].path);
    return text != NULL ? talloc_asprintf_append_buffer(text, "}") : NULL;
}

const struct policy_hook *
policy_hooks_at(const json_t *error, int above)
{
    const json_t *place = json_object_get(error, "location");
    json_int_t row = json_integer_value(json_object_get(place, "row")) - above;
    return row >= 1 && row <= (json_int_t) policy_hooks_count ? &policy_hooks[row - 1] : NULL;
}

const char *
policy_hooks_had(const json_t *error)
{
    const json_t *have = json_object_get(json_object_get(error, "details"), "have");
    return json_string_value(json_object_get(json_array_get(have, 0), "type"));
}

static bool
hook_name_goes_on(char c)
{
    return rego_is_letter(c) || (c >= '0' && c <= '9');
}

const struct policy_hook *
policy_hooks_blamed(const char *message)
{
    static const char data[] = "data.";
    for (const char *at = message; (at = strstr(at, data)) != NULL; at++)
        for (size_t i = 0; i < policy_hooks_count; i++) {
            const char *path = policy_hooks[i].path, *name = at + strlen(data);
            size_t length = strlen(path);
            if (strncmp(name, path, length) == 0 && !hook_name_goes_on(name[length]))
                return &policy_hooks[i];
        }
    return NULL;
}

char *
policy_hooks_fault(TALLOC_CTX *mem, const struct policy_hook *hook, const char *type)
{
    const struct hook_type *wanted = hook_type(hook);
    const char *name = strrchr(hook->path, '.') + 1;
    return talloc_asprintf(mem, "%s must be %s %s, not %s%s: write %s%s", hook->path,
                           wanted->article, wanted->name,
                           type == NULL                     ? ""
                           : strchr("aeiou", *type) != NULL ? "an "
                                                            : "a ",
                           type != NULL ? type : "another type", name, wanted->form);
}
