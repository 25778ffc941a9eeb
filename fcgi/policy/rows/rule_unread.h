/*
 * Rules that nothing reads: a package or a hook whose name is not quite right decides nothing, and
 * nothing else tells its author (policy.md 6.5). Judged by the words of the texts, so that a rule
 * that is read is not named; some that are not read are missed.
 */
#ifndef AZ_POLICY_ROWS_RULE_UNREAD_H
#define AZ_POLICY_ROWS_RULE_UNREAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

/* A rule of an operator in Rego. */
struct rule_text {
    const char *path, *content;
};

/*
 * Add a warning for each rule in a hook's package that is no hook and that no rule uses, and for
 * each package that is not a hook's and to which no rule refers: texts "path:line: nothing reads
 * ...". A package outside of custom may be read by another program that asks the engine; its
 * warning goes to `notes`, the others to `faults` (arrays; the same one may be given twice). False:
 * out of memory.
 */
bool rule_unread_find(TALLOC_CTX *mem, const struct rule_text *rules, size_t count, json_t *faults,
                      json_t *notes);

#endif
