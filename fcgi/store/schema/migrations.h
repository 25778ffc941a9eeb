/* The files of sql/, and what the database says of them. For the files of this room. */
#ifndef AZ_STORE_SCHEMA_MIGRATIONS_H
#define AZ_STORE_SCHEMA_MIGRATIONS_H

#include <libpq-fe.h>
#include <stddef.h>

#include "base/op.h"
#include "crypto/digest.h"

/* One file of sql/. Its first line may say what it does to a database in use (migration_plan.h).
 * The checksum leaves that line out, which files got after they were applied. */
struct migration {
    int version;                    /* leading digits of the name */
    const char *name;               /* file name */
    const char *text;               /* content */
    const char *plan;               /* the first line after "-- plan: ", or NULL */
    char checksum[SHA256_HEX_SIZE]; /* of the content behind that line */
};

/* Read all files in order of their numbers, on op->mem. */
enum az_status migrations_read(struct op *op, struct migration **ret, size_t *ret_count);

/* Read what is applied, in order: version, name, checksum and time; *ret is NULL in an empty
 * database. */
enum az_status schema_read_applied(struct op *op, PGresult **ret);

/* Return the row of a version, or -1. */
int schema_find_applied(const PGresult *applied, int version);

#endif
