/* /admin/api/connectors (specification 2.9, 4.12; gateway-admin.md 3.6, 3.7). */
#ifndef AZ_ADMIN_GATEWAY_CONNECTORS_H
#define AZ_ADMIN_GATEWAY_CONNECTORS_H

#include "admin/resource/resource.h"

extern const struct field_table connector_install_table;
extern const struct route_param connector_install_params[];

/* Answer 200 with the connectors of the catalogue. */
enum az_status connectors_available_handle(struct request *req);

/* Answer 200 with a connector that is installed or in the catalogue, or 404. */
enum az_status connector_get_handle(struct request *req);

/* Install a connector, with its managed resource if the body asks for it. Answer 201; 200 if it is
 * installed already, and nothing is changed; 400, 404, 409, 422 (its policy data is refused). */
enum az_status connector_install_handle(struct request *req);

/* Delete an installed connector. Answer 204, 404, 409 with the objects that use it, or
 * 422. */
enum az_status connector_delete_handle(struct request *req);

#endif
