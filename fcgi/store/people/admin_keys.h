/* Admin keys, found by an HMAC under the pepper; their plaintext is stored sealed (specification
 * 5.1, 5.5). */
#ifndef AZ_STORE_PEOPLE_ADMIN_KEYS_H
#define AZ_STORE_PEOPLE_ADMIN_KEYS_H

#include <jansson.h>

#include "base/json/fields.h"
#include "base/op.h"
#include "store/db/json_rows.h"

/* Longest label, in characters. It is shown in lists and in audit rows. */
#define ADMIN_KEY_LABEL_MAX 128

/* Make the row of SVC_ADMIN_API_KEY (managedBy environment), and revoke the key that was configured
 * before. */
enum az_status admin_key_register_configured(struct op *op);

/* Find the label of the unrevoked key with this plaintext, or NULL. One trip. */
enum az_status admin_key_find(struct op *op, const char *plaintext, const char **ret_label,
                              const char **ret_id);

/* Make a key: *ret_plaintext is shown once and is wiped with op->mem; *ret_id is the id of its row,
 * on op->mem. */
enum az_status admin_key_mint(struct op *op, const char *label, const char **ret_plaintext,
                              const char **ret_id);

/* Revoke a key by id. AZ_NOT_FOUND; AZ_CONFLICT for the configured key and for the last active one.
 */
enum az_status admin_key_revoke(struct op *op, const char *id);

/* Open the plaintext of a key, revoked or not; it is wiped with op->mem. AZ_NOT_FOUND. */
enum az_status admin_key_reveal(struct op *op, const char *id, const char **ret_plaintext);

/* AdminApiKeyView (specification 2.8) of all keys, active and revoked, and its members. */
extern const struct json_rows admin_key_rows;
extern const struct field_table admin_key_view;

#endif
