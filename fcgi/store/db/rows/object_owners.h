/* Owners of objects: the directory of files (`owner` of its instance.json) that keeps an object as
 * it says (doc/design/instance.md F5). An object is a client, an identity provider, a managed
 * resource, a connector, a rule, a data row, or one entry of a data row. */
#ifndef AZ_STORE_DB_ROWS_OBJECT_OWNERS_H
#define AZ_STORE_DB_ROWS_OBJECT_OWNERS_H

#include "base/json/fields.h"
#include "store/db/db.h"

/* Most marks of one request. */
#define OBJECT_OWNERS_MAX 1000
/* Longest name of an object, in code points: the name of an entry has a data key and two names. */
#define OBJECT_KEY_MAX 2048

/* A mark as the admin API shows it. */
extern const struct field_table object_owner_view;

/* Read the marks of an owner (NULL: of all) as a JSON array on op->mem. */
enum az_status object_owners_list(struct op *op, const char *owner, const char **ret_array);

/* Write marks, `count` items {kind, key, digest, mac?} of a JSON array, all or none. AZ_CONFLICT:
 * an object belongs to another owner, is named twice, or is not stored. An object that is created
 * later gets no mark from this call. */
enum az_status object_owners_write(struct op *op, const char *owner, const json_t *marks);

/* The same in the transaction that is open. */
enum az_status object_owners_put(struct op *op, const char *owner, const json_t *marks);

/* Mark one object in the transaction that writes it. Its digest is not known until
 * object_owners_write(). AZ_CONFLICT: it belongs to another owner. */
enum az_status object_owner_mark(struct op *op, const char *owner, const char *kind,
                                 const char *key);

/* Read which marks have the MAC of an item {kind, key, mac}: an array of true and false, in the
 * order of the items. */
enum az_status object_owners_compare(struct op *op, const json_t *items, const char **ret_array);

/* Delete a mark, not the object. AZ_NOT_FOUND. */
enum az_status object_owner_delete(struct op *op, const char *kind, const char *key);

#endif
