/* POST /admin/api/policy-bundle/deploy (specification 2.6; gateway-admin.md 3.6). */
#ifndef AZ_ADMIN_POLICY_POLICY_BUNDLE_H
#define AZ_ADMIN_POLICY_POLICY_BUNDLE_H

#include "base/json/fields.h"
#include "http/route.h"
#include "policy/save/deploy/deploy.h"

/* Refuse a deploy that saves something to an auditor; a dry-run changes nothing. */
enum az_status policy_bundle_deploy_check(struct request *req);

/* Deploy the rules and rows of the body as one save. */
enum az_status policy_bundle_deploy_handle(struct request *req);

/* Read a body as a deploy; every fault of its form is in the answer's fieldErrors. *ret_mode is the
 * name of its mode. */
enum az_status policy_bundle_read(struct request *req, const json_t *body, struct deploy *ret,
                                  const char **ret_mode);

/* Make the body of a 400 or a 422 for a deploy that was refused, and return `st`. */
enum az_status policy_bundle_refuse(struct request *req, enum az_status st,
                                    const struct deploy_result *result);

/*
 * Answer with the outcome of deploy_run or of a rollback: 200 with PolicyBundleDeployResult, or the
 * bodies of a 400 and a 422. `mode` is the mode that the answer names.
 */
enum az_status policy_bundle_answer(struct request *req, enum az_status st, const char *mode,
                                    const struct deploy_result *result);

/* PolicyBundleDeployRequest (specification 2.6). */
extern const struct field_table policy_deploy_table;

#endif
