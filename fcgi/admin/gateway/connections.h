/* Accounts of people at the upstream of a managed resource, as administrators see them
 * (gateway-admin.md 3.6): without their tokens. */
#ifndef AZ_ADMIN_GATEWAY_CONNECTIONS_H
#define AZ_ADMIN_GATEWAY_CONNECTIONS_H

#include "admin/resource/resource.h"

/* Rows of a list without page and size. */
#define CONNECTIONS_LISTED_MAX 1000

extern const struct admin_resource connections_resource;
extern const struct route_param connections_params[], connections_list_params[],
    connections_all_params[];

/* Handle GET (in pages) and DELETE of the accounts that people connected to managed resources. */
enum az_status connections_list_handle(struct request *req);
enum az_status connections_delete_handle(struct request *req);

#endif
