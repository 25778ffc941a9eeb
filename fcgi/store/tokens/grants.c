#include "config.h"

#include "store/tokens/grants.h"

#include "base/json/jsonx.h"
#include "store/db/keep/partitions.h"
#include "store/db/keep/purge.h"

/* A code that was not redeemed is remembered this long after its end, so that a late redemption
 * gets the reason. */
#define UNREDEEMED "interval '60 seconds'"

/* Read the subject from the session's row and not from the caller: the session may have ended, or
 * its provider may have been disabled, since the caller read it. */
static const struct db_stmt grant_insert_stmt = {
    "grant_insert",
    "WITH ok AS (SELECT s.subject, s.idp, s.sid, s.auth_time, s.acr, s.amr FROM client c, "
    "browser_session s JOIN identity_provider p ON p.id = s.idp"
    "  WHERE c.id = $1 AND c.version = $2 AND c.enabled AND s.id_hash = $3 AND s.expires_at > "
    "now() "
    "AND p.enabled AND ($33::text IS NULL OR EXISTS (SELECT 1 FROM bundle_state b"
    "   WHERE $33 = ANY (b.acceptable)))),"
    " audit AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    "  SELECT $4::timestamptz, nextval('audit_id_seq'), $5, $6::uuid, $7, $8, $9, $10, $11, $12, "
    "$13, $14::inet, $15, $16, $17, $18 FROM ok),"
    " allowed AS (INSERT INTO consent (subject, client, what, redirect_host, scope, resource)"
    "  SELECT subject, $1, $31::bytea, $32::text, coalesce($26::text, ''), $27 FROM ok"
    "   WHERE $31::bytea IS NOT NULL"
    "  ON CONFLICT (subject, what) DO UPDATE SET granted_at = now())"
    " INSERT INTO token_grant (id, code_hash, code_expires_at, client, subject, idp, sid, flow_id, "
    "redirect_uri, code_challenge, nonce, auth_time, with_auth_time, acr, amr, scope, resource, "
    "resource_types, details, dpop_jkt, created_at, idle_expires_at, expires_at)"
    " SELECT $19::uuid, $20, $21::timestamptz, $1, subject, idp, sid, $30::uuid, $22, $23, $24, "
    "auth_time, $25, acr, amr, $26, $27, $28::jsonb, $29::json, $34, $4::timestamptz,"
    "  $21::timestamptz + " UNREDEEMED ", $21::timestamptz + " UNREDEEMED " FROM ok",
    34};

/* A family must exist as long as one of its access tokens lives. That is at most a day, which may
 * begin at the family's end; one day more for safety. */
static const struct db_stmt grant_purge_stmt = {
    "grant_purge",
    "DELETE FROM token_grant WHERE id IN (SELECT id FROM token_grant"
    " WHERE expires_at < now() - interval '2 days' ORDER BY expires_at LIMIT $1 "
    "FOR UPDATE SKIP LOCKED)",
    1};

/* Parts of the request stored as JSON text, or NULL. */
struct texts {
    const char *types, *details;
};

/* Fail if a part cannot be stored: without it, the grant would allow everything. */
static enum az_status
grant_dump(struct op *op, const struct grant_terms *what, struct texts *ret)
{
    if (what->resource_types != NULL)
        ret->types = jsonx_dump(op->mem, what->resource_types);
    if (what->details != NULL)
        ret->details = jsonx_dump(op->mem, what->details);
    bool lost = (what->resource_types != NULL && ret->types == NULL)
                || (what->details != NULL && ret->details == NULL);
    return lost ? op_no_memory(op) : AZ_OK;
}

static void
grant_bind(struct op *op, struct db_params *params, const struct grant_new *grant,
           const struct texts *texts, const struct audit_entry *audit)
{
    const struct grant_terms *what = &grant->terms;
    db_number(params, grant->client->id);
    db_number(params, grant->client->version);
    db_octets(params, grant->session->id_hash, SHA256_OCTETS);
    db_time(params, op->now_ms);
    audit_bind(params, audit);
    db_octets(params, grant->code->id, UUID7_OCTETS);
    db_octets(params, grant->code->secret_hash, SHA256_OCTETS);
    db_time(params, grant->code_expires_at * 1000);
    db_text(params, what->redirect_uri);
    db_text(params, what->code_challenge);
    db_text(params, what->nonce);
    db_bool(params, what->with_auth_time);
    db_text(params, what->scope);
    db_text(params, what->resource);
    db_text(params, texts->types);
    db_text(params, texts->details);
    db_text(params, what->flow_id);
    db_octets(params, grant->consent, SHA256_OCTETS);
    db_text(params, grant->redirect_host);
    db_text(params, grant->revision);
    db_text(params, what->dpop_jkt);
}

/* Try once; AZ_RETRY without a fault if the day has no partition yet. */
static enum az_status
grant_try_insert(struct op *op, const struct grant_new *grant, const struct texts *texts,
                 const struct audit_entry *audit, bool *ret_stored)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step =
        db_batch_add_in(batch, &grant_insert_stmt, DB_NO_PARTITION, partition_day(op_now(op)));
    grant_bind(op, &step->params, grant, texts, audit);
    enum az_status st = db_try(op, batch, false);
    if (st == AZ_OK)
        *ret_stored = db_written(step->result) > 0;
    if (st != AZ_SQL)
        return st;
    /* Client, subject or provider was deleted between the read and the write. */
    if (db_batch_failed_with(batch, SQLSTATE_FOREIGN_KEY_VIOLATION)) {
        *ret_stored = false;
        return AZ_OK;
    }
    return db_batch_failed_with(batch, SQLSTATE_UNDEFINED_TABLE) ? AZ_RETRY
                                                                 : db_batch_fail(op, batch);
}

enum az_status
grant_insert(struct op *op, const struct grant_new *grant, const struct audit_entry *audit,
             bool *ret_stored)
{
    struct texts texts = {.types = NULL};
    enum az_status st = grant_dump(op, &grant->terms, &texts);
    if (st == AZ_OK)
        st = grant_try_insert(op, grant, &texts, audit, ret_stored);
    if (st != AZ_RETRY)
        return st;
    if ((st = partition_make_day(op, partition_day(op_now(op)))) != AZ_OK)
        return st;
    st = grant_try_insert(op, grant, &texts, audit, ret_stored);
    return st != AZ_RETRY
               ? st
               : op_fail(op, AZ_UNAVAILABLE, NULL, "an audit partition disappeared twice");
}

enum az_status
grants_purge(struct op *op)
{
    return db_purge(op, &grant_purge_stmt, 0, NULL);
}
