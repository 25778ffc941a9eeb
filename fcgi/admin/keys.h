/* The keys that sign ID tokens and software statements, for the administrator (decisions.md
 * "Signing keys over the admin API"). */
#ifndef AZ_ADMIN_KEYS_H
#define AZ_ADMIN_KEYS_H

#include "http/route.h"

/* Body of a rotation: {use}. */
extern const struct field_table key_rotation_table;

/* List all stored keys with their public facts: no key material. */
enum az_status keys_list_handle(struct request *req);

/* Make the next key of a use active and answer with the list. 409 while verifiers may not know that
 * key yet. */
enum az_status keys_rotate_handle(struct request *req);

#endif
