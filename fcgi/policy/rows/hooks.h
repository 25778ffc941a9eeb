/* The hooks of operators: the rules of package custom that the shipped rules read, with their types
 * (policy.md 6.5). A decision denies while a hook has another type, so a save refuses it. */
#ifndef AZ_POLICY_ROWS_HOOKS_H
#define AZ_POLICY_ROWS_HOOKS_H

#include <jansson.h>
#include <stddef.h>
#include <talloc.h>

/* A hook. */
struct policy_hook {
    const char *path; /* below data: custom.issue.deny */
    const char *type; /* name of its type in Rego: set or object */
};

/* All hooks. A test holds them against svc/lib/hooks.rego. */
extern const struct policy_hook policy_hooks[];
extern const size_t policy_hooks_count;

/*
 * Return a Rego text in which line i + 1 uses hook i as a value of its type, so that the engine's
 * type checker reports that line if the rules cannot give one, whatever the input is. `before`
 * begins each line. On mem; NULL: no memory.
 */
char *policy_hooks_typed(TALLOC_CTX *mem, const char *before);

/* Return a Rego expression: an object of each hook's path to the set of the type that it has
 * without an input. On mem; NULL: no memory. */
char *policy_hooks_types(TALLOC_CTX *mem);

/* Return the hook of an error of the engine in a text of policy_hooks_typed() that has `above`
 * lines before it; NULL if the error has no such row. */
const struct policy_hook *policy_hooks_at(const json_t *error, int above);

/* Return the type that such an error says a hook has; NULL if it names none. Borrowed. */
const char *policy_hooks_had(const json_t *error);

/* Return the hook that the engine's message about a shipped rule names; NULL if it names none. A
 * hook that is a boolean, a number, a text or a function makes the shipped rules invalid. */
const struct policy_hook *policy_hooks_blamed(const char *message);

/* Return the fault of a hook for people; `type` NULL: not known. On mem; NULL: no memory. */
char *policy_hooks_fault(TALLOC_CTX *mem, const struct policy_hook *hook, const char *type);

#endif
