/* Find the rules of a candidate that are new or differ from the stored ones: they are to blame for
 * what it does. The candidate is not stored yet. */
#ifndef AZ_POLICY_SAVE_CHECK_CHANGED_RULES_H
#define AZ_POLICY_SAVE_CHECK_CHANGED_RULES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"
#include "rego/plan.h"
#include "store/policy/bundles.h"

/* Return a flag for each rule of the rows, on op->mem; NULL, with the reason in the log: the stored
 * rows cannot be read. */
const bool *changed_rules_find(struct op *op, const struct bundle_rows *rows);

/* Return their paths, in some 300 octets, or "the rules" if there is none or they are not known. On
 * op->mem or constant. */
const char *changed_rules_names(struct op *op, const struct bundle_rows *rows);

/* Find what they read of the input and no input has, in their plan, which lives on mem: see
 * members_find() (policy/trial/members.h). NULL in *ret: nothing, or the machine cannot read the
 * plan, and OPA is asked. */
enum az_status changed_rules_unknown(struct op *op, const struct bundle_rows *rows, TALLOC_CTX *mem,
                                     struct rego_plan_text *plan, json_t **ret);

/* Return the first of these faults as an engine would tell it, FILE:ROW: what. NULL: no memory. */
const char *changed_rules_fault(TALLOC_CTX *mem, const json_t *faults);

#endif
