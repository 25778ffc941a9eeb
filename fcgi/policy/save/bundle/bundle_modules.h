/* The modules of Rego that a bundle contains for its rules. */
#ifndef AZ_POLICY_SAVE_BUNDLE_BUNDLE_MODULES_H
#define AZ_POLICY_SAVE_BUNDLE_BUNDLE_MODULES_H

#include <stdbool.h>

#include "base/op.h"
#include "store/policy/bundles.h"

struct bundle_module {
    const char *file; /* path in the archive */
    const char *text;
    const char *rule; /* path of its rule: the same as the file, unless it is compiled */
    bool compiled;    /* from Cedar */
};

/* All modules, in the order of their rules. */
struct bundle_modules {
    struct bundle_module *module;
    size_t count;
};

/*
 * Make the modules: a Rego rule is one, a Cedar rule is compiled to one or more. Nothing of them is
 * stored: a thousand policies take some 40 milliseconds. AZ_CONFLICT: a Cedar rule that another
 * version of the program has stored is refused by this one. AZ_INVALID: they are larger than an
 * archive may be.
 */
enum az_status bundle_modules_make(struct op *op, const struct bundle_rows *rows,
                                   struct bundle_modules *ret);

/* True if a module has this file. */
bool bundle_modules_has(const struct bundle_modules *modules, const char *file);

/* Return the hex SHA-256 of the modules and of the entrypoints that the service asks: what a plan
 * depends on. NULL: no memory. */
const char *bundle_modules_name(TALLOC_CTX *mem, const struct bundle_modules *modules);

/* Return a message of the engine about a compiled module, FILE:ROW: why, as one about its rule and
 * the line there; any other message unchanged. */
const char *bundle_modules_blame(TALLOC_CTX *mem, const struct bundle_modules *modules,
                                 const char *message);

#endif
