/* The one PostgreSQL connection of a process: prepared statements sent in pipelines, one round trip
 * per batch. */
#ifndef AZ_STORE_DB_DB_H
#define AZ_STORE_DB_DB_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* Most parameters of one statement, and most statements of one round trip. */
#define DB_PARAMS_MAX 32
#define DB_BATCH_MAX 8

/* In place of a partition's number: the statement names none. */
#define DB_NO_PARTITION UINT32_MAX

/*
 * One SQL statement: a row in a table of the aggregate's file. %P, %D and %R in the text stand for
 * the number of a token partition, of an audit partition and of one of refresh tokens (digits made
 * by us, never input), filled in when it is prepared: statements that name their partition lock one
 * table, not all of them (performance.md 3.3).
 *
 * Results are read by the number of the column. Beside a statement NAME that is read stands an
 * `enum NAME_column` with its columns in order, each named like the column after a common word;
 * t/store/statements.t holds all of them against what PostgreSQL makes of the text.
 */
struct db_stmt {
    const char *name; /* unique in the program */
    const char *text; /* SQL with $1.. */
    int params;       /* how many */
};

/* Parameters of one execution: text form unless added as octets or as a time. Entries from `count`
 * on are not set. */
struct db_params {
    const char *value[DB_PARAMS_MAX]; /* NULL = SQL NULL */
    int length[DB_PARAMS_MAX];        /* octets; set for the binary ones */
    int format[DB_PARAMS_MAX];        /* 0 text, 1 binary */
    int count;                        /* used so far */
    char room[DB_PARAMS_MAX][24];     /* text of numbers */
};

void db_text(struct db_params *params, const char *text); /* NULL = SQL NULL */
void db_octets(struct db_params *params, const void *octets,
               size_t length);                            /* bytea, or uuid with 16 octets */
void db_number(struct db_params *params, int64_t number); /* as decimal text */
void db_bool(struct db_params *params, bool flag);
void db_time(struct db_params *params, int64_t ms); /* timestamptz, from ms since 1970 */
/* A text[] literal of `count` words; the literal lives on mem. */
enum az_status db_words(TALLOC_CTX *mem, struct db_params *params, const char *const *words,
                        size_t count);

/* One statement of a round trip and what became of it. */
struct db_step {
    const struct db_stmt *stmt; /* what */
    uint32_t bucket;            /* for %P, or DB_NO_PARTITION */
    uint32_t day;               /* for %D, or DB_NO_PARTITION */
    uint32_t refresh;        /* for %R, or DB_NO_PARTITION, which it is until the caller sets it */
    struct db_params params; /* with what */
    PGresult *result;        /* after the trip; freed with the batch */
    char sqlstate[6];        /* "" when it succeeded */
};

struct db_batch;
struct partition_lists;

/* A batch on op->mem; freeing op->mem frees it and its results. */
struct db_batch *db_batch_new(struct op *op);

/* Adds a statement; fill the parameters of the step that comes back. NULL when the batch is full or
 * NULL. */
struct db_step *db_batch_add(struct db_batch *batch, const struct db_stmt *stmt);
/* The same for a statement that names its partitions. */
struct db_step *db_batch_add_in(struct db_batch *batch, const struct db_stmt *stmt, uint32_t bucket,
                                uint32_t day);
/* BEGIN and COMMIT, for steps that must see what others committed after the batch began (under a
 * lock). */
struct db_step *db_batch_begin(struct db_batch *batch);
struct db_step *db_batch_commit(struct db_batch *batch);

/*
 * Sends the batch and reads all results: one round trip, one implicit transaction (unless steps say
 * BEGIN/COMMIT). With `reads_only` a lost connection is re-made and the batch sent once more;
 * otherwise a loss after sending is an unknown outcome: AZ_UNAVAILABLE. An SQL error is
 * AZ_SERVER_ERROR with the SQLSTATE in the step and the fault; errors the caller wants to decide
 * itself are asked for with db_batch_try.
 */
enum az_status db_run(struct op *op, struct db_batch *batch, bool reads_only);

/* As db_run, but an SQL error yields AZ_INVALID without a fault, for the caller to look at the
 * steps' SQLSTATE. */
enum az_status db_try(struct op *op, struct db_batch *batch, bool reads_only);

/* Whether the batch failed with this SQLSTATE. */
bool db_batch_failed_with(const struct db_batch *batch, const char *sqlstate);

/* What the database said of the step that failed, for the operator. */
const char *db_batch_message(const struct db_batch *batch);

/*
 * Sends the batch and returns without waiting; its results are read by the next batch or by
 * db_settle. For rows that may be recorded after the answer (decisions.md "UMA, delegation,
 * AuthZEN, admin", last item). The batch must outlive that: it is moved to the connection.
 */
enum az_status db_send(struct op *op, struct db_batch *batch);

/* Reads what db_send left open. AZ_OK when there was nothing or all succeeded. */
enum az_status db_settle(struct op *op);

/* One statement, one trip; *ret_result lives on op->mem. */
enum az_status db_exec(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
                       bool reads_only, PGresult **ret_result);

/* Several statements of a script (migrations, housekeeping) by the simple protocol. The text is
 * ours, never input. */
enum az_status db_script(struct op *op, const char *sql);

/*
 * A transaction of several trips (migrations, policy saves). While it is open a lost connection is
 * not re-made: the next call fails. db_rollback closes the connection when it cannot tell what is
 * open.
 */
enum az_status db_begin(struct op *op);
enum az_status db_commit(struct op *op);
void db_rollback(struct op *op);

/* Subscribes to a NOTIFY channel (a name of ours) and waits for a notification of another session
 * at most ms; true when one came. */
enum az_status db_listen(struct op *op, const char *channel);
bool db_wait(struct op *op, int ms);
enum az_status db_unlisten(struct op *op);

/* A database handle; connects when first used. */
struct db *db_new(TALLOC_CTX *mem, const char *url);

/*
 * What keeps a text from being a connection string or URI, for "SVC_DATABASE_URL: %s"; NULL when
 * libpq understands it. The text is never quoted: a part of it that libpq stumbles over may be a
 * part of a password.
 */
const char *db_url_fault(const char *url);

/* Closes the connection (before fork, or after a test). The next use connects again. */
void db_close(struct db *db);

/* Makes sure there is a connection: AZ_UNAVAILABLE otherwise; AZ_CONFLICT when the URL is none. One
 * that idled is looked at first, so that a server that went away meanwhile costs no request. */
enum az_status db_connect(struct op *op);

/* The raw connection for LISTEN and COPY users, NULL when down. Pipeline mode is off between
 * batches. */
PGconn *db_raw(struct db *db);

/* The partition lists kept with this handle (partitions.h). */
struct partition_lists *db_partition_lists(struct db *db);

/* Round trips since the start of the process. */
uint64_t db_trips(const struct db *db);

/* Grows by one with each new connection: what was cached about the session is void then. */
unsigned db_generation(const struct db *db);

/* Reading results: text of a column (NULL for SQL NULL, or when there is no such row), numbers and
 * booleans of text columns. */
const char *db_get(const PGresult *result, int row, int column);
int64_t db_get_number(const PGresult *result, int row, int column, int64_t otherwise);
bool db_get_bool(const PGresult *result, int row, int column);
/* Rows that a statement wrote. */
int64_t db_written(const PGresult *result);
/* Octets of a bytea column given in text form (hex), allocated on mem. */
enum az_status db_get_octets(TALLOC_CTX *mem, const PGresult *result, int row, int column,
                             unsigned char **ret, size_t *ret_len);

/* Words of a text[] column that the statement gives as JSON (to_json(column)), NULL at the end;
 * *ret is NULL for SQL NULL. One block on mem. AZ_SERVER_ERROR: no array of strings, or no memory.
 */
enum az_status db_get_words(TALLOC_CTX *mem, const PGresult *result, int row, int column,
                            const char ***ret);

#endif
