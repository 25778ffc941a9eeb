#include "config.h"

#include "store/tokens/proofs.h"

#include "store/db/db.h"
#include "store/db/keep/purge.h"

/* The primary key decides between parallel requests: the second one waits for the first to commit
 * and then inserts nothing. */
static const struct db_stmt proof_remember_stmt = {
    "proof_remember",
    "INSERT INTO dpop_proof (hash, forget_at)"
    " SELECT $1::bytea, now() + make_interval(secs => $2::double precision)"
    " WHERE NOT EXISTS (SELECT FROM restore_fence WHERE fenced_at >= $3::timestamptz)"
    " ON CONFLICT DO NOTHING",
    3};

/* The clocks of the hosts, which judge the iat, may differ from the clock of the database. */
static const struct db_stmt proof_purge_stmt = {
    "proof_purge",
    "DELETE FROM dpop_proof WHERE hash IN (SELECT hash FROM dpop_proof"
    " WHERE forget_at < now() - interval '60 seconds' ORDER BY forget_at LIMIT $1"
    " FOR UPDATE SKIP LOCKED)",
    1};

enum az_status
proof_remember(struct op *op, const unsigned char hash[SHA256_OCTETS], int64_t seconds,
               int64_t usable, bool *ret_first)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_octets(&params, hash, SHA256_OCTETS);
    db_number(&params, seconds);
    db_time(&params, usable * 1000);
    enum az_status st = db_exec(op, &proof_remember_stmt, &params, false, &result);
    if (st == AZ_OK)
        *ret_first = db_written(result) > 0;
    return st;
}

enum az_status
proofs_purge(struct op *op)
{
    return db_purge(op, &proof_purge_stmt, 0, NULL);
}
