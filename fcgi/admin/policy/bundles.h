/* The requests of the policy engine: GET /bundles/svc with long polling, POST /bundles/status
 * (policy.md 2). */
#ifndef AZ_ADMIN_POLICY_BUNDLES_H
#define AZ_ADMIN_POLICY_BUNDLES_H

#include "http/route.h"

/* The bundle key, in the header X-Bundle-API-Key. */
extern const struct route_credential credential_bundle;

/* Answer the engine's long poll with the bundle, and take its status report. */
enum az_status bundle_get_handle(struct request *req);
enum az_status bundle_status_handle(struct request *req);

#endif
