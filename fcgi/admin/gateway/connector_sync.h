/* Syncs of connectors with their files: SyncReport (specification 2.9, gateway-admin.md 3.7). */
#ifndef AZ_ADMIN_GATEWAY_CONNECTOR_SYNC_H
#define AZ_ADMIN_GATEWAY_CONNECTOR_SYNC_H

#include "base/json/fields.h"
#include "http/route.h"

extern const struct route_param connector_sync_params[];
extern const struct field_table connector_sync_table;

/* Sync the connector of the path, or all that are installed if the path has none. Answer 200 with
 * the report; 400, 404, 409, 422 (policy data is refused). */
enum az_status connector_sync_handle(struct request *req);

#endif
