/* Results of runs that are stored (policy.md G6). */
#ifndef AZ_POLICY_IMPACT_IMPACT_STORED_H
#define AZ_POLICY_IMPACT_IMPACT_STORED_H

#include <jansson.h>

#include "base/op.h"
#include "store/policy/impact.h"

/* Wait for a run for at most `ms`, and read it (PolicyImpact); *ret is on op->mem, and NULL if it
 * is not over or was deleted. */
enum az_status stored_await(struct op *op, int64_t id, int64_t ms, json_t **ret);

/* Find a stored run like this that has counted against so many guards. *ret_result is NULL if there
 * is none. */
enum az_status stored_find(struct op *op, const struct impact_like *like, size_t guards,
                           int64_t *ret_id, json_t **ret_result);

#endif
