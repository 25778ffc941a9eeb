#include "config.h"

#include "store/tokens/tokens.h"

#include <string.h>

#include "crypto/random.h"
#include "crypto/secret.h"
#include "store/clients/client_use.h"
#include "store/db/keep/locks.h"
#include "store/db/keep/partitions.h"

/* Write to the log of the database, so that the commit waits for a synchronous standby: when it is
 * confirmed, so is every commit before it. */
#define COMMIT_PROOF "pg_logical_emit_message(true, 'authz', '')"

static const struct db_stmt token_insert_stmt = {
    "token_insert",
    "WITH ok AS (SELECT nextval('audit_id_seq') AS audit_id FROM client c, bundle_state b"
    "  WHERE c.id = $1 AND c.version = $2 AND c.enabled AND $3 = ANY (b.acceptable)),"
    " audit AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    "  SELECT $6::timestamptz, audit_id, $12, $13::uuid, $14, $15, $16, $17, $18, $19, $20, "
    "$21::inet, $22, $23, $24, $25 FROM ok)"
    " INSERT INTO access_token_p%P"
    "  (id, expires_at, issued_at, secret_hash, client, audit_id, jit, subject, scope, resource, "
    "pdp_output, jkt, act, grant_id, idp)"
    " SELECT $4::uuid, $5::timestamptz, $6::timestamptz, $7, $1, audit_id, $8, $9, $10, $11, $25, "
    "$26, $27, $28::uuid, nullif($29::bigint, 0) FROM ok",
    29};

static const struct db_stmt token_denial_stmt = {
    "token_denial",
    "INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    " SELECT $2::timestamptz, nextval('audit_id_seq'), $3, $4::uuid, $5, $6, $7, $8, $9, $10, $11, "
    "$12::inet, $13, $14, $15, $16"
    "   FROM bundle_state b WHERE $1 = ANY (b.acceptable) AND ($17::bigint = 0 OR EXISTS"
    " (SELECT 1 FROM client c WHERE c.id = $17 AND c.version = $18))",
    18};

enum token_consume_column { CONSUME_CONSUMED };
static const struct db_stmt token_consume_stmt = {
    "token_consume",
    "WITH gone AS (DELETE FROM access_token_p%P WHERE id = $2::uuid AND expires_at > now() AND "
    "revoked_at IS NULL RETURNING 1)"
    " INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    " SELECT $1::timestamptz, nextval('audit_id_seq'), $3, $4::uuid, $5, $6, $7, $8, $9, $10,"
    "  CASE WHEN EXISTS (SELECT 1 FROM gone) THEN $11 ELSE 'rejected' END, $12::inet, $13, $14, "
    "$15, $16"
    " RETURNING outcome <> 'rejected' AS consumed",
    16};

/* Compare the hash under a key made for this request ($20), so that the time of the comparison
 * tells nothing about the stored hash. Only a client that has a secret has proved something;
 * without one, a request that revokes nothing leaves no audit row (decisions.md "Audited").
 * A token that is revoked already may be so by a commit that was not confirmed. With an audit row
 * the answer waits for that commit too; without one, `proof` writes to the log of the database. */
#define REVOKE_IF                                                                                  \
    "WITH ok AS (SELECT (SELECT client_type <> 'public' FROM client WHERE id = $4) AS proved"      \
    "  WHERE $4::bigint IS NULL OR EXISTS (SELECT 1 FROM client WHERE id = $4 AND version = $5 "   \
    "AND enabled)),"
#define REVOKE_OF                                                                                  \
    " AND (c.id = $4 OR ($4 IS NULL AND c.client_type = 'public')) RETURNING 1),"                  \
    " noted AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"                     \
    " SELECT $1::timestamptz, nextval('audit_id_seq'), $6, $7::uuid, $8, $9, $10, $11, $12, $13, " \
    "$14, $15::inet, $16,"                                                                         \
    "  coalesce($17, '{\"revoked\":' || (SELECT count(*) FROM dead) || '}'), $18, $19 FROM ok"     \
    "  WHERE ok.proved OR EXISTS (SELECT 1 FROM dead) RETURNING 1)"                                \
    " SELECT EXISTS (SELECT 1 FROM ok) AS current, EXISTS (SELECT 1 FROM noted) AS noted,"         \
    "  (SELECT count(" COMMIT_PROOF                                                                \
    ") FROM shown, ok WHERE NOT EXISTS (SELECT 1 FROM noted)) AS proof"
enum token_revoke_column { REVOKE_CURRENT, REVOKE_NOTED, REVOKE_PROOF };
/* $2 and $3 are the id and the blinded hash of the token that was shown. */
#define REVOKE_SHOWN "t.id = $2::uuid AND sha256($20::bytea || t.secret_hash) = $3"
static const struct db_stmt token_revoke_stmt = {
    "token_revoke",
    REVOKE_IF " shown AS (SELECT 1 FROM access_token_p%P t WHERE " REVOKE_SHOWN "),"
              " dead AS (UPDATE access_token_p%P t SET revoked_at = now() FROM client c, ok"
              "  WHERE " REVOKE_SHOWN " AND t.revoked_at IS NULL AND c.id = t.client" REVOKE_OF,
    20};
/* Revoke the family of a refresh token. */
static const struct db_stmt token_revoke_family_stmt = {
    "token_revoke_family",
    REVOKE_IF
    " shown AS (SELECT 1 FROM refresh_token_p%R t WHERE " REVOKE_SHOWN "),"
    " dead AS (UPDATE token_grant g SET revoked_at = now() FROM refresh_token_p%R t, client c, ok"
    "  WHERE " REVOKE_SHOWN
    " AND g.id = t.grant_id AND g.revoked_at IS NULL AND c.id = g.client" REVOKE_OF,
    20};

/* Run a batch that names partitions. If one of them is missing, make both and return AZ_RETRY
 * without a fault. */
static enum az_status
token_run(struct op *op, struct db_batch *batch, uint32_t bucket, uint32_t day, bool first)
{
    enum az_status st = db_run_or_retry(op, batch, false, first ? SQLSTATE_UNDEFINED_TABLE : NULL);
    if (st != AZ_RETRY)
        return st;
    st = partition_make_bucket(op, bucket);
    if (st == AZ_OK)
        st = partition_make_day(op, day);
    return st == AZ_OK ? AZ_RETRY : st;
}

void
token_bind(struct db_params *params, const struct token_new *token, const struct audit_entry *audit)
{
    db_number(params, token->client->id);
    db_number(params, token->client->version);
    db_text(params, token->revision);
    db_octets(params, token->parts->id, UUID7_OCTETS);
    db_time(params, token->expires_at * 1000);
    db_time(params, token->issued_ms);
    db_octets(params, token->parts->secret_hash, SHA256_OCTETS);
    db_bool(params, token->jit);
    db_text(params, token->subject);
    db_text(params, token->scope);
    db_text(params, token->resource);
    audit_bind(params, audit);
    db_text(params, token->jkt);
    db_text(params, token->act);
}

static void
bind_row(struct db_params *params, const struct token_new *token, const struct audit_entry *audit)
{
    token_bind(params, token, audit);
    if (token->grant != NULL)
        db_octets(params, token->grant, UUID7_OCTETS);
    else
        db_text(params, NULL);
    db_number(params, token->idp);
}

/* Write the row alone. */
static enum az_status
token_try_insert(struct op *op, const struct token_new *token, const struct audit_entry *audit,
                 bool first, bool *ret_stored)
{
    uint32_t bucket = token->parts->bucket, day = partition_day(token->issued_ms / 1000);
    struct db_batch *batch = db_batch_new(op);
    struct db_step *use = client_use_add(op, batch, token->client);
    struct db_step *step = db_batch_add_in(batch, &token_insert_stmt, bucket, day);
    db_batch_adds(batch);
    bind_row(&step->params, token, audit);
    enum az_status st = token_run(op, batch, bucket, day, first);
    if (st == AZ_OK) {
        client_use_done(op, token->client, use);
        *ret_stored = db_written(step->result) > 0;
    }
    return st;
}

enum az_status
token_insert(struct op *op, const struct token_new *token, const struct audit_entry *audit,
             bool *ret_stored)
{
    enum az_status st = token_try_insert(op, token, audit, true, ret_stored);
    return st == AZ_RETRY ? token_try_insert(op, token, audit, false, ret_stored) : st;
}

enum az_status
token_insert_denial(struct op *op, const struct client *client, const char *revision,
                    const struct audit_entry *audit, bool *ret_stored)
{
    uint32_t day = partition_day(op_now(op));
    enum az_status st = partition_need_day(op, day);
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &token_denial_stmt, DB_NO_PARTITION, day);
    db_batch_adds(batch);
    if (st != AZ_OK)
        return st;
    db_text(&step->params, revision);
    db_time(&step->params, op->now_ms);
    audit_bind(&step->params, audit);
    db_number(&step->params, client->id);
    db_number(&step->params, client->version);
    if ((st = db_run(op, batch, false)) == AZ_OK)
        *ret_stored = db_written(step->result) > 0;
    return st;
}

enum az_status
token_consume(struct op *op, const struct token_parts *token, const struct audit_entry *audit,
              bool *ret_consumed)
{
    uint32_t day = partition_day(op_now(op));
    enum az_status st = partition_need_day(op, day);
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    lock_add(batch, LOCK_TOKEN, token->id, UUID7_OCTETS);
    struct db_step *step = db_batch_add_in(batch, &token_consume_stmt, token->bucket, day);
    if (st != AZ_OK)
        return st;
    db_batch_commit(batch);
    db_time(&step->params, op->now_ms);
    db_octets(&step->params, token->id, UUID7_OCTETS);
    audit_bind(&step->params, audit);
    if ((st = db_run(op, batch, false)) == AZ_OK)
        *ret_consumed = db_get_bool(step->result, 0, CONSUME_CONSUMED);
    return st;
}

/* Hash the key and a hash with SHA-256, as token_revoke_stmt does with the stored hash. */
static enum az_status
blind_hash(const unsigned char key[SHA256_OCTETS], const unsigned char hash[SHA256_OCTETS],
           unsigned char ret[SHA256_OCTETS])
{
    unsigned char both[2 * SHA256_OCTETS];
    memcpy(both, key, SHA256_OCTETS);
    memcpy(both + SHA256_OCTETS, hash, SHA256_OCTETS);
    return sha256(both, sizeof(both), ret);
}

enum az_status
token_revoke(struct op *op, enum token_kind kind, const struct token_parts *token,
             const struct client *client, const struct audit_entry *audit, bool *ret_current,
             bool *ret_noted)
{
    bool family = kind == TOKEN_REFRESH;
    uint32_t day = partition_day(op_now(op));
    enum az_status st = partition_need_day(op, day);
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step =
        db_batch_add_in(batch, family ? &token_revoke_family_stmt : &token_revoke_stmt,
                        family ? DB_NO_PARTITION : token->bucket, day);
    if (st != AZ_OK)
        return st;
    if (family)
        step->refresh = partition_refresh(token->bucket);
    struct db_params *params = &step->params;
    unsigned char key[SHA256_OCTETS], blinded[SHA256_OCTETS];
    if ((st = random_octets(key, sizeof(key))) != AZ_OK
        || (st = blind_hash(key, token->secret_hash, blinded)) != AZ_OK)
        return op_fail(op, st, NULL, "the secret's hash cannot be blinded");
    db_time(params, op->now_ms);
    db_octets(params, token->id, UUID7_OCTETS);
    db_octets(params, blinded, sizeof(blinded));
    if (client != NULL) {
        db_number(params, client->id);
        db_number(params, client->version);
    } else {
        db_text(params, NULL);
        db_text(params, NULL);
    }
    audit_bind(params, audit);
    db_octets(params, key, sizeof(key));
    if ((st = db_run(op, batch, false)) != AZ_OK)
        return st;
    *ret_current = db_get_bool(step->result, 0, REVOKE_CURRENT);
    *ret_noted = db_get_bool(step->result, 0, REVOKE_NOTED);
    return AZ_OK;
}
