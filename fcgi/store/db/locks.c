#include "config.h"

#include "store/db/locks.h"

#include <stdint.h>

static const struct db_stmt lock_stmt = {
    "lock", "SELECT pg_advisory_xact_lock($1::integer, $2::integer)", 2};

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

static enum az_status
run_session(struct op *op, const struct db_stmt *stmt, enum lock_class class, const char *name,
            bool *ret_got)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, class);
    db_text(&params, name);
    enum az_status st = db_exec(op, stmt, &params, false, &result);
    *ret_got = st == AZ_OK && db_get_bool(result, 0, TRY_GOT);
    return st;
}

enum az_status
lock_session_try(struct op *op, enum lock_class class, const char *name, bool *ret_got)
{
    return run_session(op, &lock_session_try_stmt, class, name, ret_got);
}

enum az_status
lock_session_drop(struct op *op, enum lock_class class, const char *name, bool *ret_got)
{
    _Static_assert((int) TRY_GOT == (int) DROP_GOT, "one reader for both");
    return run_session(op, &lock_session_drop_stmt, class, name, ret_got);
}
