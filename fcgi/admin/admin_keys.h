/* /admin/api/admin-keys: the keys without their plaintext (specification 2.8). */
#ifndef AZ_ADMIN_ADMIN_KEYS_H
#define AZ_ADMIN_ADMIN_KEYS_H

#include "admin/resource.h"

extern const struct admin_resource admin_keys_resource;

#endif
