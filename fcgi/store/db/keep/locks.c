#include "config.h"

#include "store/db/keep/locks.h"

#include <stdint.h>
#include <string.h>

static const struct db_stmt lock_stmt = {
    "lock", "SELECT pg_advisory_xact_lock($1::integer, $2::integer)", 2};

enum lock_try_column { LOCK_GOT };
static const struct db_stmt lock_try_stmt = {
    "lock_try", "SELECT pg_try_advisory_xact_lock($1::integer, $2::integer) AS got", 2};

enum lock_session_try_column { TRY_GOT };
static const struct db_stmt lock_session_try_stmt = {
    "lock_session_try",
    "SELECT pg_try_advisory_lock($1::integer, CASE WHEN $2 = "
    "'' THEN 0 ELSE hashtext($2) END) AS got",
    2};
enum lock_session_drop_column { DROP_GOT };
static const struct db_stmt lock_session_drop_stmt = {
    "lock_session_drop",
    "SELECT pg_advisory_unlock($1::integer, CASE WHEN $2 = '' THEN 0 ELSE hashtext($2) END) AS got",
    2};

/* FNV-1a. Two tokens with the same hash only wait for each other. */
int32_t
lock_number(const void *octets, size_t length)
{
    const unsigned char *at = octets;
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * 16777619u;
    return (int32_t) hash;
}

void
lock_add(struct db_batch *batch, enum lock_class class, const void *octets, size_t length)
{
    struct db_step *step = db_batch_add(batch, &lock_stmt);
    db_number(&step->params, class);
    db_number(&step->params, lock_number(octets, length));
}

enum az_status
lock_is_held(struct op *op, enum lock_class class, const void *octets, size_t length,
             bool *ret_held)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, class);
    db_number(&params, lock_number(octets, length));
    enum az_status st = db_exec(op, &lock_try_stmt, &params, true, &result);
    *ret_held = st == AZ_OK && !db_get_bool(result, 0, LOCK_GOT);
    return st;
}

/* A lock of a transaction, on a connection of its own, in place of a lock of a session. */
struct aside_lock {
    struct aside_lock *next;
    enum lock_class class; /* of the lock that is held */
    const char *name;      /* so; NULL: the connection holds none */
    struct db *db;
};

/* Locks of a connection beside a handle whose server refuses session locks, or whose sessions
 * belong to a pooler. */
struct aside_locks {
    struct aside_lock *first;
};

/* A process that hangs keeps the lock so long; no policy save takes that time, and what takes more
 * (exports, measurements) may run twice. */
#define ASIDE_BEGIN "SET LOCAL idle_in_transaction_session_timeout = '15min'"

enum lock_aside_try_column { ASIDE_GOT };
static const struct db_stmt lock_aside_try_stmt = {
    "lock_aside_try",
    "SELECT pg_try_advisory_xact_lock($1::integer, CASE WHEN $2 = '' THEN 0 ELSE hashtext($2) END) "
    "AS got",
    2};

/* Run a statement about a lock. AZ_RETRY without a fault: the server refuses locks of sessions. */
static enum az_status
run_lock(struct op *op, const struct db_stmt *stmt, enum lock_class class, const char *name,
         bool *ret_got)
{
    _Static_assert((int) TRY_GOT == (int) DROP_GOT && (int) TRY_GOT == (int) ASIDE_GOT,
                   "one reader for all");
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add(batch, stmt);
    db_number(&step->params, class);
    db_text(&step->params, name);
    enum az_status st = db_run_or_retry(op, batch, false, SQLSTATE_FEATURE_NOT_SUPPORTED);
    *ret_got = st == AZ_OK && db_get_bool(step->result, 0, TRY_GOT);
    return st;
}

/* Return an operation on the connection of a lock. */
static struct op
aside_op(const struct op *op, struct az *az, const struct aside_lock *lock)
{
    struct op own = op_beside(op, op->mem);
    *az = *op->az;
    az->db = lock->db;
    own.az = az;
    return own;
}

/* Return the connection that holds the lock; without a name one that holds none, or NULL. */
static struct aside_lock *
aside_find(const struct aside_locks *asides, enum lock_class class, const char *name)
{
    struct aside_lock *lock = asides->first;
    while (lock != NULL
           && (name == NULL
                   ? lock->name != NULL
                   : lock->name == NULL || lock->class != class || strcmp(lock->name, name) != 0))
        lock = lock->next;
    return lock;
}

/* Return a connection that holds no lock, and make it if necessary; NULL: no memory. */
static struct aside_lock *
aside_take(struct op *op, struct aside_locks *asides)
{
    struct aside_lock *lock = aside_find(asides, 0, NULL);
    if (lock != NULL)
        return lock;
    lock = talloc_zero(asides, struct aside_lock);
    if (lock != NULL && (lock->db = db_new_beside(lock, op->az->db)) == NULL)
        TALLOC_FREE(lock);
    if (lock == NULL)
        return NULL;
    lock->next = asides->first;
    return asides->first = lock;
}

static enum az_status
aside_try(struct op *op, enum lock_class class, const char *name, bool *ret_got)
{
    struct aside_locks *asides = *db_aside_locks(op->az->db);
    struct az az;
    *ret_got = aside_find(asides, class, name) != NULL;
    if (*ret_got)
        return AZ_OK;
    struct aside_lock *lock = aside_take(op, asides);
    char *held = lock != NULL ? talloc_strdup(lock, name) : NULL;
    if (held == NULL)
        return op_no_memory(op);
    struct op own = aside_op(op, &az, lock);
    enum az_status st = db_begin(&own);
    if (st == AZ_OK)
        st = db_script(&own, ASIDE_BEGIN);
    if (st == AZ_OK)
        st = run_lock(&own, &lock_aside_try_stmt, class, name, ret_got);
    if (st == AZ_OK && *ret_got) {
        lock->class = class;
        lock->name = held;
        return AZ_OK;
    }
    talloc_free(held);
    db_rollback(&own);
    op->fault = own.fault;
    return st;
}

/* *ret_got: the lock was held until now. */
static enum az_status
aside_drop(struct op *op, enum lock_class class, const char *name, bool *ret_got)
{
    struct aside_lock *lock = aside_find(*db_aside_locks(op->az->db), class, name);
    struct az az;
    *ret_got = false;
    if (lock == NULL)
        return AZ_OK;
    struct op own = aside_op(op, &az, lock);
    *ret_got = db_end(&own, AZ_OK) == AZ_OK;
    lock->name = NULL;
    return AZ_OK;
}

bool
lock_session_is_aside(const struct op *op)
{
    return *db_aside_locks(op->az->db) != NULL;
}

bool
lock_session_is_held(const struct op *op, enum lock_class class, const char *name)
{
    if (!lock_session_is_aside(op))
        return true;
    struct aside_lock *lock = aside_find(*db_aside_locks(op->az->db), class, name);
    struct az az;
    bool held = false;
    if (lock == NULL)
        return false;
    /* The session that holds a lock gets it again; one whose transaction has ended fails. */
    struct op own = aside_op(op, &az, lock);
    return run_lock(&own, &lock_aside_try_stmt, class, name, &held) == AZ_OK && held;
}

enum az_status
lock_session_try(struct op *op, enum lock_class class, const char *name, bool *ret_got)
{
    struct aside_locks **asides = db_aside_locks(op->az->db);
    if (!lock_session_is_aside(op)) {
        enum az_status st = db_is_pooled(op->az->db)
                                ? AZ_RETRY
                                : run_lock(op, &lock_session_try_stmt, class, name, ret_got);
        if (st != AZ_RETRY)
            return st;
        *asides = talloc_zero(op->az->db, struct aside_locks);
        if (*asides == NULL)
            return op_no_memory(op);
    }
    return aside_try(op, class, name, ret_got);
}

enum az_status
lock_session_drop(struct op *op, enum lock_class class, const char *name, bool *ret_got)
{
    return lock_session_is_aside(op) ? aside_drop(op, class, name, ret_got)
                                     : run_lock(op, &lock_session_drop_stmt, class, name, ret_got);
}
