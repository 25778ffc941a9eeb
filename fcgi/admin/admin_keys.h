/* /admin/api/admin-keys: the keys of administrators (specification 2.8, 5.1). */
#ifndef AZ_ADMIN_ADMIN_KEYS_H
#define AZ_ADMIN_ADMIN_KEYS_H

#include "admin/resource/resource.h"

/* The body of a request for a key: {label, role, expiresAt}. */
extern const struct field_table admin_key_table;

/* Make a key from such a body. Answer 201 with its view and the plaintext as `key`, or 400. */
enum az_status admin_key_create_handle(struct request *req);

/* Revoke a key. Answer 204; 404; 409 for the configured key and for the last valid one of an owner.
 */
enum az_status admin_key_delete_handle(struct request *req);

/* Show the plaintext of any key to an owner (specification 5.1). Answer 200 {key}, or 404. */
enum az_status admin_key_plaintext_handle(struct request *req);

#endif
