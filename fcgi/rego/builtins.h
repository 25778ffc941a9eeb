/* The functions that plans call besides their own, by their names in Rego. The machine uses this
 * table only; the functions are in builtin/. */
#ifndef AZ_REGO_BUILTINS_H
#define AZ_REGO_BUILTINS_H

#include "rego/machine.h"

/* Most arguments of a builtin, and most missing builtins of a plan that are named. */
#define REGO_ARGUMENTS_MAX 6
#define REGO_LACKING_MAX 64

/*
 * A builtin returns NULL for undefined, which is also the result of an error; after rego_stop(), if
 * it cannot answer exactly as OPA would; or if the arena is full. Arguments are never NULL.
 */
struct rego_builtin {
    const char *name;
    unsigned arity;
    const struct rego_value *(*run)(struct rego_machine *machine,
                                    const struct rego_value *const *arg);
};

/* Return the row of a name, or NULL. */
const struct rego_builtin *rego_builtin_find(const char *name);

/* Return the builtin at an index of all of them, or NULL behind the last. */
const struct rego_builtin *rego_builtin_at(size_t index);

#endif
