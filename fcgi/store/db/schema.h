/* Migrations: numbered files of sql/, applied once each, checksums remembered; and the check at
 * start. */
#ifndef AZ_STORE_DB_SCHEMA_H
#define AZ_STORE_DB_SCHEMA_H

#include <jansson.h>

#include "base/op.h"

/* The newest migration this program knows. A database with a lower number is too old; one with a
 * higher is newer than us. */
#define SCHEMA_VERSION 3

/* Applies what is missing, each file in its own transaction under the migration lock. *ret_applied
 * counts. */
enum az_status schema_migrate(struct op *op, int *ret_applied);

/* Rows {version, name, appliedAt?, state: applied|missing|changed}; array owned by op->mem. */
enum az_status schema_status(struct op *op, json_t **ret);

/* AZ_OK when the database has the version this program knows; else AZ_CONFLICT with what to do
 * in the detail. */
enum az_status schema_check(struct op *op);

#endif
