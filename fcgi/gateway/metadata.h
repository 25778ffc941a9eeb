/* Metadata documents of the gateway's resources (RFC 9728, gateway-admin.md 1.4). */
#ifndef AZ_GATEWAY_METADATA_H
#define AZ_GATEWAY_METADATA_H

#include "http/route.h"

/* GET /.well-known/oauth-protected-resource, and its form for /gateway/mcp: the same document. The
 * first is there also while the gateway is off (specification 4.1). */
enum az_status metadata_mcp_handle(struct request *req);

/* GET .../gateway/mcp/{name} and .../gateway/{name}: 404 for a resource that is unknown, disabled,
 * or not served at that place. */
enum az_status metadata_mcp_resource_handle(struct request *req);
enum az_status metadata_proxy_resource_handle(struct request *req);

/* GET .../doors/{name}/{n}: of an address in publicUrls, for clients that a web server in front of
 * the resource turned away (gateway-admin.md 1.8). */
enum az_status metadata_door_handle(struct request *req);

#endif
