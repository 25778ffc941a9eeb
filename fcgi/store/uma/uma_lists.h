/* UMA resources and delegations of all owners, as the administrator finds them. */
#ifndef AZ_STORE_UMA_UMA_LISTS_H
#define AZ_STORE_UMA_UMA_LISTS_H

#include "base/json/fields.h"
#include "store/db/rows/json_rows.h"

/* States of a delegation, ending with NULL: live, or ended by a revocation or by its time. */
extern const char *const delegation_states[];

/* Delegations, the newest first, and the members of one. Filters: a subject and a client, each of
 * either side, the id of a resource, and a state. */
extern const struct json_rows delegation_rows;
extern const struct field_table delegation_view;

/* Registered resources, the newest first, and the members of one. Filters: a part of the name in
 * any case, the subject and the client of the owner. */
extern const struct json_rows uma_resource_rows;
extern const struct field_table uma_resource_view;

#endif
