/* /admin/api/policy-shadow: a change that decides nothing, and what it would have decided
 * (policy.md 7.2). */
#ifndef AZ_ADMIN_POLICY_POLICY_SHADOW_H
#define AZ_ADMIN_POLICY_POLICY_SHADOW_H

#include "base/json/fields.h"
#include "http/route.h"

/* PolicyShadowRequest. */
extern const struct field_table policy_shadow_table;

/* Save a change as the shadow. */
enum az_status policy_shadow_put_handle(struct request *req);

/* Show the newest shadow with its result. */
enum az_status policy_shadow_get_handle(struct request *req);

/* End the shadow. */
enum az_status policy_shadow_delete_handle(struct request *req);

/* Deploy the change of the shadow, and end it. */
enum az_status policy_shadow_promote_handle(struct request *req);

#endif
