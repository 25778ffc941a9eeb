/* Migrations: numbered files of sql/, each applied once; their checksums are stored. Also the check
 * of the schema at start. */
#ifndef AZ_STORE_SCHEMA_SCHEMA_H
#define AZ_STORE_SCHEMA_SCHEMA_H

#include <jansson.h>

#include "base/op.h"

/* The newest migration this program knows. A database with a lower number is too old. */
#define SCHEMA_VERSION 65

/* Apply the missing migrations, each in its own transaction, under the migration lock. *ret_applied
 * counts them. */
enum az_status schema_migrate(struct op *op, int *ret_applied);

/* List {version, name, appliedAt?, state: applied|missing|changed}; the array belongs to
 * op->mem. */
enum az_status schema_status(struct op *op, json_t **ret);

/* Return AZ_OK if the database has a version that this program can use; else AZ_CONFLICT, with the
 * remedy in the detail. */
enum az_status schema_check(struct op *op);

#endif
