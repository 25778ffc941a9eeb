/* The change of a shadow as it is stored: a deploy as JSON text (policy.md S1). */
#ifndef AZ_POLICY_SHADOW_CHANGE_H
#define AZ_POLICY_SHADOW_CHANGE_H

#include "policy/save/deploy/deploy.h"

/* Return the rules, rows, deletions and mode of a deploy, and what it replaces, on mem; NULL: no
 * memory. Of the mode merge, what `result` says is stored already is left out. */
const char *shadow_change_write(TALLOC_CTX *mem, const struct deploy *deploy,
                                const struct deploy_result *result);

/* Read them, on op->mem. The other members of the deploy are those of a deploy without options. */
enum az_status shadow_change_read(struct op *op, const char *text, struct deploy *ret);

/* Return the name of the mode of a deploy: merge or replace. */
const char *shadow_change_mode(const struct deploy *deploy);

#endif
