/*
 * Rows of one table as an administrator reads and writes them: in as a JSON object of column
 * values, bound by name, out as the JSON that a view shapes. One struct json_rows per table holds
 * its statements; there is no code for a single table here.
 */
#ifndef AZ_STORE_DB_ROWS_JSON_ROWS_H
#define AZ_STORE_DB_ROWS_JSON_ROWS_H

#include <stddef.h>

#include "store/db/db.h"

/* The DTO of a row `d` of a view, without members that are null. */
#define JSON_ROWS_DTO "json_strip_nulls(row_to_json(d))"

/* Octets shown of a key that is taken; the public text of a failure has 255. */
#define JSON_ROWS_KEY_SHOWN 128

/* The statements of a table. NULL: the operation is not offered. */
struct json_rows {
    const char *noun;    /* one row, for log texts: "client" */
    const char *key;     /* name of the key in the API: "clientId" */
    const char *besides; /* another member that must be unique, for the text of a 409: " or its
                            issuer", or "" */
    const char *taken;   /* public text of a 409 when that other member is taken */
    const struct db_stmt *list; /* $1.. filters, NULL: any; one column: the DTO */
    const struct db_stmt
        *page; /* $1.. filters, then the limit of rows (NULL: no limit) and the offset; returns the
                  number of all rows, and the rows of the page as a JSON array */
    const struct db_stmt *fetch;   /* $1 key; the DTO, and the version if rows have one */
    const struct db_stmt *insert;  /* $1 key, $2 columns as JSON, $3 sealed secret if the table has
                                      one; returns a row unless the key is taken */
    const struct db_stmt *replace; /* the same parameters, and as $4 the version that the row must
                                      have (NULL: any version); returns the changed row, if any */
    const struct db_stmt *remove;  /* $1 key, $2 the version if rows have one; returns a row unless
                                      there was none */
    const struct db_stmt *after;   /* run when a write is committed, or NULL: nothing is */
    const char *owned;             /* kind of a row in object_owner, or NULL */
};

/* A row to be written. */
struct json_row {
    const char *key;             /* name of the row in paths */
    const char *columns;         /* JSON object; an absent column gets its default */
    const unsigned char *sealed; /* new secret, sealed, or NULL if none was given */
    size_t sealed_length;        /* octets */
    const char *version;         /* version that the stored row must have, or NULL: any */
    const char *owner;           /* marks the row in the same transaction (rows->owned), or NULL */
};

/* A row as it is shown; on op->mem. */
struct json_shown {
    const char *dto;     /* JSON text; NULL: there is no such row */
    const char *version; /* changes with each write of the row; NULL if rows have no version */
};

/* Read all rows that match the filters (`count` values in the order of the statement) as a JSON
 * array on op->mem. One trip. */
enum az_status json_rows_list(struct op *op, const struct json_rows *rows,
                              const char *const *filters, int count, const char **ret_array);

/* Read by a statement whose filters may be NULL, with a plan for the values that are given: a plan
 * for any would look at all rows of a filter that has an index. One trip. */
enum az_status json_rows_filter(struct op *op, const struct db_stmt *stmt,
                                const struct db_params *params, PGresult **ret);

/* A page of rows. */
struct json_page {
    int64_t limit;     /* most rows; 0: all */
    int64_t offset;    /* rows before it */
    const char *array; /* result: JSON text on op->mem */
    int64_t total;     /* result: rows of all pages */
};

/* Read a page of the rows that match the filters. One trip. */
enum az_status json_rows_page(struct op *op, const struct json_rows *rows,
                              const char *const *filters, int count, struct json_page *page);

/* Read one row. One trip. */
enum az_status json_rows_fetch(struct op *op, const struct json_rows *rows, const char *key,
                               struct json_shown *ret);

/* Insert a row and read it back. AZ_CONFLICT: the key, or another unique value, is taken, or the
 * row has another owner. One trip, and one for `after`; with an owner three more. */
enum az_status json_rows_insert(struct op *op, const struct json_rows *rows,
                                const struct json_row *row, struct json_shown *ret);

/* Replace a row and read it back. AZ_NOT_FOUND; AZ_PRECONDITION_FAILED: the row has another
 * version, or is gone; AZ_CONFLICT: a unique value is taken. One trip, and one for `after`. */
enum az_status json_rows_replace(struct op *op, const struct json_rows *rows,
                                 const struct json_row *row, struct json_shown *ret);

/* Delete a row, with `version` only that one (NULL: any). AZ_NOT_FOUND, AZ_PRECONDITION_FAILED. One
 * trip, and one for `after`. */
enum az_status json_rows_delete(struct op *op, const struct json_rows *rows, const char *key,
                                const char *version);

#endif
