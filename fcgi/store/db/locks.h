/* The advisory locks of the program: every class in one place, so that no two uses collide
 * (performance.md 3.6). */
#ifndef AZ_STORE_DB_LOCKS_H
#define AZ_STORE_DB_LOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "store/db/db.h"

/* First key of the two-key form. sql/ uses LOCK_PARTITION as the number 1. */
enum lock_class {
    LOCK_PARTITION = 1, /* making one partition */
    LOCK_MIGRATION = 2, /* applying migrations */
    LOCK_TOKEN = 3,     /* consuming one single-use token */
    LOCK_POLICY = 4,    /* one policy save at a time, on all hosts (session level) */
    LOCK_KEYS = 5,      /* making and rotating signing keys */
    LOCK_JOBS = 6,      /* housekeeping */
    LOCK_GRANT = 7,     /* one family of tokens: redeeming, rotating, revoking */
};

/*
 * Adds pg_advisory_xact_lock(class, hash of octets) as a statement of its own, so that the snapshot
 * of the next one is taken after the lock.
 */
void lock_add(struct db_batch *batch, enum lock_class class, const void *octets, size_t length);

/*
 * The session-level locks, for what lasts longer than a transaction: tried, not waited for. They
 * need a connection of their own, not a transaction pooler. `name` tells uses of one class apart;
 * "" when there is but one. *ret_got: it is ours now (drop: it was).
 */
enum az_status lock_session_try(struct op *op, enum lock_class class, const char *name,
                                bool *ret_got);
enum az_status lock_session_drop(struct op *op, enum lock_class class, const char *name,
                                 bool *ret_got);

/* The second key of the lock without a name, for statements that take it themselves. */
#define LOCK_UNNAMED 0

#endif
