/* POST /admin/api/policy-bundle/deploy (specification 2.6; gateway-admin.md 3.6). */
#ifndef AZ_ADMIN_POLICY_BUNDLE_H
#define AZ_ADMIN_POLICY_BUNDLE_H

#include "http/route.h"
#include "policy/save/deploy.h"

enum az_status policy_bundle_deploy_handle(struct request *req);

/*
 * Answers what deploy_run said: 200 with PolicyBundleDeployResult, or the bodies of its 400 and
 * 422. `mode` is the one the answer names. Also for a rollback.
 */
enum az_status policy_bundle_answer(struct request *req, enum az_status st, const char *mode,
                                    const struct deploy_result *result);

#endif
