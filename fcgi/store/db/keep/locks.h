/* The advisory locks of the program: every class in one place, so that no two uses collide
 * (performance.md 3.6). */
#ifndef AZ_STORE_DB_KEEP_LOCKS_H
#define AZ_STORE_DB_KEEP_LOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "store/db/db.h"

/* First key of the two-key form. sql/ uses LOCK_PARTITION as the number 1. */
enum lock_class {
    LOCK_PARTITION = 1,     /* making one partition */
    LOCK_MIGRATION = 2,     /* applying migrations */
    LOCK_TOKEN = 3,         /* consuming one single-use token */
    LOCK_POLICY = 4,        /* one policy save at a time, on all hosts (session level) */
    LOCK_KEYS = 5,          /* making and rotating signing keys */
    LOCK_JOBS = 6,          /* housekeeping */
    LOCK_GRANT = 7,         /* one family of tokens: redeeming, rotating, revoking */
    LOCK_ROOM = 8,          /* making a client of one registration type */
    LOCK_EXPORT = 9,        /* one export of audit rows at a time (session level) */
    LOCK_ADMIN_KEY = 10,    /* revoking an admin key */
    LOCK_OWNER = 11,        /* adding to what one owner has: UMA resources, delegations, feeds */
    LOCK_CIBA = 12,         /* adding to the CIBA requests that wait for one person */
    LOCK_REGISTRATION = 13, /* registering ourselves at the authorization server of an upstream */
    LOCK_IMPACT = 15,       /* one measurement of policy at a time, on all hosts (session level) */
    LOCK_MARK = 16,         /* tells one address of the database by another */
    LOCK_POLICY_WRITE = 17, /* a transaction of a policy save whose lock is on another connection */
};

/* Return the second key for octets. */
int32_t lock_number(const void *octets, size_t length);

/* Add pg_advisory_xact_lock(class, hash of octets) as a statement of its own, so that the next
 * statement takes its snapshot after the lock. */
void lock_add(struct db_batch *batch, enum lock_class class, const void *octets, size_t length);

/* *ret_held: another session holds the lock of these octets, taken by lock_add, in this database.
 */
enum az_status lock_is_held(struct op *op, enum lock_class class, const void *octets, size_t length,
                            bool *ret_held);

/*
 * Try to take, or release, a session-level lock, for work that lasts longer than a transaction.
 * Neither waits. If the server refuses these locks (SQLSTATE 0A000), or a pooler is before it, a
 * transaction-level lock is taken in their place, in a transaction that stays open on a connection
 * of its own, past the pooler. `name` distinguishes locks of one class; "" if there is only one.
 * *ret_got: this process holds the lock now (for a release: it held the lock).
 */
enum az_status lock_session_try(struct op *op, enum lock_class class, const char *name,
                                bool *ret_got);
enum az_status lock_session_drop(struct op *op, enum lock_class class, const char *name,
                                 bool *ret_got);

/* True if locks of sessions are locks of transactions on connections of their own. */
bool lock_session_is_aside(const struct op *op);

/* True if a lock taken by lock_session_try() is still held. One on a connection of its own is asked
 * for: that connection can end while the operation's goes on. A lock of the session itself lasts as
 * long as the session, whose generation the caller compares (db_generation()). */
bool lock_session_is_held(const struct op *op, enum lock_class class, const char *name);

/* Second key of the lock without a name, for statements that take it themselves. */
#define LOCK_UNNAMED 0

#endif
