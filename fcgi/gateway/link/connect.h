/* The page of a person's connections, and connecting without a client (gateway-admin.md 3.5). */
#ifndef AZ_GATEWAY_LINK_CONNECT_H
#define AZ_GATEWAY_LINK_CONNECT_H

#include "http/route.h"

extern const struct route_param connections_page_params[];
extern const struct route_param connect_params[];
extern const struct route_param disconnect_params[];

/* Show the connections of the signed-in person. */
enum az_status connections_show_handle(struct request *req);

/* Make a link for the signed-in person and lead to its page. */
enum az_status connect_handle(struct request *req);

/* Delete a connection, and revoke its tokens at the upstream if that is possible. */
enum az_status disconnect_handle(struct request *req);

#endif
