#include "config.h"

#include "store/gateway/approvals.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/random.h"
#include "crypto/token.h"
#include "store/db/db.h"
#include "store/db/keep/locks.h"
#include "store/tokens/ciba_requests.h"

/* A request that the person denied stays until it expires, so that the person is not asked again
 * and again for the same. An approved one is deleted by the call that it lets through. */
enum approval_take_column { TAKE_PERSON, TAKE_STATE, TAKE_USED, TAKE_ID, TAKE_SECONDS };
static const struct db_stmt approval_take_stmt = {
    "approval_take",
    "WITH who AS (SELECT p.id AS idp, p.idp_id FROM subject s"
    "   JOIN identity_provider p ON p.issuer = s.issuer WHERE s.subject = $1 AND p.enabled),"
    " known AS (SELECT q.id, q.state, q.expires_at FROM ciba_request q"
    "   WHERE q.call_hash = $3 AND q.subject = $1 AND q.client = $2 AND q.expires_at > now()"
    "   ORDER BY q.created_at DESC LIMIT 1),"
    " used AS (DELETE FROM ciba_request q USING known, who WHERE q.id = known.id"
    "   AND q.idp = who.idp AND q.state = 'approved' RETURNING q.id),"
    " made AS (INSERT INTO ciba_request (id, secret_hash, client, subject, idp, flow_id, call_hash,"
    "    scope, resource, details, interval_seconds, expires_at)"
    "   SELECT $4::uuid, $5, $2, $1, idp, $6::uuid, $3, '', $7, $8::json, 0, $9::timestamptz"
    "    FROM who WHERE NOT EXISTS (SELECT 1 FROM known)"
    "    AND (SELECT count(*) FROM ciba_request WHERE subject = $1 AND state = 'pending'"
    "     AND expires_at > now()) < $10::bigint RETURNING id, 'pending' AS state, expires_at),"
    " it AS (SELECT id, state, expires_at FROM known"
    "   UNION ALL SELECT id, state, expires_at FROM made)"
    " SELECT (SELECT idp_id FROM who) AS person, (SELECT state FROM it) AS state,"
    "  EXISTS (SELECT 1 FROM used) AS used, (SELECT uuid_send(id) FROM it) AS id,"
    "  (SELECT ceil(extract(epoch FROM expires_at - now()))::bigint FROM it) AS seconds",
    10};

static enum az_status
approval_read(struct op *op, const PGresult *row, struct approval *ret)
{
    const char *state = db_get(row, 0, TAKE_STATE);
    const unsigned char *id = NULL;
    size_t length = 0;
    ret->idp_id = db_get(row, 0, TAKE_PERSON);
    ret->expires_in = db_get_number(row, 0, TAKE_SECONDS, 0);
    ret->state = ret->idp_id == NULL              ? APPROVAL_NO_PERSON
                 : state == NULL                  ? APPROVAL_FULL
                 : db_get_bool(row, 0, TAKE_USED) ? APPROVAL_GIVEN
                 : strcmp(state, "pending") == 0  ? APPROVAL_WAITS
                                                  : APPROVAL_DENIED;
    if (ret->state != APPROVAL_WAITS)
        return AZ_OK;
    enum az_status st = db_read_octets(op, row, 0, TAKE_ID, &id, &length);
    if (st == AZ_OK && length != UUID7_OCTETS)
        st = op_fail(op, AZ_SERVER_ERROR, NULL, "database: an id has another length");
    if (st == AZ_OK)
        memcpy(ret->id, id, UUID7_OCTETS);
    return st;
}

enum az_status
approval_take(struct op *op, const struct approval_call *call, struct approval *ret)
{
    struct token_text text;
    struct token_parts parts;
    const char *details = jsonx_dump(op->mem, call->details);
    if (details == NULL
        || token_make(TOKEN_AUTH_REQ, call->expires_at, op->now_ms, &text, &parts) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "an approval cannot be asked for");
    token_text_done(&text); /* no client gets it */
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    lock_add(batch, LOCK_CIBA, call->subject, strlen(call->subject));
    struct db_step *step = db_batch_add(batch, &approval_take_stmt);
    db_batch_commit(batch);
    db_text(&step->params, call->subject);
    db_number(&step->params, call->client);
    db_octets(&step->params, call->hash, SHA256_OCTETS);
    db_octets(&step->params, parts.id, UUID7_OCTETS);
    db_octets(&step->params, parts.secret_hash, SHA256_OCTETS);
    db_text(&step->params, call->flow_id);
    db_text(&step->params, call->resource);
    db_text(&step->params, details);
    db_time(&step->params, call->expires_at * 1000);
    db_number(&step->params, CIBA_OPEN_MAX);
    enum az_status st = db_run(op, batch, false);
    return st == AZ_OK ? approval_read(op, step->result, ret) : st;
}
