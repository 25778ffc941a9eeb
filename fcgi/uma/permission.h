/* POST /permission (Federated Authorization for UMA 2.0 section 4; specification 4.9). */
#ifndef AZ_UMA_PERMISSION_H
#define AZ_UMA_PERMISSION_H

#include "http/route.h"

/* Permissions of one ticket. */
#define PERMISSIONS_MAX 20

/* The members of one permission. */
extern const struct field_table uma_permission_table;

/* Return the JSON Schema of the body: one permission, or an array of them. */
json_t *permission_body_schema(void);

/* Give a ticket for permissions on resources of the owner. */
enum az_status permission_handle(struct request *req);

#endif
