/* Warnings about rules that can be saved and decide nothing (policy.md 6.5). */
#ifndef AZ_POLICY_SAVE_CHECK_RULE_WARNINGS_H
#define AZ_POLICY_SAVE_CHECK_RULE_WARNINGS_H

#include <jansson.h>

#include "base/op.h"
#include "store/policy/bundles.h"

/*
 * Return the warnings about the rules of operators in a bundle, as an array of texts
 * "path:line: ..." on op->mem (rule_unread.h, cedar_unknown.h). What could not be judged has none
 * and is logged: no save fails for want of a warning.
 */
json_t *rule_warnings(struct op *op, const struct bundle_rows *rows);

/* Return the warnings as one line, the first of them if there are many; NULL if there are no
 * warnings or there is no memory. On mem. */
const char *rule_warnings_text(TALLOC_CTX *mem, const json_t *warnings);

#endif
