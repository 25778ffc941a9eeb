/* /admin/api/admin-keys: which keys there are (specification 2.8). Their plaintext is not in the
 * list. */
#ifndef AZ_ADMIN_ADMIN_KEYS_H
#define AZ_ADMIN_ADMIN_KEYS_H

#include "http/route.h"

enum az_status admin_keys_list_handle(struct request *req);

#endif
