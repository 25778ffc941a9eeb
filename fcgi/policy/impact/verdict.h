/* The judgement of a result by the limits of a request and by guards (policy.md G3). Pure. */
#ifndef AZ_POLICY_IMPACT_VERDICT_H
#define AZ_POLICY_IMPACT_VERDICT_H

#include <jansson.h>

#include "base/op.h"
#include "store/policy/impact.h"

struct verdict {
    json_t *refused;  /* array: limits that are passed, by their guard or `request` */
    bool by_request;  /* one of the request is passed */
    const char *lack; /* what no sample measures, or NULL */
};

/* Judge a result (PolicyImpact; NULL or without counts: nothing is passed) by the limits of a
 * request (object by class, or NULL), and by the guards that it was counted against. On op->mem. */
enum az_status verdict_find(struct op *op, const json_t *result, const json_t *max,
                            struct verdict *ret);

/* Wait for a run for at most `ms`, and read it (PolicyImpact); *ret is on op->mem, and NULL if it
 * is not over or was deleted. */
enum az_status stored_await(struct op *op, int64_t id, int64_t ms, json_t **ret);

/* Find a stored run like this that has counted against so many guards. *ret_result is NULL if there
 * is none. */
enum az_status stored_find(struct op *op, const struct impact_like *like, size_t guards,
                           int64_t *ret_id, json_t **ret_result);

#endif
