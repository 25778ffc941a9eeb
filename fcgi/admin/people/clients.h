/* /admin/api/clients (specification 2.1, 4.12; decisions.md "Clients and registration"). */
#ifndef AZ_ADMIN_CLIENTS_H
#define AZ_ADMIN_CLIENTS_H

#include "admin/resource/resource.h"

extern const struct admin_resource clients_resource;

/* POST /admin/api/clients/{clientId}/rotate-secret: {clientId, clientSecret, rotatedAt,
 * previousSecretExpiresAt}. */
enum az_status client_rotate_handle(struct request *req);

/* SecretRotation: the members of the body. */
extern const struct field_table client_rotation_table;

/* The body of rotate-secret. */
extern const struct field_table client_rotation_table;

#endif
