/* The builtins that would let a rule leave the decision: reach the network, files, or the engine's
 * own environment; and those that may never end. */
#ifndef AZ_POLICY_ROWS_RULE_BUILTINS_H
#define AZ_POLICY_ROWS_RULE_BUILTINS_H

#include <stdbool.h>

/* The first use of such a builtin in a text. */
struct rule_builtin_use {
    const char *name; /* as in http.send */
    const char *why;  /* what it does, for the operator: "it ..." */
    int line;         /* from 1 */
};

/*
 * Find the first use of one of the builtins in a Rego text, true if there is one. Attack: whoever
 * may save rules, but has no account on the host, reads the bundle key from the engine's
 * environment (opa.runtime) and sends it, or the input of a decision, to a host of his own.
 *
 * Comments and plain strings are no use. Where the text could be read in two ways it is one: a name
 * in brackets with an escape in it, and whatever comes after the beginning of a template string,
 * because such a string contains expressions. So is a variable or package of the rule's own with
 * the name of a builtin (http.send), but not a member of another document (input.http.send).
 */
bool rule_builtin_find(const char *content, struct rule_builtin_use *ret);

/* Find in the same way a builtin that takes any time and memory with short arguments, and that OPA
 * cannot cancel. */
bool rule_builtin_find_endless(const char *content, struct rule_builtin_use *ret);

#endif
