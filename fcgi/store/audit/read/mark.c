#include "config.h"

#include "store/audit/read/mark.h"

#include <time.h>

#include "base/clock.h"

/* The last id that was given out. Each transaction with an id up to this one holds the lock of
 * mark_writers_stmt, or has ended. */
enum mark_last_column { LAST_ID, LAST_NOW, LAST_CACHE };
static const struct db_stmt mark_last_stmt = {
    "mark_last",
    "SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS id, now() AS now,"
    "  (SELECT seqcache FROM pg_sequence WHERE seqrelid = 'audit_id_seq'::regclass) AS cache"
    " FROM audit_id_seq",
    0};
/* Transactions that may have written an audit row and are not over. A statement locks its partition
 * before it takes an id, and keeps the lock until its transaction has ended; so this needs no lock
 * of its own, and delays no writer. */
static const struct db_stmt mark_writers_stmt = {
    "mark_writers",
    "SELECT coalesce(array_agg(DISTINCT l.virtualtransaction), '{}') FROM pg_locks l"
    " JOIN pg_inherits i ON i.inhrelid = l.relation"
    " WHERE i.inhparent = 'audit_log'::regclass AND l.locktype = 'relation'"
    "  AND l.mode = 'RowExclusiveLock' AND l.granted"
    "  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    0};
static const struct db_stmt mark_waiting_stmt = {
    "mark_waiting",
    "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE virtualtransaction = ANY ($1::text[]))", 1};

/* Wait until these transactions are over. AZ_RETRY without a fault: one of them takes too long. */
static enum az_status
wait_for(struct op *op, const char *writers)
{
    static const struct timespec pause = {.tv_nsec = 5000000};
    int64_t until = clock_monotonic_ms() + AUDIT_MARK_WAIT_MS;
    for (;;) {
        struct db_params params = {.count = 0};
        PGresult *result;
        db_text(&params, writers);
        enum az_status st = db_exec(op, &mark_waiting_stmt, &params, true, &result);
        if (st != AZ_OK || !db_get_bool(result, 0, 0))
            return st;
        if (clock_monotonic_ms() > until)
            return AZ_RETRY;
        nanosleep(&pause, NULL);
    }
}

enum az_status
audit_mark_find(struct op *op, struct audit_mark *ret)
{
    const char *writers;
    PGresult *result;
    enum az_status st = db_exec(op, &mark_last_stmt, NULL, true, &result);
    if (st != AZ_OK)
        return st;
    if (db_get_number(result, 0, LAST_CACHE, 1) != 1)
        return op_fail(op, AZ_CONFLICT, NULL,
                       "the sequence audit_id_seq has CACHE %s, so a session may use a smaller id "
                       "later; run ALTER SEQUENCE audit_id_seq CACHE 1",
                       db_get(result, 0, LAST_CACHE));
    ret->last = db_get_number(result, 0, LAST_ID, 0);
    ret->now = db_get(result, 0, LAST_NOW);
    st = db_fetch_text(op, &mark_writers_stmt, NULL, &writers);
    return st == AZ_OK ? wait_for(op, writers) : st;
}
