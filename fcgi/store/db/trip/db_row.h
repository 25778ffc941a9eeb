/*
 * The reader of rows: a table has one row per column of a statement, in the order of its columns.
 * It says how the value is read and where it goes in a struct, as base/json/fields.h does for JSON.
 * The table of statement NAME is NAME_columns, which t/store/statements.t compares with what
 * PostgreSQL returns.
 */
#ifndef AZ_STORE_DB_TRIP_DB_ROW_H
#define AZ_STORE_DB_TRIP_DB_ROW_H

#include <jansson.h>
#include <stddef.h>

#include "store/db/db.h"

/* The C type that a column is read into. */
enum db_kind {
    DB_SKIPPED, /* nothing reads the column */
    DB_TEXT,    /* const char *, in the result, or copied */
    DB_TRUTH,   /* bool */
    DB_NUMBER,  /* int64_t */
    DB_INT,     /* int */
    DB_SIZE,    /* size_t: a number below 0 is a fault */
    DB_FIXED,   /* unsigned char[], a bytea of exactly that many octets, never NULL */
    DB_OCTETS,  /* const unsigned char *, a bytea */
    DB_JSON,    /* json_t *, at most DB_JSON_DEPTH_MAX deep */
    DB_WORDS,   /* const char **, a text[] as JSON (db_get_words) */
};

/* One column. */
struct db_column {
    const char *name;  /* as PostgreSQL returns it */
    enum db_kind kind; /* set by DB_INTO and its siblings, with what follows */
    size_t offset;     /* of the member */
    size_t size;       /* octets that a bytea must have; 0: any number, which goes to `length` */
    size_t length;     /* offset of a size_t */
    bool needed;       /* NULL is a fault; else it leaves the member as it is */
};

/* The member of a struct that a column goes to. The compiler checks its type. */
#define DB_INTO(type, member)                                                                      \
    .kind = _Generic(((type *) 0)->member,                                                         \
        const char *: DB_TEXT,                                                                     \
        bool: DB_TRUTH,                                                                            \
        int64_t: DB_NUMBER,                                                                        \
        int: DB_INT,                                                                               \
        size_t: DB_SIZE,                                                                           \
        unsigned char *: DB_FIXED,                                                                 \
        json_t *: DB_JSON,                                                                         \
        const json_t *: DB_JSON,                                                                   \
        const char **: DB_WORDS),                                                                  \
    .offset = offsetof(type, member), .size = sizeof(((type *) 0)->member)

/* A pointer to octets, and the size_t for their number. */
#define DB_OCTETS_INTO(type, member, its_length)                                                   \
    .kind = _Generic(((type *) 0)->member, const unsigned char *: DB_OCTETS),                      \
    .offset = offsetof(type, member),                                                              \
    .length = _Generic(((type *) 0)->its_length, size_t: offsetof(type, its_length))

/* A pointer to exactly `count` octets. */
#define DB_EXACTLY_INTO(type, member, count)                                                       \
    .kind = _Generic(((type *) 0)->member, const unsigned char *: DB_OCTETS),                      \
    .offset = offsetof(type, member), .size = (count)

/* A column that nothing reads. */
#define DB_SKIP .kind = DB_SKIPPED

/* The columns of a row, and the struct that they are read into. */
struct db_table {
    const struct db_column *column;
    size_t count;
    size_t size; /* of the struct */
};

/* The table of these columns, which are read into a struct of this type. */
#define DB_TABLE(type, columns)                                                                    \
    (&(const struct db_table){(columns), sizeof(columns) / sizeof((columns)[0]), sizeof(type)})

/*
 * Read a row into *ret. Set defaults before reading: SQL NULL leaves a member as it is. Texts stay
 * in the result; all else is on op->mem. A column that cannot be read, or another number of columns
 * than the table has, is AZ_SERVER_ERROR with a fault, and *ret is all zeros then: a lost
 * restriction would allow more.
 */
enum az_status db_read_row(struct op *op, const PGresult *result, int row,
                           const struct db_table *table, void *ret);

/* The same for a struct that outlives the operation: texts are copied, and all is on mem. */
enum az_status db_copy_row(struct op *op, TALLOC_CTX *mem, const PGresult *result, int row,
                           const struct db_table *table, void *ret);

/* Read all rows into an array on op->mem, with zeros where a column is NULL. It is never NULL. */
enum az_status db_read_rows(struct op *op, const PGresult *result, const struct db_table *table,
                            void *ret, size_t *ret_count);

/* Run one statement in one trip (db_exec) and read its first row. *ret_found (unless NULL) is false
 * if there is no row; *ret is as it was then. */
enum az_status db_fetch_row(struct op *op, const struct db_stmt *stmt,
                            const struct db_params *params, bool reads_only,
                            const struct db_table *table, void *ret, bool *ret_found);

#endif
