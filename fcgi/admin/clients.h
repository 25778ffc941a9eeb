/* /admin/api/clients: clients as the administrator manages them (specification 2.1, 4.12;
 * decisions.md "Clients"). */
#ifndef AZ_ADMIN_CLIENTS_H
#define AZ_ADMIN_CLIENTS_H

#include "http/route.h"

enum az_status clients_list_handle(struct request *req);
enum az_status clients_create_handle(struct request *req);
enum az_status client_get_handle(struct request *req);
enum az_status client_put_handle(struct request *req);
enum az_status client_delete_handle(struct request *req);
enum az_status client_rotate_handle(struct request *req);

#endif
