#include "config.h"

#include "store/clients/client_assertions.h"

#include <string.h>

#include "crypto/digest.h"
#include "store/db/db.h"
#include "store/db/keep/purge.h"

/* The primary key decides: of requests at the same moment, the others wait for the commit of the
 * first, and write nothing. What may have been used before a restore is refused (fence.h). */
static const struct db_stmt client_assertion_use_stmt = {
    "client_assertion_use",
    "INSERT INTO client_assertion (digest, expires_at) SELECT $1::bytea, $2::timestamptz"
    " WHERE NOT EXISTS (SELECT FROM restore_fence WHERE fenced_at >= $3::timestamptz)"
    " ON CONFLICT (digest) DO NOTHING",
    3};

static const struct db_stmt client_assertion_purge_stmt = {
    "client_assertion_purge",
    "DELETE FROM client_assertion WHERE digest IN (SELECT digest FROM client_assertion"
    "  WHERE expires_at <= now() - make_interval(secs => $2::double precision)"
    "  ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)",
    2};

enum az_status
client_assertion_use(struct op *op, const char *client_id, const char *jti, int64_t until,
                     int64_t usable, bool *ret_first)
{
    /* The first line feed separates: a client_id has no control characters. */
    const char *text = talloc_asprintf(op->mem, "%s\n%s", client_id, jti);
    unsigned char digest[SHA256_OCTETS];
    struct db_params params = {.count = 0};
    PGresult *result;
    if (text == NULL || sha256(text, strlen(text), digest) != AZ_OK)
        return op_no_memory(op);
    db_octets(&params, digest, sizeof(digest));
    db_time(&params, until * 1000);
    db_time(&params, usable * 1000);
    enum az_status st = db_exec(op, &client_assertion_use_stmt, &params, false, &result);
    if (st == AZ_OK)
        *ret_first = db_written(result) > 0;
    return st;
}

enum az_status
client_assertions_purge(struct op *op, int64_t *removed)
{
    return db_purge(op, &client_assertion_purge_stmt, CLIENT_ASSERTION_MARGIN, removed);
}
