#include "config.h"

#include "store/clients/client_assertions.h"

#include <string.h>

#include "crypto/digest.h"
#include "store/db/db.h"
#include "store/db/purge.h"

/* The primary key decides: of requests at the same moment, the others wait for the commit of the
 * first, and write nothing. */
static const struct db_stmt client_assertion_use_stmt = {
    "client_assertion_use",
    "INSERT INTO client_assertion (digest, expires_at) VALUES ($1, $2::timestamptz)"
    " ON CONFLICT (digest) DO NOTHING",
    2};

static const struct db_stmt client_assertion_purge_stmt = {
    "client_assertion_purge",
    "DELETE FROM client_assertion WHERE digest IN (SELECT digest FROM client_assertion"
    "  WHERE expires_at <= now() - make_interval(secs => $2::double precision)"
    "  ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)",
    2};

enum az_status
client_assertion_use(struct op *op, const char *client_id, const char *jti, int64_t until,
                     bool *ret_first)
{
    /* The first line feed separates: a client_id has no control characters. */
    const char *text = talloc_asprintf(op->mem, "%s\n%s", client_id, jti);
    unsigned char digest[SHA256_OCTETS];
    struct db_params params = {.count = 0};
    PGresult *result;
    if (text == NULL || sha256(text, strlen(text), digest) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for a jti");
    db_octets(&params, digest, sizeof(digest));
    db_time(&params, until * 1000);
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
