#include "config.h"

#include "store/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/random.h"
#include "crypto/secret.h"
#include "store/locks.h"
#include "store/partitions.h"

static const struct db_stmt insert_stmt = {
    "token_insert",
    "WITH ok AS (SELECT nextval('audit_id_seq') AS audit_id FROM client c, bundle_state b"
    "  WHERE c.id = $1 AND c.version = $2 AND c.enabled AND $3 = ANY (b.acceptable)),"
    " audit AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    "  SELECT $6::timestamptz, audit_id, $12, $13::uuid, $14, $15, $16, $17, $18, $19, $20, "
    "$21::inet, $22, $23, $24, $25 FROM ok)"
    " INSERT INTO access_token_p%P"
    "  (id, expires_at, issued_at, secret_hash, client, audit_id, jit, subject, scope, resource, "
    "pdp_output)"
    " SELECT $4::uuid, $5::timestamptz, $6::timestamptz, $7, $1, audit_id, $8, $9, $10, $11, $25 "
    "FROM ok",
    25};

static const struct db_stmt denial_stmt = {
    "token_denial",
    "INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    " SELECT $2::timestamptz, nextval('audit_id_seq'), $3, $4::uuid, $5, $6, $7, $8, $9, $10, $11, "
    "$12::inet, $13, $14, $15, $16"
    "   FROM bundle_state b, client c WHERE $1 = ANY (b.acceptable)"
    " AND c.id = $17 AND c.version = $18",
    18};

enum token_caller_column { STATE_ACCEPTABLE, STATE_CALLER_CURRENT };
static const struct db_stmt state_stmt = {"token_caller",
                                          "SELECT b.acceptable, EXISTS (SELECT 1 FROM client WHERE "
                                          "id = $1 AND version = $2 AND enabled) AS caller_current"
                                          " FROM bundle_state b",
                                          2};

enum token_find_column {
    FIND_SECRET_HASH,
    FIND_ISSUED_AT,
    FIND_EXPIRES_AT,
    FIND_JIT,
    FIND_SUBJECT,
    FIND_SCOPE,
    FIND_RESOURCE,
    FIND_PDP_OUTPUT,
    FIND_POLICY_INPUT,
    FIND_ID,
    FIND_VERSION,
    FIND_CLIENT_ID,
    FIND_CLIENT_TYPE,
    FIND_REGISTRATION_TYPE,
    FIND_AUTH_METHOD,
    FIND_SOFTWARE_ID,
    FIND_SOFTWARE_VERSION,
    FIND_STATEMENT
};
static const struct db_stmt find_stmt = {
    "token_find",
    "SELECT t.secret_hash, floor(extract(epoch FROM t.issued_at))::bigint AS issued_at,"
    " floor(extract(epoch FROM t.expires_at))::bigint AS expires_at, t.jit, t.subject, t.scope, "
    "t.resource, t.pdp_output,"
    " a.policy_input, c.id, c.version, c.client_id, c.client_type, c.registration_type, "
    "c.auth_method,"
    " CASE WHEN c.registration_type = 'STATEMENT' THEN c.software_id END AS software_id,"
    " CASE WHEN c.registration_type = 'STATEMENT' THEN c.software_version END AS "
    "software_version,"
    " CASE WHEN c.registration_type = 'STATEMENT' THEN c.software_statement::text END AS statement"
    " FROM access_token_p%P t JOIN client c ON c.id = t.client LEFT JOIN audit_log_p%D a ON a.id = "
    "t.audit_id"
    " WHERE t.id = $1::uuid AND t.expires_at > now() AND t.revoked_at IS NULL AND c.enabled",
    1};

enum token_consume_column { CONSUME_CONSUMED };
static const struct db_stmt consume_stmt = {
    "token_consume",
    "WITH gone AS (DELETE FROM access_token_p%P WHERE id = $2::uuid AND expires_at > now() AND "
    "revoked_at IS NULL RETURNING 1)"
    " INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    " SELECT $1::timestamptz, nextval('audit_id_seq'), $3, $4::uuid, $5, $6, $7, $8, $9, $10,"
    "  CASE WHEN EXISTS (SELECT 1 FROM gone) THEN $11 ELSE 'rejected' END, $12::inet, $13, $14, "
    "$15, $16"
    " RETURNING outcome <> 'rejected' AS consumed",
    16};

/* The hash is compared under a key of this one request ($20): how long a comparison takes then
 * tells nothing about it. */
static const struct db_stmt revoke_stmt = {
    "token_revoke",
    "WITH ok AS (SELECT 1 WHERE $4::bigint IS NULL OR EXISTS (SELECT 1 FROM client WHERE id = $4 "
    "AND version = $5 AND enabled)),"
    " dead AS (UPDATE access_token_p%P t SET revoked_at = now() FROM client c, ok"
    "  WHERE t.id = $2::uuid AND sha256($20::bytea || t.secret_hash) = $3 AND t.revoked_at IS NULL "
    "AND c.id = t.client"
    "    AND (c.id = $4 OR ($4 IS NULL AND c.client_type = 'public')) RETURNING 1)"
    " INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    " SELECT $1::timestamptz, nextval('audit_id_seq'), $6, $7::uuid, $8, $9, $10, $11, $12, $13, "
    "$14, $15::inet, $16,"
    "  coalesce($17, '{\"revoked\":' || (SELECT count(*) FROM dead) || '}'), $18, $19 FROM ok",
    20};

/* Runs a batch that names partitions; when one of them is missing, makes both and says so
 * (AZ_INVALID without a fault). */
static enum az_status
run_partitioned(struct op *op, struct db_batch *batch, uint32_t bucket, uint32_t day, bool first)
{
    enum az_status st = db_try(op, batch, false);
    if (st != AZ_INVALID)
        return st;
    if (!first || !db_batch_failed_with(batch, "42P01"))
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: %s", db_batch_message(batch));
    st = partition_make_bucket(op, bucket);
    if (st == AZ_OK)
        st = partition_make_day(op, day);
    return st == AZ_OK ? AZ_INVALID : st;
}

static enum az_status
try_insert(struct op *op, const struct token_new *token, const struct audit_entry *audit,
           bool first, bool *ret_stored)
{
    uint32_t bucket = token->parts->bucket, day = partition_day(token->issued_ms / 1000);
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &insert_stmt, bucket, day);
    if (step == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no memory");
    struct db_params *params = &step->params;
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
    enum az_status st = run_partitioned(op, batch, bucket, day, first);
    if (st == AZ_OK)
        *ret_stored = db_written(step->result) > 0;
    return st;
}

enum az_status
token_insert(struct op *op, const struct token_new *token, const struct audit_entry *audit,
             bool *ret_stored)
{
    enum az_status st = try_insert(op, token, audit, true, ret_stored);
    return st == AZ_INVALID ? try_insert(op, token, audit, false, ret_stored) : st;
}

enum az_status
token_insert_denial(struct op *op, const struct client *client, const char *revision,
                    const struct audit_entry *audit, bool *ret_stored)
{
    uint32_t day = partition_day(op_now(op));
    enum az_status st = partition_need_day(op, day);
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &denial_stmt, DB_NO_PARTITION, day);
    if (st != AZ_OK || step == NULL)
        return st != AZ_OK ? st : op_fail(op, AZ_SERVER_ERROR, NULL, "no memory");
    db_text(&step->params, revision);
    db_time(&step->params, op->now_ms);
    audit_bind(&step->params, audit);
    db_number(&step->params, client->id);
    db_number(&step->params, client->version);
    if ((st = db_run(op, batch, false)) == AZ_OK)
        *ret_stored = db_written(step->result) > 0;
    return st;
}

/* Adds the step that finds one token; none when its partitions cannot exist. */
static enum az_status
add_find(struct op *op, struct db_batch *batch, const struct token_parts *token,
         struct db_step **ret)
{
    bool bucket = false, is_day = false;
    if (token == NULL)
        return AZ_OK;
    uint32_t day = partition_day((int64_t) (uuid7_ms(token->id) / 1000));
    enum az_status st = partition_has_bucket(op, token->bucket, &bucket);
    if (st == AZ_OK && bucket)
        st = partition_has_day(op, day, &is_day);
    if (st != AZ_OK || !is_day)
        return st;
    *ret = db_batch_add_in(batch, &find_stmt, token->bucket, day);
    if (*ret != NULL)
        db_octets(&(*ret)->params, token->id, UUID7_OCTETS);
    return AZ_OK;
}

static enum az_status
read_octets(struct op *op, const PGresult *result, enum token_find_column column,
            const unsigned char **ret, size_t *ret_length)
{
    unsigned char *octets;
    if (db_get(result, 0, column) == NULL)
        return AZ_OK;
    enum az_status st = db_get_octets(op->mem, result, 0, column, &octets, ret_length);
    if (st != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "column %s is damaged", PQfname(result, column));
    *ret = octets;
    return AZ_OK;
}

/* Fills the row; texts stay in the result, which lives as long as the operation. */
static enum az_status
read_token(struct op *op, const PGresult *result, const struct token_parts *token,
           struct token_row *ret)
{
    const unsigned char *hash = NULL;
    size_t hash_length = 0;
    if (PQntuples(result) == 0)
        return AZ_OK;
    enum az_status st = read_octets(op, result, FIND_SECRET_HASH, &hash, &hash_length);
    if (st != AZ_OK || !secret_equal(hash, hash_length, token->secret_hash, SHA256_OCTETS))
        return st;
    struct token_row row = {.found = true};
    row.client = (struct client){
        .id = db_get_number(result, 0, FIND_ID, 0),
        .version = db_get_number(result, 0, FIND_VERSION, 0),
        .client_id = db_get(result, 0, FIND_CLIENT_ID),
        .type = db_get(result, 0, FIND_CLIENT_TYPE),
        .registration = db_get(result, 0, FIND_REGISTRATION_TYPE),
        .auth_method = db_get(result, 0, FIND_AUTH_METHOD),
        .software_id = db_get(result, 0, FIND_SOFTWARE_ID),
        .software_version = db_get(result, 0, FIND_SOFTWARE_VERSION),
        .statement = db_get(result, 0, FIND_STATEMENT),
        .enabled = true,
    };
    row.issued_at = db_get_number(result, 0, FIND_ISSUED_AT, 0);
    row.expires_at = db_get_number(result, 0, FIND_EXPIRES_AT, 0);
    row.jit = db_get_bool(result, 0, FIND_JIT);
    row.subject = db_get(result, 0, FIND_SUBJECT);
    if (row.subject == NULL)
        row.subject = row.client.client_id;
    row.scope = db_get(result, 0, FIND_SCOPE);
    row.resource = db_get(result, 0, FIND_RESOURCE);
    st = read_octets(op, result, FIND_PDP_OUTPUT, &row.output, &row.output_length);
    if (st == AZ_OK)
        st = read_octets(op, result, FIND_POLICY_INPUT, &row.input, &row.input_length);
    if (st == AZ_OK)
        *ret = row;
    return st;
}

/* One try of token_find; AZ_INVALID without a fault when a partition was dropped meanwhile. */
static enum az_status
find_once(struct op *op, struct token_lookup *lookup)
{
    lookup->row = (struct token_row){.found = false};
    lookup->caller_row = (struct token_row){.found = false};
    struct db_batch *batch = db_batch_new(op);
    struct db_step *state = db_batch_add(batch, &state_stmt);
    if (state == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no memory");
    db_number(&state->params, lookup->caller != NULL ? lookup->caller->id : 0);
    db_number(&state->params, lookup->caller != NULL ? lookup->caller->version : 0);
    struct db_step *token = NULL, *caller = NULL;
    enum az_status st = add_find(op, batch, lookup->token, &token);
    if (st == AZ_OK)
        st = add_find(op, batch, lookup->caller_token, &caller);
    if (st != AZ_OK)
        return st;
    st = db_try(op, batch, true);
    if (st == AZ_INVALID && !db_batch_failed_with(batch, "42P01"))
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: %s", db_batch_message(batch));
    if (st != AZ_OK)
        return st;
    lookup->acceptable = db_get(state->result, 0, STATE_ACCEPTABLE);
    lookup->caller_current = db_get_bool(state->result, 0, STATE_CALLER_CURRENT);
    if (token != NULL)
        st = read_token(op, token->result, lookup->token, &lookup->row);
    if (st == AZ_OK && caller != NULL)
        st = read_token(op, caller->result, lookup->caller_token, &lookup->caller_row);
    return st;
}

enum az_status
token_find(struct op *op, struct token_lookup *lookup)
{
    enum az_status st = find_once(op, lookup);
    if (st != AZ_INVALID)
        return st;
    st = partition_reload(op);
    if (st == AZ_OK && (st = find_once(op, lookup)) == AZ_INVALID)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "partitions vanish while they are read");
    return st;
}

/* Revisions are letters, digits and hyphens (bundle.c), so the array literal needs no unquoting. */
bool
token_revision_acceptable(const char *acceptable, const char *revision)
{
    size_t length = strlen(revision);
    /* A bundle without revision decides nothing, and one that looks like several is none of ours.
     */
    if (length == 0 || strpbrk(revision, "{,}") != NULL)
        return false;
    for (const char *at = acceptable; at != NULL && (at = strstr(at, revision)) != NULL;
         at += length)
        if (at > acceptable && (at[-1] == '{' || at[-1] == ',')
            && (at[length] == '}' || at[length] == ','))
            return true;
    return false;
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
    struct db_step *step = db_batch_add_in(batch, &consume_stmt, token->bucket, day);
    if (st != AZ_OK || step == NULL || db_batch_commit(batch) == NULL)
        return st != AZ_OK ? st : op_fail(op, AZ_SERVER_ERROR, NULL, "no memory");
    db_time(&step->params, op->now_ms);
    db_octets(&step->params, token->id, UUID7_OCTETS);
    audit_bind(&step->params, audit);
    if ((st = db_run(op, batch, false)) == AZ_OK)
        *ret_consumed = db_get_bool(step->result, 0, CONSUME_CONSUMED);
    return st;
}

/* SHA-256 of key and hash, as revoke_stmt makes it of the stored one. */
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
token_revoke(struct op *op, const struct token_parts *token, const struct client *client,
             const struct audit_entry *audit, bool *ret_current)
{
    uint32_t day = partition_day(op_now(op));
    enum az_status st = partition_need_day(op, day);
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &revoke_stmt, token->bucket, day);
    if (st != AZ_OK || step == NULL)
        return st != AZ_OK ? st : op_fail(op, AZ_SERVER_ERROR, NULL, "no memory");
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
    if ((st = db_run(op, batch, false)) == AZ_OK)
        *ret_current = db_written(step->result) > 0;
    return st;
}
