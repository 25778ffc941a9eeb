/* Families of builtins, and what they share. */
#ifndef AZ_REGO_BUILTIN_BUILTIN_H
#define AZ_REGO_BUILTIN_BUILTIN_H

#include "rego/builtins.h"

/* The families, each a table that ends with a NULL name. */
extern const struct rego_builtin rego_comparison_builtins[];
extern const struct rego_builtin rego_number_builtins[];
extern const struct rego_builtin rego_collection_builtins[];
extern const struct rego_builtin rego_object_builtins[];
extern const struct rego_builtin rego_set_builtins[];
extern const struct rego_builtin rego_string_builtins[];
extern const struct rego_builtin rego_text_builtins[];
extern const struct rego_builtin rego_json_builtins[];
extern const struct rego_builtin rego_net_builtins[];
extern const struct rego_builtin rego_encoding_builtins[];
extern const struct rego_builtin rego_time_builtins[];
extern const struct rego_builtin rego_type_builtins[];
extern const struct rego_builtin rego_glob_builtins[];
extern const struct rego_builtin rego_regex_builtins[];
extern const struct rego_builtin rego_token_builtins[];
extern const struct rego_builtin rego_patch_builtins[];
extern const struct rego_builtin rego_schema_builtins[];

/* End the evaluation: the engine must be asked. Returns NULL. */
const struct rego_value *rego_give_up(struct rego_machine *machine, const char *why);

/* Return the segments of a path: those of a pointer, or an array of any values. NULL: it is
 * neither, or no memory. */
const struct rego_value *rego_json_path(struct rego_machine *machine,
                                        const struct rego_value *path);

/* True if all arguments from `first` on, `count` of them, have the type. */
bool rego_are(const struct rego_value *const *arg, size_t count, enum rego_type type);

#endif
