#include "config.h"

#include "store/tokens/tokens_find.h"

#include <string.h>

#include "crypto/secret.h"
#include "store/db/connect/db_standby.h"
#include "store/db/keep/partitions.h"
#include "store/people/stored_claims.h"
#include "store/tokens/grants_find.h"
#include "store/tokens/revocation.h"
#include "store/uma/delegations.h"

enum token_caller_column { STATE_ACCEPTABLE, STATE_CALLER_CURRENT, STATE_DELEGATED };
static const struct db_stmt token_caller_stmt = {
    "token_caller",
    "SELECT b.acceptable, EXISTS (SELECT 1 FROM client WHERE "
    "id = $1 AND version = $2 AND enabled) AS caller_current,"
    " EXISTS (SELECT 1 FROM delegation) AS delegated"
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
    FIND_CLIENT_KEY,
    FIND_CLIENT_VERSION,
    FIND_CLIENT_ID,
    FIND_CLIENT_TYPE,
    FIND_REGISTRATION_TYPE,
    FIND_AUTH_METHOD,
    FIND_ENABLED,
    FIND_SOFTWARE_ID,
    FIND_SOFTWARE_VERSION,
    FIND_STATEMENT,
    FIND_IDP,
    FIND_CLAIMS,
    FIND_DEAD,
    FIND_FLOW_ID,
    FIND_JKT,
    FIND_ACT,
    FIND_FAMILY,
    FIND_PROVIDER
};
/* A person's token lives only while its family and the identity provider do; both are rows, so that
 * a provider that is enabled again revives its tokens. A token that was exchanged for an ID token
 * has no family, and names the provider itself, if the issuer is one. A family that was deleted
 * has no provider here. A token that is not live is found too, with the reason for the log. */
static const struct db_stmt token_find_stmt = {
    "token_find",
    "SELECT t.secret_hash, floor(extract(epoch FROM t.issued_at))::bigint AS issued_at,"
    " floor(extract(epoch FROM t.expires_at))::bigint AS expires_at, t.jit, t.subject, t.scope, "
    "t.resource, t.pdp_output,"
    " a.policy_input, " CLIENT_COLUMNS ","
    " p.idp_id AS idp, s.claims::text AS claims,"
    " CASE WHEN t.revoked_at IS NOT NULL OR g.revoked_at IS NOT NULL"
    "   OR " TOKEN_REVOKED_BEFORE " THEN 'revoked'"
    "  WHEN t.expires_at <= now() THEN 'expired' WHEN NOT c.enabled THEN 'client_disabled'"
    "  WHEN (t.grant_id IS NOT NULL OR t.idp IS NOT NULL) AND p.enabled IS NOT TRUE"
    "   THEN 'provider_disabled' END AS dead,"
    " a.flow_id, t.jkt, t.act, uuid_send(t.grant_id) AS family, p.id AS provider"
    " FROM access_token_p%P t JOIN client c ON c.id = t.client LEFT JOIN audit_log_p%D a ON a.id = "
    "t.audit_id"
    " LEFT JOIN token_grant g ON g.id = t.grant_id"
    " LEFT JOIN identity_provider p ON p.id = coalesce(g.idp, t.idp)"
    " LEFT JOIN subject s ON s.subject = t.subject"
    " WHERE t.id = $1::uuid",
    1};

/* The active delegations to the client and to the subject of a token. The statement is a part of
 * the trip only while there are delegations at all: beside the token's it would double the time
 * that PostgreSQL needs for a lookup. */
static const struct db_stmt token_delegated_stmt = {
    "token_delegated",
    "SELECT " DELEGATED_TO_TOKEN " AS delegation FROM (SELECT client, subject, $2::uuid AS stated"
    " FROM access_token_p%P WHERE id = $1::uuid) t",
    2};

/* Add a step that reads the partition of a token; no step if its partitions cannot exist. */
static enum az_status
token_add_find(struct op *op, struct db_batch *batch, const struct db_stmt *stmt,
               const struct token_parts *token, struct db_step **ret)
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
    *ret = db_batch_add_in(batch, stmt, token->bucket, day);
    db_octets(&(*ret)->params, token->id, UUID7_OCTETS);
    return AZ_OK;
}

/* Add a step that reads the delegations to the client and the subject of the token. */
static enum az_status
token_add_delegated(struct op *op, struct db_batch *batch, const struct token_lookup *lookup,
                    struct db_step **ret)
{
    enum az_status st = token_add_find(op, batch, &token_delegated_stmt, lookup->token, ret);
    if (st == AZ_OK && *ret != NULL)
        db_text(&(*ret)->params, lookup->stated);
    return st;
}

/* A token whose row is not there, or whose secret is wrong, is unknown. So is a single-use token
 * that was consumed: its row is gone. */
static const struct token_row no_row = {.found = false, .dead = "unknown"};

/* Fill the row; texts stay in the result, which lives as long as the operation. */
static enum az_status
token_read_access(struct op *op, const PGresult *result, const struct token_parts *token,
                  struct token_row *ret)
{
    const unsigned char *hash = NULL;
    size_t hash_length = 0;
    if (PQntuples(result) == 0)
        return AZ_OK;
    enum az_status st = db_read_octets(op, result, 0, FIND_SECRET_HASH, &hash, &hash_length);
    if (st != AZ_OK || !secret_equal(hash, hash_length, token->secret_hash, SHA256_OCTETS))
        return st;
    ret->flow_id = db_get(result, 0, FIND_FLOW_ID);
    if ((ret->dead = db_get(result, 0, FIND_DEAD)) != NULL)
        return AZ_OK;
    struct token_row row = {.found = true, .flow_id = ret->flow_id};
    json_t *claims = NULL;
    client_read_columns(result, FIND_CLIENT_KEY, &row.client);
    row.issued_at = db_get_number(result, 0, FIND_ISSUED_AT, 0);
    row.expires_at = db_get_number(result, 0, FIND_EXPIRES_AT, 0);
    row.jit = db_get_bool(result, 0, FIND_JIT);
    row.subject = db_get(result, 0, FIND_SUBJECT);
    if (row.subject == NULL)
        row.subject = row.client.client_id;
    row.scope = db_get(result, 0, FIND_SCOPE);
    row.resource = db_get(result, 0, FIND_RESOURCE);
    st = db_read_octets(op, result, 0, FIND_PDP_OUTPUT, &row.output, &row.output_length);
    if (st == AZ_OK)
        st = db_read_octets(op, result, 0, FIND_POLICY_INPUT, &row.input, &row.input_length);
    row.idp = db_get(result, 0, FIND_IDP);
    if (st == AZ_OK)
        st = stored_claims_read(op, result, 0, FIND_CLAIMS, &claims);
    row.claims = claims;
    row.jkt = db_get(result, 0, FIND_JKT);
    if (st == AZ_OK)
        st = db_read_json(op, result, 0, FIND_ACT, &row.act);
    size_t family_length = 0;
    if (st == AZ_OK && db_get(result, 0, FIND_FAMILY) != NULL)
        st = db_read_octets(op, result, 0, FIND_FAMILY, &row.family, &family_length);
    row.provider = db_get_number(result, 0, FIND_PROVIDER, 0);
    if (st == AZ_OK)
        *ret = row;
    return st;
}

/* Fill the row of a refresh token from its family. A rotated refresh token is inactive, although
 * its client may still use it for a moment, and so is one whose sibling was used. */
static enum az_status
token_read_refresh(struct op *op, const struct db_step *step, const struct token_parts *token,
                   struct token_row *ret)
{
    struct grant_row *grant = talloc_zero(op->mem, struct grant_row);
    if (grant == NULL)
        return op_no_memory(op);
    enum az_status st = grant_read(op, step, token, grant);
    if (st != AZ_OK || !grant->found)
        return st;
    ret->dead = !grant->redeemed           ? "unknown"
                : grant->revoked           ? "revoked"
                : !grant->live             ? "expired"
                : grant->rotated           ? "rotated"
                : grant->ended             ? "ended"
                : !grant->client.enabled   ? "client_disabled"
                : !grant->provider_enabled ? "provider_disabled"
                                           : NULL;
    ret->flow_id = grant->flow_id;
    if (ret->dead != NULL)
        return AZ_OK;
    *ret = (struct token_row){
        .found = true,
        .flow_id = grant->flow_id,
        .client = grant->client,
        .issued_at = grant->issued_at,
        .expires_at = grant->ends_at,
        .subject = grant->subject,
        .scope = grant->granted_scope,
        .resource = grant->resource,
        .idp = grant->idp_id,
        .claims = grant->claims,
        .grant = grant,
    };
    return AZ_OK;
}

/* Read what was delegated to the client and the subject of the token. If the batch had no such
 * step, delegations are news to this process, which makes one extra trip, once. */
static enum az_status
token_read_delegated(struct op *op, const struct db_step *step, struct token_lookup *lookup)
{
    if (step == NULL) {
        struct db_batch *batch = db_batch_new(op);
        struct db_step *late = NULL;
        enum az_status st = token_add_delegated(op, batch, lookup, &late);
        if (st == AZ_OK && late != NULL)
            st = db_run_or_retry(op, batch, true, SQLSTATE_UNDEFINED_TABLE);
        if (st != AZ_OK || late == NULL)
            return st;
        step = late;
    }
    return PQntuples(step->result) == 0
               ? AZ_OK
               : db_read_json(op, step->result, 0, 0, &lookup->row.delegation);
}

/* The steps of a lookup, or NULL. */
struct find_steps {
    struct db_step *state, *token, *caller, *delegated;
};

static bool
is_refresh(const struct token_lookup *lookup)
{
    return lookup->token != NULL && lookup->kind == TOKEN_REFRESH;
}

static enum az_status
token_add_all(struct op *op, struct db_batch *batch, const struct token_lookup *lookup,
              struct find_steps *ret)
{
    bool refresh = is_refresh(lookup);
    ret->state = db_batch_add(batch, &token_caller_stmt);
    db_number(&ret->state->params, lookup->caller != NULL ? lookup->caller->id : 0);
    db_number(&ret->state->params, lookup->caller != NULL ? lookup->caller->version : 0);
    enum az_status st =
        refresh ? grant_add_refresh(op, batch, lookup->token, &ret->token)
                : token_add_find(op, batch, &token_find_stmt, lookup->token, &ret->token);
    if (st == AZ_OK)
        st = token_add_find(op, batch, &token_find_stmt, lookup->caller_token, &ret->caller);
    if (st == AZ_OK && op->az->delegated && !refresh)
        st = token_add_delegated(op, batch, lookup, &ret->delegated);
    if (st == AZ_OK && lookup->join != NULL)
        lookup->join(batch, lookup->join_arg);
    return st;
}

static enum az_status
token_read_all(struct op *op, const struct find_steps *steps, struct token_lookup *lookup)
{
    const PGresult *state = steps->state->result;
    bool refresh = is_refresh(lookup);
    enum az_status st = AZ_OK;
    lookup->acceptable = db_get(state, 0, STATE_ACCEPTABLE);
    lookup->caller_current = db_get_bool(state, 0, STATE_CALLER_CURRENT);
    if (steps->token != NULL)
        st = refresh ? token_read_refresh(op, steps->token, lookup->token, &lookup->row)
                     : token_read_access(op, steps->token->result, lookup->token, &lookup->row);
    if (st == AZ_OK && steps->caller != NULL)
        st =
            token_read_access(op, steps->caller->result, lookup->caller_token, &lookup->caller_row);
    op->az->delegated = db_get_bool(state, 0, STATE_DELEGATED);
    if (st == AZ_OK && op->az->delegated && lookup->row.found && !refresh)
        st = token_read_delegated(op, steps->delegated, lookup);
    return st;
}

/* Try token_find once; AZ_RETRY without a fault if a partition was dropped in between, or the
 * standby has no answer. */
static enum az_status
token_find_once(struct op *op, struct token_lookup *lookup, bool at_standby)
{
    struct db_batch *batch = db_batch_new(op);
    struct find_steps steps = {.state = NULL};
    lookup->row = no_row;
    lookup->caller_row = no_row;
    if (at_standby && !db_standby_begin(op, batch))
        return AZ_RETRY;
    enum az_status st = token_add_all(op, batch, lookup, &steps);
    if (st != AZ_OK)
        return st;
    if (at_standby)
        st = db_standby_run(op, batch) ? AZ_OK : AZ_RETRY;
    else
        st = db_run_or_retry(op, batch, true, SQLSTATE_UNDEFINED_TABLE);
    return st == AZ_OK ? token_read_all(op, &steps, lookup) : st;
}

/* Look at the standby. Only rows that are all there and live count: whatever it does not have, or
 * has as dead, the writer is asked, and also about a single-use token, which it consumes. */
static bool
found_at_standby(struct op *op, struct token_lookup *lookup)
{
    if (op->az->standby == NULL || !lookup->may_lag || lookup->join != NULL)
        return false;
    enum az_status st = token_find_once(op, lookup, true);
    if (st != AZ_OK && st != AZ_RETRY)
        az_fault_clear(&op->fault); /* the writer may answer, or fails in the same way */
    return st == AZ_OK && (lookup->token == NULL || (lookup->row.found && !lookup->row.jit))
           && (lookup->caller_token == NULL || lookup->caller_row.found)
           && (lookup->caller == NULL || lookup->caller_current);
}

enum az_status
token_find(struct op *op, struct token_lookup *lookup)
{
    if (found_at_standby(op, lookup))
        return AZ_OK;
    enum az_status st = token_find_once(op, lookup, false);
    if (st != AZ_RETRY)
        return st;
    st = partition_reload(op);
    if (st == AZ_OK && (st = token_find_once(op, lookup, false)) == AZ_RETRY)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "a partition disappeared twice");
    return st;
}

/* Revisions are letters, digits and hyphens (bundle.c), so the array literal needs no unquoting. */
bool
token_revision_acceptable(const char *acceptable, const char *revision)
{
    size_t length = strlen(revision);
    /* A bundle without a revision decides nothing, and our revisions contain none of these
     * characters. */
    if (length == 0 || strpbrk(revision, "{,}") != NULL)
        return false;
    for (const char *at = acceptable; at != NULL && (at = strstr(at, revision)) != NULL;
         at += length)
        if (at > acceptable && (at[-1] == '{' || at[-1] == ',')
            && (at[length] == '}' || at[length] == ','))
            return true;
    return false;
}
