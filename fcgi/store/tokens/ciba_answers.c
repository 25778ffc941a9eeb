#include "config.h"

#include "store/tokens/ciba_answers.h"

#include <string.h>

#include "base/words.h"
#include "crypto/digest.h"
#include "store/db/keep/partitions.h"
#include "store/db/trip/db_row.h"
#include "store/tokens/ciba_requests.h"

#define WAITING_COLUMNS                                                                            \
    "SELECT uuid_send(q.id) AS id, q.state = 'pending' AND q.expires_at > now() AND c.enabled"     \
    " AND p.enabled AS pending, q.subject, s.upstream_sub, q.flow_id, c.client_id, c.client_name," \
    " c.client_uri, c.registration_type, q.binding_message, q.scope, q.resource, q.details,"       \
    " ceil(extract(epoch FROM q.expires_at - now()))::bigint AS seconds"                           \
    " FROM ciba_request q JOIN client c ON c.id = q.client"                                        \
    " JOIN identity_provider p ON p.id = q.idp JOIN subject s ON s.subject = q.subject"

static const struct db_stmt ciba_waiting_list_stmt = {
    "ciba_waiting_list",
    WAITING_COLUMNS
    " WHERE q.subject = $1 AND q.state = 'pending' AND q.expires_at > now() AND c.enabled"
    "  AND p.enabled ORDER BY q.created_at, q.id LIMIT $2",
    2};
/* clang-format off */
static const struct db_column ciba_waiting_list_columns[] = {
    {"id",                DB_INTO(struct ciba_waiting, id)},
    {"pending",           DB_INTO(struct ciba_waiting, pending), .needed = true},
    {"subject",           DB_INTO(struct ciba_waiting, subject), .needed = true},
    {"upstream_sub",      DB_INTO(struct ciba_waiting, upstream_sub)},
    {"flow_id",           DB_INTO(struct ciba_waiting, flow_id)},
    {"client_id",         DB_INTO(struct ciba_waiting, client_id), .needed = true},
    {"client_name",       DB_INTO(struct ciba_waiting, client_name)},
    {"client_uri",        DB_INTO(struct ciba_waiting, client_uri)},
    {"registration_type", DB_INTO(struct ciba_waiting, registration), .needed = true},
    {"binding_message",   DB_INTO(struct ciba_waiting, binding_message)},
    {"scope",             DB_INTO(struct ciba_waiting, scope)},
    {"resource",          DB_INTO(struct ciba_waiting, resource)},
    {"details",           DB_INTO(struct ciba_waiting, details)},
    {"seconds",           DB_INTO(struct ciba_waiting, seconds)},
};
/* clang-format on */
/* All three statements have the columns of the table. */
#define WAITING DB_TABLE(struct ciba_waiting, ciba_waiting_list_columns)
static const struct db_stmt ciba_waiting_find_stmt = {"ciba_waiting_find",
                                                      WAITING_COLUMNS " WHERE q.id = $1::uuid", 1};
static const struct db_stmt ciba_waiting_callback_stmt = {
    "ciba_waiting_callback", WAITING_COLUMNS " WHERE q.callback_hash = $1", 1};

/* The end of an approval that is not collected, as that of a code (grants.c). No redirect_uri is
 * empty, so that an auth_req_id in the form of a code is no code. An approval for
 * the gateway (call_hash) gives no tokens. */
enum ciba_request_answer_column { ANSWER_DONE };
static const struct db_stmt ciba_request_answer_stmt = {
    "ciba_request_answer",
    "WITH won AS (UPDATE ciba_request q SET state = $2 FROM client c, identity_provider p"
    "   WHERE q.id = $1::uuid AND q.state = 'pending' AND q.expires_at > now()"
    "    AND c.id = q.client AND c.enabled AND p.id = q.idp AND p.enabled"
    "    AND ($3::bytea IS NULL OR EXISTS (SELECT 1 FROM browser_session b WHERE b.id_hash = $3"
    "     AND b.subject = q.subject AND b.expires_at > now()))"
    "   RETURNING q.*),"
    " audit AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    "  SELECT $7::timestamptz, nextval('audit_id_seq'), $8, $9::uuid, $10, $11, $12, $13, $14,"
    "   $15, $16, $17::inet, $18, $19, $20, $21 FROM won),"
    " family AS (INSERT INTO token_grant (id, code_hash, code_expires_at, client, subject, idp, "
    "flow_id,"
    "   redirect_uri, auth_time, with_auth_time, acr, amr, scope, resource, details, created_at,"
    "   idle_expires_at, expires_at)"
    " SELECT id, secret_hash, expires_at, client, subject, idp, flow_id, '', $4::timestamptz, true,"
    "  $5, $6::text[], scope, resource, details, $7::timestamptz,"
    "  expires_at + interval '60 seconds', expires_at + interval '60 seconds'"
    " FROM won WHERE state = 'approved' AND call_hash IS NULL)"
    " SELECT EXISTS (SELECT 1 FROM won) AS done",
    21};

enum az_status
ciba_waiting_list(struct op *op, const char *subject, struct ciba_waiting *ret, size_t *ret_count)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, subject);
    db_number(&params, CIBA_OPEN_MAX);
    enum az_status st = db_exec(op, &ciba_waiting_list_stmt, &params, true, &result);
    int count = st == AZ_OK ? PQntuples(result) : 0;
    for (int i = 0; st == AZ_OK && i < count; i++)
        st = db_read_row(op, result, i, WAITING, &ret[i]);
    *ret_count = (size_t) count;
    return st;
}

static enum az_status
find_one(struct op *op, const struct db_stmt *stmt, const unsigned char *octets, size_t length,
         struct ciba_waiting *ret, bool *ret_found)
{
    struct db_params params = {.count = 0};
    db_octets(&params, octets, length);
    return db_fetch_row(op, stmt, &params, true, WAITING, ret, ret_found);
}

enum az_status
ciba_waiting_find(struct op *op, const unsigned char id[UUID7_OCTETS], struct ciba_waiting *ret,
                  bool *ret_found)
{
    return find_one(op, &ciba_waiting_find_stmt, id, UUID7_OCTETS, ret, ret_found);
}

enum az_status
ciba_waiting_find_callback(struct op *op, const unsigned char *callback_hash,
                           struct ciba_waiting *ret, bool *ret_found)
{
    return find_one(op, &ciba_waiting_callback_stmt, callback_hash, SHA256_OCTETS, ret, ret_found);
}

enum az_status
ciba_request_answer(struct op *op, const unsigned char id[UUID7_OCTETS],
                    const struct ciba_answer *answer, const struct audit_entry *audit,
                    bool *ret_done)
{
    uint32_t day = partition_day(op_now(op));
    const char **amr = answer->amr != NULL ? words_array_list(op->mem, answer->amr) : NULL;
    if (answer->amr != NULL && amr == NULL)
        return op_no_memory(op);
    enum az_status st = partition_need_day(op, day);
    if (st != AZ_OK)
        return st;
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &ciba_request_answer_stmt, DB_NO_PARTITION, day);
    db_octets(&step->params, id, UUID7_OCTETS);
    db_text(&step->params, answer->approved ? "approved" : "denied");
    db_octets(&step->params, answer->session, SHA256_OCTETS);
    db_time(&step->params, answer->auth_time * 1000);
    db_text(&step->params, answer->acr);
    db_words_or_null(op->mem, &step->params, amr);
    db_time(&step->params, op->now_ms);
    audit_bind(&step->params, audit);
    if ((st = db_run(op, batch, false)) == AZ_OK)
        *ret_done = db_get_bool(step->result, 0, ANSWER_DONE);
    return st;
}
