/* The roles of the database: the owner of the tables, and roles of the service, which may write
 * rows but change neither the schema nor the audit log. */
#ifndef AZ_STORE_SCHEMA_ROLES_H
#define AZ_STORE_SCHEMA_ROLES_H

#include <stdbool.h>

#include "base/op.h"

/* *ret: the role of the connection owns the tables, so it may drop partitions and prune the audit
 * log. */
enum az_status roles_owns(struct op *op, bool *ret);

/* Give a role what the service needs, and take everything else away. The connection is the owner's.
 */
enum az_status roles_grant(struct op *op, const char *role);

/* Do that again, for the tables of new migrations, for each role that has it. *ret counts them. */
enum az_status roles_grant_again(struct op *op, int *ret);

#endif
