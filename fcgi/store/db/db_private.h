/* Insides of the database handle: db.c (connection), db_prepared.c (statements the server knows),
 * db_trip.c (round trips), db_session.c (scripts, transactions) and db_values.c (parameters,
 * results) alone. */
#ifndef AZ_STORE_DB_DB_PRIVATE_H
#define AZ_STORE_DB_DB_PRIVATE_H

#include "store/db/db.h"

#define DB_PREPARED_SLOTS 256
/* Longest prepared name: statement and partitions. PostgreSQL cuts names at 63 octets, so names
 * stay below. */
#define DB_NAME_SIZE 64

/* A statement in its partitions, as this connection knows it. */
struct prepared {
    struct prepared *next;      /* same slot */
    const struct db_stmt *stmt; /* key: statement, */
    uint32_t bucket, day;       /* and its partitions, */
    uint32_t refresh;           /* this one too */
    bool sent;                  /* the server has it, or will before what is sent next */
    char name[DB_NAME_SIZE];    /* NAME:BUCKET:DAY, or NAME:BUCKET:DAY:REFRESH */
};

struct db {
    const char *url;                           /* connection string */
    PGconn *conn;                              /* NULL when down */
    TALLOC_CTX *prepared;                      /* owns the entries of table */
    struct prepared *table[DB_PREPARED_SLOTS]; /* prepared statements by key */
    unsigned prepared_count;                   /* entries */
    bool in_transaction;                       /* between db_begin and db_commit */
    struct db_batch *pending;                  /* sent by db_send, results not read yet */
    struct partition_lists *partitions;        /* what exists, for partitions.c */
    uint64_t trips;                            /* round trips so far */
    unsigned generation;                       /* connections so far */
    int64_t backoff_ms;                        /* current wait between attempts, 0 after success */
    int64_t retry_at_ms;                       /* monotonic time of the next attempt */
    int64_t heard_ms;                          /* monotonic time of the last answer */
};

struct db_batch {
    size_t count;                            /* steps used; what is behind them is not set */
    struct db_step *failed;                  /* first step with an SQL error */
    struct prepared *prepared[DB_BATCH_MAX]; /* of the steps, for the trip under way */
    bool prepares[DB_BATCH_MAX];             /* the trip carries a PREPARE too */
    char message[384];                       /* the error's text, for the operator */
    struct db_step step[DB_BATCH_MAX];       /* in order */
};

/* Frees the results, so that the batch can be sent again. */
void db_batch_reset(struct db_batch *batch);

/* The entry of a step's statement, made when it is new; NULL without memory. */
struct prepared *db_prepared_find(struct db *db, const struct db_step *step);

/* The statement's text with its partitions filled in. */
char *db_prepared_text(TALLOC_CTX *mem, const struct db_step *step);

/* Forgets all: the session is gone. */
void db_prepared_drop(struct db *db);

/* Makes the server forget all too, when statements of dropped partitions have piled up. */
void db_prepared_prune(struct db *db);

/* Monotonic milliseconds. */

#endif
