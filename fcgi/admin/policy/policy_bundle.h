/* POST /admin/api/policy-bundle/deploy (specification 2.6; gateway-admin.md 3.6). */
#ifndef AZ_ADMIN_POLICY_POLICY_BUNDLE_H
#define AZ_ADMIN_POLICY_POLICY_BUNDLE_H

#include "base/json/fields.h"
#include "http/route.h"
#include "policy/save/deploy.h"

/* Refuse a deploy that saves something to an auditor; a dry-run changes nothing. */
enum az_status policy_bundle_deploy_check(struct request *req);

/* Deploy the rules and rows of the body as one save. */
enum az_status policy_bundle_deploy_handle(struct request *req);

/*
 * Answer with the outcome of deploy_run or of a rollback: 200 with PolicyBundleDeployResult, or the
 * bodies of a 400 and a 422. `mode` is the mode that the answer names.
 */
enum az_status policy_bundle_answer(struct request *req, enum az_status st, const char *mode,
                                    const struct deploy_result *result);

/* PolicyBundleDeployRequest (specification 2.6). */
extern const struct field_table policy_deploy_table;

#endif
