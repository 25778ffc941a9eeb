/* A row of the board as octets: the parameters of one statement. */
#ifndef AZ_STORE_DB_COMMIT_ROW_H
#define AZ_STORE_DB_COMMIT_ROW_H

#include <stdbool.h>
#include <stddef.h>

#include "store/db/commit_board.h"
#include "store/db/db.h"

/* Kinds of rows, the same in all processes of this program. If the parameters of one change, so
 * does COMMITS_MAGIC (process.c). */
enum commit_number { COMMIT_TOKEN = 1, COMMIT_AUDIT = 2 };

/* Rows that can be written together. */
struct commit_kind {
    enum commit_number number;
    const char *types;             /* of its parameters: t text, b bytea, u uuid, z timestamptz */
    const struct db_stmt *one;     /* the statement of one row */
    const struct db_stmt *missing; /* of LANE_LATER: the same unless the row is there */
};

/* Write parameters into a row; false: they do not fit, and the row is as before. */
bool commit_row_write(struct commit_row *row, const struct commit_kind *kind, uint32_t bucket,
                      uint32_t day, const struct db_params *params);

/* Read the parameters again, for a statement of one row; they point into the row. False: it is not
 * a row of this kind. */
bool commit_row_read(const struct commit_row *row, const struct commit_kind *kind,
                     struct db_params *ret);

#endif
