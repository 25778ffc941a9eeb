/* GET /admin/api/clients: all clients, or a page of those that match (specification 4.12,
 * gateway-admin.md 3.6). */
#ifndef AZ_ADMIN_PEOPLE_CLIENT_LIST_H
#define AZ_ADMIN_PEOPLE_CLIENT_LIST_H

#include "http/route.h"

/* Clients of a page: by default, as the console shows, and at most. */
#define CLIENTS_SIZE 50
#define CLIENTS_SIZE_MAX 200
/* Largest offset of a page: more clients than an administrator pages through. */
#define CLIENTS_OFFSET_MAX 100000

extern const struct route_param clients_list_params[];

/* Answer 200 with the array, of a page if `page` or `size` is given, and X-Total-Count; 400 with
 * fieldErrors. */
enum az_status clients_list_handle(struct request *req);

#endif
