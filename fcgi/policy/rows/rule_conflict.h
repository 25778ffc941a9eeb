/*
 * Rules of one name that exclude each other, such as `deny contains ...` in one file and `deny :=
 * ...` in another. The engine names one of the files, which may be the one that was there before.
 */
#ifndef AZ_POLICY_ROWS_RULE_CONFLICT_H
#define AZ_POLICY_ROWS_RULE_CONFLICT_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

/* A rule of the candidate in Rego. */
struct rule_side {
    const char *path, *content;
    bool fresh; /* the save adds or changes it */
};

/* True if the engine's message is of such a conflict. */
bool rule_conflict_is(const char *message);

/*
 * Return the refusal of a candidate in place of the engine's message: the places that the save
 * adds or changes come first, with the hook and the form that it must have if the name is one, and
 * then the other places. NULL: no place of the save is found, or out of memory. On mem.
 */
const char *rule_conflict_text(TALLOC_CTX *mem, const struct rule_side *rules, size_t count,
                               const char *message);

#endif
