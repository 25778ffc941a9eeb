/*
 * Private parts of the database handle, for the db_*.c files only. Each file calls only those
 * before it in this list: db_result.c (columns), db_batch.c (batches, parameters), db_prepared.c
 * (statements that the server knows, and batches that are sent again), db_hosts.c (servers, and a
 * pooler before them), db_connect.c (making a connection), db.c (connection), db_trip.c (round
 * trips), db_session.c (one statement, scripts, transactions), db_row.c (rows, by tables) and
 * db_standby.c (reads at a standby).
 */
#ifndef AZ_STORE_DB_DB_PRIVATE_H
#define AZ_STORE_DB_DB_PRIVATE_H

#include "store/db/db_board.h"

#define DB_NO_MEMORY "out of memory"
/* Faults of a trip without an answer: it only reads, or may have written. */
#define DB_LOST "connection lost; look at the network and at the log of PostgreSQL"
#define DB_LOST_WRITE                                                                              \
    "connection lost before the answer, so the write may have happened: look at the network and "  \
    "at the log of PostgreSQL, and send the request again"

/* A statement that waits for a lock ends before we stop waiting for it, and one whose process is
 * gone ends too. Otherwise such a backend would still write after it got the lock. Warnings are
 * sent, whatever the role has: they tell of a commit that the standby did not confirm. No statement
 * runs as long as it takes to compile it. */
#define DB_LOCK_TIMEOUT "5s"
#define DB_CHECK_INTERVAL "2s"
#define DB_LEAST_MESSAGE "warning"
#define DB_JIT "off"
#define DB_PREPARED_SLOTS 256
/* Longest name of a prepared statement, with its partitions: PostgreSQL cuts names at 63 octets. */
#define DB_NAME_SIZE 64

/* Room for the reason why there is no connection, with a part per server. */
#define DB_FAULT_SIZE 480
/* Room for the name of a server in a message; the socket of one is a path. */
#define DB_SERVER_SIZE 128

/* A statement in its partitions, as this connection knows it. */
struct prepared {
    struct prepared *next;         /* same slot */
    const struct db_stmt *stmt;    /* key: statement and partitions */
    uint32_t bucket, day, refresh; /* partitions */
    bool sent;                     /* the server has it, or will before what is sent next */
    unsigned again;                /* times that it was refused; a pooler keeps its name then */
    bool quiet;                    /* its %N is a function that does nothing */
    char name[DB_NAME_SIZE];       /* NAME:BUCKET:DAY, or NAME:BUCKET:DAY:REFRESH */
};

struct db {
    const char *url;      /* connection string */
    const char *setting;  /* its name, for messages */
    const char *direct;   /* url leads to a pooler, and this past it; or NULL */
    struct db *beside;    /* the handle past the pooler; NULL: not used yet */
    struct db *front;     /* the handle of the pooler, to go back to; or NULL */
    bool misplaced;       /* db_is_misplaced */
    uid_t as;             /* account to connect as; 0: the account of the process */
    PGconn *conn;         /* NULL when down */
    TALLOC_CTX *prepared; /* owns the entries of table */
    struct prepared *table[DB_PREPARED_SLOTS]; /* prepared statements by key */
    unsigned prepared_count;                   /* entries */
    bool in_transaction;                       /* between db_begin and db_end */
    struct db_batch *pending;                  /* sent by db_send, results not read yet */
    struct db_batch *spare;                    /* db_batch_new returns it without memory */
    struct partition_lists *partitions;        /* known partitions, for partitions.c */
    uint64_t trips;                            /* round trips so far */
    unsigned generation;                       /* connections so far */
    int64_t backoff_ms;                        /* current wait between attempts, 0 after success */
    int64_t retry_at_ms;                       /* monotonic time of the next attempt */
    char fault[DB_FAULT_SIZE];                 /* why the last attempt to connect failed */
    struct db_board *board;                    /* of the host; NULL: this process is alone */
    uint64_t line;              /* of the connection's server, see connect/db_hosts.h; or 0 */
    bool looks_at_all;          /* db_look_at_all was called, and it has not looked yet */
    size_t first_host;          /* server to try first if the board names none */
    int64_t heard_ms;           /* monotonic time of the last answer */
    int64_t until_ms;           /* monotonic time at which an answer is too late; 0: db_trip.c has a
                                   limit */
    bool unconfirmed;           /* a commit was not confirmed by the standby */
    bool quiet;                 /* the server refuses notifications */
    bool quiet_known;           /* it was asked */
    struct aside_locks *asides; /* locks beside this handle, for locks.c */
};

struct db_batch {
    struct op *op;          /* it was made for; NULL: without memory, or for no operation */
    size_t count;           /* steps used; those behind them are not set */
    const char *fault;      /* why the batch cannot run: full, no memory; or NULL */
    struct db_step *failed; /* first step with an SQL error */
    struct prepared *prepared[DB_BATCH_MAX + 1]; /* of the steps, for the trip under way */
    bool prepares[DB_BATCH_MAX + 1];             /* the trip carries a PREPARE too */
    bool adds;                                   /* db_batch_adds was called */
    bool applies;                                /* the commit waits for a standby to show it */
    bool guards;                                 /* the session is a pooler's */
    bool unconfirmed;                            /* the commit is the primary's alone */
    bool fenced;                                 /* the answer is an old primary's */
    char message[384];                           /* the error's text, for the operator */
    struct db_step step[DB_BATCH_MAX + 1]; /* in order; the last is the spare of a full batch, or,
                                              if it applies or guards, sent before the others */
};

/* True once if the server ended its wait for a synchronous standby since the last call: the
 * transaction is committed there and nowhere else, so it may be lost with that server. */
bool db_take_unconfirmed(struct db *db);

/* Connect to a server that takes writes. False: db->fault says why no server does. */
bool db_connect_any(struct db *db);

/* Begin a connection to the next server of the list, which is refused if it is no standby;
 * PQconnectPoll goes on with it. Return the number of servers. */
size_t db_connect_standby(struct db *db);

/* Add a reason to the reasons of earlier servers in db->fault, without the end of line that libpq
 * adds. */
void db_add_fault(struct db *db, const char *server, const char *reason);

/* Return the reason why there is no connection, for the log, without a password. */
const char *db_connect_fault(const struct db *db);

/* True if the connection is to an old primary: another process of the host has found a server that
 * takes writes with a newer timeline. */
bool db_is_fenced(const struct db *db);

/* Make a batch; one with a fault never runs. NULL without memory. */
struct db_batch *db_batch_make(TALLOC_CTX *mem, const char *fault);

/* Return why the batch cannot run, or NULL. */
const char *db_batch_fault(const struct db_batch *batch);

/* Let the commit wait until a synchronous standby shows it to readers. */
void db_batch_apply(struct db_batch *batch);

/* Let the first step of a batch set what a session of ours has, and tell the timeline if `tells`:
 * through a pooler each transaction may run on another session, of another server. */
void db_batch_guard(struct db_batch *batch, bool tells);

/* Learn from the first step of a batch whose answer it is. False: not of the primary. */
bool db_guard_holds(struct db *db, const struct db_batch *batch);

/* Return the address for sessions: past a pooler, if there is one. */
const char *db_session_url(const struct db *db);

/* Return why a connection cannot be used that leads to a pooler or not; NULL: it can. */
const char *db_pooler_fault(struct db *db, bool pooler);

/* True if so many statements are prepared that a pooler should forget them. */
bool db_prepared_is_full(const struct db *db);

/* Note that the server refused to prepare a statement. */
void db_prepared_refused(struct prepared *prepared);

/* True if a command succeeded, and if so the result has the rows that the server counted: one that
 * lacks them would read as "there is no such row", which a revocation is answered with 200 for. */
bool db_result_ok(const PGresult *result);
bool db_result_is_whole(const PGresult *result);

/* Return the result of a command that counts: the one kept so far (may be NULL) if it is an error,
 * else the next one. The other one is freed. libpq that had no memory for a row gives an error, and
 * then the end of the command as if it had returned no rows. */
PGresult *db_result_keep(PGresult *kept, PGresult *next);

/* Read a bytea in text form: into `length` octets, false if it has another number; or onto mem,
 * with a NUL behind it. Read the words of a text[] in JSON onto mem. AZ_INVALID: the text has
 * another form. AZ_SERVER_ERROR: no memory. */
bool db_octets_into(const char *text, unsigned char *octets, size_t length);
enum az_status db_octets_of(TALLOC_CTX *mem, const char *text, unsigned char **ret,
                            size_t *ret_len);
enum az_status db_words_of(TALLOC_CTX *mem, const char *text, const char ***ret);

/* Send the batch on a connection that is there and read its results. False: the connection was
 * lost, and is closed. */
bool db_exchange(struct db *db, struct db_batch *batch);

/* True if the host that libpq reads in a connection string holds no part of the password: a bare @
 * or / ends what it reads as a password, so it may take the rest for host, port or database. */
bool db_url_is_plain(const char *url);

/* Free the results, so that the batch can be sent again. */
void db_batch_reset(struct db_batch *batch);

/* Return the entry of a step's statement, made if it is new; NULL without memory. */
struct prepared *db_prepared_find(struct db *db, const struct db_step *step);

/* Return the statement's text with its partitions filled in; `quiet`: without its notification. */
char *db_prepared_text(TALLOC_CTX *mem, const struct db_step *step, bool quiet);

/* True for the SQLSTATEs of a transaction that did nothing because another transaction was in the
 * way. */
bool db_is_conflict(const char *sqlstate);

/* True if a batch that failed, outside an open transaction, may succeed when it is sent again, at
 * once; waits a little before. *conflicts counts them. */
bool db_again(struct db *db, const struct db_batch *batch, int *conflicts);

/* Forget all entries, because the session is gone. */
void db_prepared_drop(struct db *db);

/* Make the server forget all statements once many statements of dropped partitions have
 * accumulated. False: this failed, and the connection can no longer be used. */
bool db_prepared_prune(struct db *db);

#endif
