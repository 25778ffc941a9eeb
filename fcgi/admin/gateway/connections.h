/* Accounts of people at the upstream of a managed resource, as administrators see them
 * (gateway-admin.md 3.6): without their tokens. */
#ifndef AZ_ADMIN_GATEWAY_CONNECTIONS_H
#define AZ_ADMIN_GATEWAY_CONNECTIONS_H

#include "http/route.h"

extern const struct route_param connections_params[];

/* Handle GET and DELETE of the accounts that people connected to managed resources. */
enum az_status connections_list_handle(struct request *req);
enum az_status connections_delete_handle(struct request *req);

#endif
