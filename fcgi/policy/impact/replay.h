/* One recorded question, decided by two plans (policy.md I5 to I8). */
#ifndef AZ_POLICY_IMPACT_REPLAY_H
#define AZ_POLICY_IMPACT_REPLAY_H

#include "policy/impact/impact.h"
#include "policy/impact/tally.h"

struct replay;

/* Read both plans. AZ_UNAVAILABLE: one is missing or cannot be run, with the reason. */
enum az_status replay_new(struct op *op, const struct impact_pair *pair, struct replay **ret);

/* Return what the rows that were decided cannot show ([{what, rows}], blind.h), on mem; NULL: no
 * memory. */
json_t *replay_blind(TALLOC_CTX *mem, const struct replay *replay);

/* Decide the question of a row by both plans, and count it. A row without a question, or with one
 * of another kind than `evaluation` (NULL: any), is not counted. Memory of op->mem is used. */
enum az_status replay_row(struct op *op, const struct replay *replay, const struct audit_row *row,
                          const char *evaluation, struct tally *tally);

#endif
