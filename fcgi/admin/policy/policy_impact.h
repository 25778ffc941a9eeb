/* /admin/api/policy-impact: what a change of the policy would have decided (policy.md I1, I3). */
#ifndef AZ_ADMIN_POLICY_POLICY_IMPACT_H
#define AZ_ADMIN_POLICY_POLICY_IMPACT_H

#include "base/json/fields.h"
#include "http/route.h"

/* Seconds for which a request waits for the result: without a preference (RFC 7240 4.3), and at
 * most. */
#define POLICY_IMPACT_WAIT 10
#define POLICY_IMPACT_WAIT_MAX 25

/* Measure a candidate: 200 with the result, or 202 while it is measured. */
enum az_status policy_impact_create_handle(struct request *req);

/* Answer with a run, with all runs; or end and delete one. */
enum az_status policy_impact_get_handle(struct request *req);
enum az_status policy_impact_list_handle(struct request *req);
enum az_status policy_impact_delete_handle(struct request *req);

/* PolicyImpactRequest. */
extern const struct field_table policy_impact_table;

#endif
