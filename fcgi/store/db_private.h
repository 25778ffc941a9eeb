/* Insides of the database handle, shared by db.c (connection, trips) and db_values.c (parameters,
 * results) alone. */
#ifndef AZ_STORE_DB_PRIVATE_H
#define AZ_STORE_DB_PRIVATE_H

#include "store/db.h"

#define DB_PREPARED_SLOTS 256
/* Longest prepared name: statement, partition, day. PostgreSQL cuts names at 63 octets, so names
 * stay below. */
#define DB_NAME_SIZE 64

/* A statement this connection has prepared. */
struct prepared {
    struct prepared *next; /* same hash */
    const char *name;      /* its name */
};

struct db {
    const char *url;                           /* connection string */
    PGconn *conn;                              /* NULL when down */
    TALLOC_CTX *prepared;                      /* owns the entries of table */
    struct prepared *table[DB_PREPARED_SLOTS]; /* prepared statements by name */
    unsigned prepared_count;                   /* entries */
    bool in_transaction;                       /* between db_begin and db_commit */
    struct db_batch *pending;                  /* sent by db_send, results not read yet */
    struct partition_lists *partitions;        /* what exists, for partitions.c */
    uint64_t trips;                            /* round trips so far */
    unsigned generation;                       /* connections so far */
    int64_t backoff_ms;                        /* current wait between attempts, 0 after success */
    int64_t retry_at_ms;                       /* monotonic time of the next attempt */
};

struct db_batch {
    struct db_step step[DB_BATCH_MAX];     /* in order */
    char name[DB_BATCH_MAX][DB_NAME_SIZE]; /* prepared names */
    bool prepares[DB_BATCH_MAX];           /* the trip carries a PREPARE too */
    size_t count;                          /* steps used */
    struct db_step *failed;                /* first step with an SQL error */
    char message[384];                     /* its text, for the operator */
};

/* Frees the results, so that the batch can be sent again. */
void db_batch_reset(struct db_batch *batch);

/* Notices are not ours to print. */
void db_quiet(void *unused, const char *message);

#endif
