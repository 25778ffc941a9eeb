/* The one PostgreSQL connection of a process: prepared statements sent in pipelines, one round trip
 * per batch. */
#ifndef AZ_STORE_DB_DB_H
#define AZ_STORE_DB_DB_H

#include <jansson.h>
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/op.h"

/* Most parameters of one statement, and most statements of one round trip. */
#define DB_PARAMS_MAX 40
#define DB_BATCH_MAX 8
/* Times that a batch is sent again because another transaction was in the way. Of requests that
 * change the same row at least one succeeds in each round, and hosts have some ten workers. */
#define DB_CONFLICTS_MAX 10

/* In place of a partition's number: the statement names none. */
#define DB_NO_PARTITION UINT32_MAX

/* SQLSTATEs that callers handle themselves. */
#define SQLSTATE_FEATURE_NOT_SUPPORTED "0A000"
#define SQLSTATE_FOREIGN_KEY_VIOLATION "23503"
#define SQLSTATE_UNIQUE_VIOLATION "23505"
#define SQLSTATE_DUPLICATE_TABLE "42P07"
#define SQLSTATE_LOCK_NOT_AVAILABLE "55P03"
#define SQLSTATE_UNDEFINED_TABLE "42P01" /* the partition is not there */

/*
 * One SQL statement: a row in a table of the aggregate's file. %P, %D and %R in the text stand for
 * the number of a token partition, of an audit partition and of a refresh token partition. They are
 * filled in when the statement is prepared, with digits that come from us and never from input. A
 * statement that names its partition locks one table instead of all of them (performance.md 3.3).
 * %N stands for pg_notify, or for a function that does nothing where the server refuses
 * notifications.
 *
 * Results are read by the number of the column. A statement NAME with more than one column has an
 * `enum NAME_column` that lists its columns in order, each named like the column after a common
 * word; t/store/statements.t compares these enums with what PostgreSQL returns.
 */
struct db_stmt {
    const char *name; /* unique in the program */
    const char *text; /* SQL with $1.. */
    int params;       /* number of parameters */
};

/* Parameters of one execution: text form unless added as octets or as a time. Entries from `count`
 * on are not set. */
struct db_params {
    const char *value[DB_PARAMS_MAX]; /* NULL = SQL NULL */
    int length[DB_PARAMS_MAX];        /* octets; set for binary values */
    int format[DB_PARAMS_MAX];        /* 0 text, 1 binary */
    int count;                        /* used so far */
    bool lost;                        /* no memory for a value: the statement will not run */
    char room[DB_PARAMS_MAX][24];     /* text of numbers */
};

/* Append one parameter of a statement. */
void db_text(struct db_params *params, const char *text); /* NULL = SQL NULL */
void db_octets(struct db_params *params, const void *octets,
               size_t length); /* bytea, or uuid with 16 octets; NULL = SQL NULL */
void db_number(struct db_params *params, int64_t number); /* as decimal text */
void db_bool(struct db_params *params, bool flag);
void db_time(struct db_params *params, int64_t ms); /* timestamptz, from ms since 1970 */
/* Add a text[] of `count` words, or of words up to a NULL (words NULL = SQL NULL). The value lives
 * on mem. Without memory the statement will fail when it runs. */
void db_words(TALLOC_CTX *mem, struct db_params *params, const char *const *words, size_t count);
void db_words_or_null(TALLOC_CTX *mem, struct db_params *params, const char *const *words);

/* Copy parameters; the values of numbers point into the copy. */
void db_params_copy(struct db_params *to, const struct db_params *from);

/* End of the expression that gives a timestamptz as text, `to_char(created_at` DB_TIME: ISO 8601 in
 * UTC with milliseconds, 2026-01-31T12:00:00.000Z. A cast would follow TimeZone and DateStyle,
 * which an administrator can set for a database. */
#define DB_TIME " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"

/* One statement of a round trip and its outcome. */
struct db_step {
    const struct db_stmt *stmt; /* statement to run */
    uint32_t bucket;            /* for %P, or DB_NO_PARTITION */
    uint32_t day;               /* for %D, or DB_NO_PARTITION */
    uint32_t refresh;           /* for %R; DB_NO_PARTITION until the caller sets it */
    struct db_params params;    /* its parameters */
    PGresult *result;           /* after the trip; freed with the batch */
    char sqlstate[6];           /* "" if it succeeded */
};

struct db_batch;
struct partition_lists;
struct aside_locks;

/* Make a batch on op->mem; freeing op->mem frees it and its results. Never NULL: without memory the
 * batch fails when it runs. */
struct db_batch *db_batch_new(struct op *op);

/* Return the operation that a batch was made for; NULL: there was no memory for the batch. */
struct op *db_batch_op(const struct db_batch *batch);

/*
 * Add a statement and return its step, for the caller to fill in the parameters. Never NULL: if the
 * batch is full or there is no memory, the step is a spare one, and db_run and its siblings fail
 * with a text that says which of the two it was. So callers need not check each step.
 */
struct db_step *db_batch_add(struct db_batch *batch, const struct db_stmt *stmt);
/* The same for a statement that names its partitions. */
struct db_step *db_batch_add_in(struct db_batch *batch, const struct db_stmt *stmt, uint32_t bucket,
                                uint32_t day);
/* Add BEGIN and COMMIT, for steps that must see what others committed after the batch began (under
 * a lock). */
void db_batch_begin(struct db_batch *batch);
void db_batch_commit(struct db_batch *batch);

/* Say that the batch only adds rows, which a reader who does not find them asks the writer for: its
 * commit need not wait until the standby shows it (SVC_DATABASE_READ_URL). */
void db_batch_adds(struct db_batch *batch);

/*
 * Send the batch and read all results: one round trip, one implicit transaction (unless steps say
 * BEGIN/COMMIT). With `reads_only` a lost connection is made again and the batch is sent once more;
 * otherwise a loss after sending is an unknown outcome: AZ_UNAVAILABLE. A batch that another
 * transaction was in the way of (SQLSTATE 40001, 40P01) did nothing and is sent again, at most
 * DB_CONFLICTS_MAX times, unless a transaction is open; then it is AZ_UNAVAILABLE. Any other SQL
 * error is AZ_SERVER_ERROR with the SQLSTATE in the step and in the fault.
 */
enum az_status db_run(struct op *op, struct db_batch *batch, bool reads_only);

/* Like db_run, but return AZ_RETRY without a fault if the batch failed with this SQLSTATE. */
enum az_status db_run_or_retry(struct op *op, struct db_batch *batch, bool reads_only,
                               const char *sqlstate);

/* Like db_run, but return AZ_SQL without a fault for any SQL error; the caller looks at the
 * SQLSTATE. */
enum az_status db_try(struct op *op, struct db_batch *batch, bool reads_only);

/* True if the batch failed with this SQLSTATE. */
bool db_batch_failed_with(const struct db_batch *batch, const char *sqlstate);

/* Fault of such a commit. */
#define DB_UNCONFIRMED "the standby did not confirm the commit, which may be lost with the primary"
/* Fault of an answer by a server that is no longer the primary. */
#define DB_FENCED "the answer is of an old primary, for another server takes writes since"

/* Fail the operation with the database's message about the step that failed: AZ_UNAVAILABLE if
 * another transaction was in the way, else AZ_SERVER_ERROR. */
enum az_status db_batch_fail(struct op *op, const struct db_batch *batch);

/*
 * Send the batch and return without waiting; the next batch or db_settle reads its results. For
 * rows that may be recorded after the answer, such as the audit rows of introspection. The batch
 * moves to the connection.
 */
enum az_status db_send(struct op *op, struct db_batch *batch);

/* Read the results that db_send left open. A failure is a log line ("audit row lost"): the answer
 * is out already. */
void db_settle(struct op *op);

/* Run one statement in one trip; *ret_result (unless NULL) lives on op->mem. */
enum az_status db_exec(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
                       bool reads_only, PGresult **ret_result);

/* Read with a statement of one column. *ret lives on op->mem. */

/* The text of the first row, NULL if there is no row. */
enum az_status db_fetch_text(struct op *op, const struct db_stmt *stmt,
                             const struct db_params *params, const char **ret);
/* All rows, each of them JSON, as the text of one JSON array, or as the array itself. */
enum az_status db_fetch_list(struct op *op, const struct db_stmt *stmt,
                             const struct db_params *params, const char **ret);
enum az_status db_fetch_array(struct op *op, const struct db_stmt *stmt,
                              const struct db_params *params, json_t **ret);

/*
 * Write a row and read it back, in one trip and one transaction. `write` returns one row if it
 * wrote; `read` takes the first parameter of `write`, and *ret is its result, which is NULL if
 * nothing was written. AZ_CONFLICT with the public text `taken`: a unique key is in use.
 */
enum az_status db_write_read(struct op *op, const struct db_stmt *write,
                             const struct db_params *params, const struct db_stmt *read,
                             const char *taken, PGresult **ret);

/* Run statements of a script (migrations, housekeeping) by the simple protocol. The text is ours,
 * never input; NULL fails with "out of memory". */
enum az_status db_script(struct op *op, const char *sql);

/* The same; AZ_RETRY without a fault: a statement failed with this SQLSTATE. */
enum az_status db_script_or_retry(struct op *op, const char *sql, const char *sqlstate);

/*
 * A transaction of several trips (migrations, policy saves). It is READ COMMITTED, whatever the
 * default is: it sees what others committed while it waited for a lock, and meets no conflict that
 * only sending all of it again would solve. While it is open a lost connection is not made again:
 * the next call fails. db_rollback closes the connection if it cannot tell what is open.
 */
enum az_status db_begin(struct op *op);
void db_rollback(struct op *op);

/* End the transaction: commit if st is AZ_OK, else roll back. Return st, or the failure of the
 * commit. */
enum az_status db_end(struct op *op, enum az_status st);

/* Wait at most so many milliseconds for a lock in the open transaction; then the connection is
 * closed, and the call fails with AZ_UNAVAILABLE. */
enum az_status db_limit_lock_wait(struct op *op, int ms);

/* Let PostgreSQL end this session after so many milliseconds of silence, in or out of a
 * transaction; and take that back. */
enum az_status db_limit_silence(struct op *op, int ms);
enum az_status db_allow_silence(struct op *op);

/* Run a statement that does nothing, so that the server does not end a waiting session for being
 * idle. After a failure the next statement fails likewise. */
void db_break_silence(struct op *op);

/* Find out if the server takes notifications, before a transaction that sends one. Once per
 * handle. */
enum az_status db_learn_notify(struct op *op);

/* Subscribe to a NOTIFY channel (a name of ours). db_wait waits at most ms for a notification of
 * another session; true if one came. Where the server refuses notifications it waits for a short
 * time, so that the caller looks by itself. */
enum az_status db_listen(struct op *op, const char *channel);
bool db_wait(struct op *op, int ms);
enum az_status db_unlisten(struct op *op);

/* Make a database handle; it connects when first used. */
struct db *db_new(TALLOC_CTX *mem, const char *url);

/* Make a handle to the same database under the same account, past a pooler, for a process that was
 * forked: the connection of the other handle is not touched. NULL: no memory. */
struct db *db_new_beside(TALLOC_CTX *mem, const struct db *other);

/* Say that the address of a handle leads to a pooler, whose sessions end with each transaction, and
 * `direct` to PostgreSQL itself. False: no memory. */
bool db_use_pooler(struct db *db, const char *direct);
bool db_is_pooled(const struct db *db);

/* Let a process use PostgreSQL itself, past the pooler, for work that needs a session of its own:
 * LISTEN, and settings of a session. Without a pooler nothing changes. False: no memory.
 * db_leave_session goes back, unless it was for_good. */
bool db_enter_session(struct az *az, bool for_good);
void db_leave_session(struct az *az);

/* True if the last attempt to connect failed for what only another setting mends: the address leads
 * to a pooler that cannot be used so. */
bool db_is_misplaced(const struct db *db);

/*
 * Return what is wrong with a connection string or URI, for "SVC_DATABASE_URL: %s"; NULL if libpq
 * understands it. The text is never quoted: the part that libpq stumbles over may be part of a
 * password.
 */
const char *db_url_fault(const char *url);

/* True if both connection strings name one server, and the same. False if one is a list. */
bool db_is_same_server(const char *url, const char *other);

/* The reason why a connection could be read or taken over. */
struct db_exposure {
    const char *host; /* of another machine, or these words: a bare @ or / in the string, so it may
                         hold a part of the password */
    const char *mode; /* sslmode */
};

/* True if a connection string leads to another machine and does not demand TLS with a verified
 * certificate (or GSSAPI); the variables of libpq count where the string says nothing. On mem. */
bool db_url_is_exposed(TALLOC_CTX *mem, const char *url, struct db_exposure *ret);

/*
 * Let root connect under this account, which PostgreSQL then sees (peer authentication), if the
 * connection string and PGUSER name no user. Everything else stays root's.
 */
void db_connect_as(struct db *db, uid_t account);

/* Close the connection (before fork, or after a test). The next use connects again. */
void db_close(struct db *db);

/* Make sure there is a connection: AZ_UNAVAILABLE otherwise; AZ_CONFLICT if the URL is not valid.
 * An idle connection is checked first, so that a server that went away costs no request. */
enum az_status db_connect(struct op *op);

/* True while there is a connection. */
bool db_is_open(const struct db *db);

/* The place of the partition lists that are kept with this handle, for partitions.c. */
struct partition_lists **db_partition_lists(struct db *db);

/* The place of the locks that are held beside this handle, for locks.c. */
struct aside_locks **db_aside_locks(struct db *db);

/* Round trips since the start of the process. */
uint64_t db_trips(const struct db *db);

/* True between db_begin and db_end. */
bool db_in_transaction(const struct db *db);

/* Grows by one with each new connection, which makes all cached facts about the session void. */
unsigned db_generation(const struct db *db);

/* Return the text of a column (NULL for SQL NULL, or if there is no such row), or the number or
 * boolean of a text column. */
const char *db_get(const PGresult *result, int row, int column);
int64_t db_get_number(const PGresult *result, int row, int column, int64_t otherwise);
bool db_get_bool(const PGresult *result, int row, int column);
/* Return the number of rows that a statement wrote. */
int64_t db_written(const PGresult *result);
/* Read the octets of a bytea column given in text form (hex), allocated on mem. */
enum az_status db_get_octets(TALLOC_CTX *mem, const PGresult *result, int row, int column,
                             unsigned char **ret, size_t *ret_len);

/* Read the words of a text[] column that the statement gives as JSON (to_json(column)), NULL at the
 * end; *ret is NULL for SQL NULL. One block on mem. AZ_SERVER_ERROR: not an array of strings, or no
 * memory. */
enum az_status db_get_words(TALLOC_CTX *mem, const PGresult *result, int row, int column,
                            const char ***ret);

/* Most nesting of a JSON document that is read from a column; its writer bounded it before. */
#define DB_JSON_DEPTH_MAX 32

/* Read a bytea or JSON column onto op->mem. SQL NULL leaves *ret untouched. A column that cannot be
 * read is AZ_SERVER_ERROR with a fault, never NULL: a lost restriction would allow more. */
enum az_status db_read_octets(struct op *op, const PGresult *result, int row, int column,
                              const unsigned char **ret, size_t *ret_len);
enum az_status db_read_json(struct op *op, const PGresult *result, int row, int column,
                            json_t **ret);

#endif
