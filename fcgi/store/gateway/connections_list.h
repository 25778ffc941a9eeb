/* Connections as the administrator finds them: of a resource, of a person, or all. */
#ifndef AZ_STORE_GATEWAY_CONNECTIONS_LIST_H
#define AZ_STORE_GATEWAY_CONNECTIONS_LIST_H

#include "base/json/fields.h"
#include "store/db/rows/json_rows.h"

/* Statuses of a connection, ending with NULL. */
extern const char *const connection_statuses[];

/* Connections without their secrets, the newest first, and the members of one. Filters: the
 * resource, the subject and the status. */
extern const struct json_rows connection_rows;
extern const struct field_table connection_view;

#endif
