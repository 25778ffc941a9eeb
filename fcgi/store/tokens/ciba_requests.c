#include "config.h"

#include "store/tokens/ciba_requests.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/secret.h"
#include "store/db/keep/locks.h"
#include "store/db/keep/partitions.h"
#include "store/db/keep/purge.h"
#include "store/people/stored_claims.h"

/* Each way to read the hint has an index of its own. Two rows are enough to know that the hint is
 * not unique. */
static const struct db_stmt ciba_person_find_stmt = {
    "ciba_person_find",
    "WITH who AS (SELECT subject FROM subject WHERE subject = $1"
    "  UNION SELECT s.subject FROM identity_provider p JOIN subject s ON s.issuer = p.issuer"
    "   WHERE p.idp_id = $2 AND s.upstream_sub = $3"
    "  UNION SELECT subject FROM subject WHERE lower(left(claims ->> 'email', 254)) = lower($4)"
    "   AND lower(claims ->> 'email_verified') = 'true')"
    " SELECT s.subject, s.issuer, s.upstream_sub, s.claims::text AS claims, p.id, p.idp_id,"
    "  p.backchannel_notification_endpoint"
    " FROM who JOIN subject s ON s.subject = who.subject"
    "  JOIN identity_provider p ON p.issuer = s.issuer WHERE p.enabled LIMIT 2",
    4};
/* clang-format off */
static const struct db_column ciba_person_find_columns[] = {
    {"subject",      DB_INTO(struct ciba_person, subject), .needed = true},
    {"issuer",       DB_INTO(struct ciba_person, issuer), .needed = true},
    {"upstream_sub", DB_INTO(struct ciba_person, upstream_sub)},
    {"claims",       DB_INTO(struct ciba_person, claims)},
    {"id",           DB_INTO(struct ciba_person, idp), .needed = true},
    {"idp_id",       DB_INTO(struct ciba_person, idp_id), .needed = true},
    {"backchannel_notification_endpoint", DB_INTO(struct ciba_person, endpoint)},
};
/* clang-format on */

/* The count is exact, because the lock of the person was taken in a statement before. */
static const struct db_stmt ciba_request_insert_stmt = {
    "ciba_request_insert",
    "WITH ok AS (SELECT c.id AS client, p.id AS idp FROM client c, identity_provider p,"
    "   bundle_state b WHERE c.id = $1 AND c.version = $2 AND c.enabled AND p.id = $3"
    "    AND p.enabled AND $4 = ANY (b.acceptable)),"
    " made AS (INSERT INTO ciba_request (id, secret_hash, client, subject, idp, flow_id,"
    "    callback_hash, binding_message, scope, resource, details, interval_seconds, expires_at)"
    "   SELECT $6::uuid, $7, client, $5, idp, $8::uuid, $9::bytea, $10, $11, $12, $13::json,"
    "    $14::integer, $15::timestamptz FROM ok"
    "   WHERE (SELECT count(*) FROM ciba_request WHERE subject = $5 AND state = 'pending'"
    "    AND expires_at > now()) < $16::bigint RETURNING id),"
    " audit AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    "  SELECT $17::timestamptz, nextval('audit_id_seq'), $18, $19::uuid, $20, $21, $22, $23, $24,"
    "   $25, $26, $27::inet, $28, $29, $30, $31 FROM made)"
    " SELECT EXISTS (SELECT 1 FROM ok) AS current, EXISTS (SELECT 1 FROM made) AS made",
    31};
struct ciba_inserted {
    bool current; /* client, provider and revision are as they were read */
    bool made;    /* the row is there */
};
/* clang-format off */
static const struct db_column ciba_request_insert_columns[] = {
    {"current", DB_INTO(struct ciba_inserted, current), .needed = true},
    {"made",    DB_INTO(struct ciba_inserted, made), .needed = true},
};
/* clang-format on */

/* Only the request's own client moves its clock. */
static const struct db_stmt ciba_request_poll_stmt = {
    "ciba_request_poll",
    "WITH polled AS (UPDATE ciba_request SET polled_at = now(),"
    "   early = coalesce(polled_at + make_interval(secs => interval_seconds) > now(), false),"
    "   interval_seconds = CASE WHEN polled_at + make_interval(secs => interval_seconds) > now()"
    "    THEN least(interval_seconds + $3::integer, $4::integer) ELSE interval_seconds END"
    "  WHERE id = $1::uuid AND client = $2 AND state = 'pending' AND expires_at > now()"
    "  RETURNING early)"
    " SELECT q.secret_hash, q.state, q.expires_at <= now() AS expired,"
    "  g.redeemed_at IS NOT NULL AS consumed, (SELECT early FROM polled) AS early, q.flow_id,"
    "  q.subject, " CLIENT_COLUMNS " FROM ciba_request q JOIN client c ON c.id = q.client"
    "  LEFT JOIN token_grant g ON g.id = q.id WHERE q.id = $1::uuid",
    4};

/* A row of ciba_request_poll. */
struct ciba_stored {
    unsigned char secret_hash[SHA256_OCTETS];
    const char *state;
    bool consumed; /* the approval was redeemed */
    struct ciba_poll poll;
};
/* clang-format off */
static const struct db_column ciba_request_poll_columns[] = {
    {"secret_hash", DB_INTO(struct ciba_stored, secret_hash)},
    {"state",       DB_INTO(struct ciba_stored, state), .needed = true},
    {"expired",     DB_INTO(struct ciba_stored, poll.expired), .needed = true},
    {"consumed",    DB_INTO(struct ciba_stored, consumed), .needed = true},
    {"early",       DB_INTO(struct ciba_stored, poll.early)},
    {"flow_id",     DB_INTO(struct ciba_stored, poll.owner.flow_id)},
    {"subject",     DB_INTO(struct ciba_stored, poll.owner.subject), .needed = true},
    CLIENT_ROWS(struct ciba_stored, poll.owner.client),
};
/* clang-format on */

static const struct db_stmt ciba_request_purge_stmt = {
    "ciba_request_purge",
    "DELETE FROM ciba_request WHERE id IN (SELECT id FROM ciba_request"
    " WHERE expires_at < now() - interval '1 hour' ORDER BY expires_at LIMIT $1"
    " FOR UPDATE SKIP LOCKED)",
    1};

enum az_status
ciba_person_find(struct op *op, const struct ciba_hint *hint, struct ciba_person *ret)
{
    struct db_params params = {.count = 0};
    PGresult *row;
    db_text(&params, hint->sub);
    db_text(&params, hint->idp_id);
    db_text(&params, hint->upstream_sub);
    db_text(&params, hint->email);
    *ret = (struct ciba_person){.found = false};
    enum az_status st = db_exec(op, &ciba_person_find_stmt, &params, true, &row);
    if (st != AZ_OK || PQntuples(row) != 1)
        return st;
    st = db_read_row(op, row, 0, DB_TABLE(struct ciba_person, ciba_person_find_columns), ret);
    if (st == AZ_OK)
        st = stored_claims_typed(op, ret->claims);
    ret->found = st == AZ_OK;
    return st;
}

static void
bind_request(struct op *op, struct db_params *params, const struct ciba_request_new *request,
             const char *details, const struct audit_entry *audit)
{
    db_number(params, request->client->id);
    db_number(params, request->client->version);
    db_number(params, request->person->idp);
    db_text(params, request->revision);
    db_text(params, request->person->subject);
    db_octets(params, request->parts->id, UUID7_OCTETS);
    db_octets(params, request->parts->secret_hash, SHA256_OCTETS);
    db_text(params, request->flow_id);
    db_octets(params, request->callback_hash, SHA256_OCTETS);
    db_text(params, request->binding_message);
    db_text(params, request->scope);
    db_text(params, request->resource);
    db_text(params, details);
    db_number(params, request->interval);
    db_time(params, request->expires_at * 1000);
    db_number(params, CIBA_OPEN_MAX);
    db_time(params, op->now_ms);
    audit_bind(params, audit);
}

enum az_status
ciba_request_insert(struct op *op, const struct ciba_request_new *request,
                    const struct audit_entry *audit, enum ciba_made *ret)
{
    uint32_t day = partition_day(op_now(op));
    const char *subject = request->person->subject;
    const char *details = request->details != NULL ? jsonx_dump(op->mem, request->details) : NULL;
    if (request->details != NULL && details == NULL)
        return op_no_memory(op);
    enum az_status st = partition_need_day(op, day);
    if (st != AZ_OK)
        return st;
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    lock_add(batch, LOCK_CIBA, subject, strlen(subject));
    struct db_step *step = db_batch_add_in(batch, &ciba_request_insert_stmt, DB_NO_PARTITION, day);
    db_batch_commit(batch);
    bind_request(op, &step->params, request, details, audit);
    st = db_run_or_retry(op, batch, false, SQLSTATE_FOREIGN_KEY_VIOLATION);
    if (st == AZ_RETRY) { /* the person was deleted a moment ago */
        *ret = CIBA_STALE;
        return AZ_OK;
    }
    struct ciba_inserted inserted = {.made = false};
    if (st == AZ_OK)
        st = db_read_row(op, step->result, 0,
                         DB_TABLE(struct ciba_inserted, ciba_request_insert_columns), &inserted);
    if (st == AZ_OK)
        *ret = inserted.made ? CIBA_MADE : inserted.current ? CIBA_FULL : CIBA_STALE;
    return st;
}

static enum ciba_state
state_of(const struct ciba_stored *stored)
{
    return stored->consumed                         ? CIBA_CONSUMED
           : strcmp(stored->state, "pending") == 0  ? CIBA_PENDING
           : strcmp(stored->state, "approved") == 0 ? CIBA_APPROVED
                                                    : CIBA_DENIED;
}

enum az_status
ciba_request_poll(struct op *op, const struct token_parts *parts, const struct client *client,
                  struct ciba_poll *ret)
{
    struct db_params params = {.count = 0};
    struct ciba_stored stored = {.state = NULL};
    bool found;
    db_octets(&params, parts->id, UUID7_OCTETS);
    db_number(&params, client->id);
    db_number(&params, CIBA_INTERVAL_STEP);
    db_number(&params, CIBA_INTERVAL_MAX);
    *ret = (struct ciba_poll){.owner = {.found = false}};
    enum az_status st =
        db_fetch_row(op, &ciba_request_poll_stmt, &params, false,
                     DB_TABLE(struct ciba_stored, ciba_request_poll_columns), &stored, &found);
    if (st != AZ_OK || !found
        || !secret_equal(stored.secret_hash, SHA256_OCTETS, parts->secret_hash, SHA256_OCTETS))
        return st;
    *ret = stored.poll;
    ret->owner.found = true;
    ret->state = state_of(&stored);
    return AZ_OK;
}

enum az_status
ciba_requests_purge(struct op *op)
{
    return db_purge(op, &ciba_request_purge_stmt, 0, NULL);
}
