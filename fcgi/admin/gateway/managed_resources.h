/* /admin/api/managed-resources (specification 2.10, gateway-admin.md 3.6). */
#ifndef AZ_ADMIN_GATEWAY_MANAGED_RESOURCES_H
#define AZ_ADMIN_GATEWAY_MANAGED_RESOURCES_H

#include "admin/resource/resource.h"

extern const struct admin_resource managed_resources_resource;
extern const struct route_param managed_resources_params[];

/* Longest time that a probe waits for the upstream, in seconds. */
#define MANAGED_PROBE_SECONDS 5

/* POST {name}/probe: request upstreamUrl once, without a credential, store the outcome and answer
 * 200 with it; 404. */
enum az_status managed_resource_probe_handle(struct request *req);

#endif
