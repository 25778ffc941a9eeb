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

struct token_state {
    const char *acceptable; /* revisions that may decide */
    bool caller_current;    /* the cached caller is still the row in the database */
    bool delegated;         /* there are delegations */
};
static const struct db_stmt token_caller_stmt = {
    "token_caller",
    "SELECT b.acceptable, EXISTS (SELECT 1 FROM client WHERE "
    "id = $1 AND version = $2 AND enabled) AS caller_current,"
    " EXISTS (SELECT 1 FROM delegation) AS delegated"
    " FROM bundle_state b",
    2};
/* clang-format off */
static const struct db_column token_caller_columns[] = {
    {"acceptable",     DB_INTO(struct token_state, acceptable), .needed = true},
    {"caller_current", DB_INTO(struct token_state, caller_current)},
    {"delegated",      DB_INTO(struct token_state, delegated)},
};
/* clang-format on */

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

/* A row of token_find, which is not shown to anyone until the secret was compared. */
struct token_stored {
    unsigned char secret_hash[SHA256_OCTETS];
    struct token_row row;
};
/* clang-format off */
static const struct db_column token_find_columns[] = {
    {"secret_hash",  DB_INTO(struct token_stored, secret_hash)},
    {"issued_at",    DB_INTO(struct token_stored, row.issued_at), .needed = true},
    {"expires_at",   DB_INTO(struct token_stored, row.expires_at), .needed = true},
    {"jit",          DB_INTO(struct token_stored, row.jit), .needed = true},
    {"subject",      DB_INTO(struct token_stored, row.subject)},
    {"scope",        DB_INTO(struct token_stored, row.scope)},
    {"resource",     DB_INTO(struct token_stored, row.resource)},
    {"pdp_output",   DB_OCTETS_INTO(struct token_stored, row.output, row.output_length)},
    {"policy_input", DB_OCTETS_INTO(struct token_stored, row.input, row.input_length)},
    CLIENT_ROWS(struct token_stored, row.client),
    {"idp",          DB_INTO(struct token_stored, row.idp)},
    {"claims",       DB_INTO(struct token_stored, row.claims)},
    {"dead",         DB_INTO(struct token_stored, row.dead)},
    {"flow_id",      DB_INTO(struct token_stored, row.flow_id)},
    {"jkt",          DB_INTO(struct token_stored, row.jkt)},
    {"act",          DB_INTO(struct token_stored, row.act)},
    {"family",       DB_EXACTLY_INTO(struct token_stored, row.family, UUID7_OCTETS)},
    {"provider",     DB_INTO(struct token_stored, row.provider)},
};
/* clang-format on */

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
    struct token_stored stored = {.row = {.found = false}};
    struct token_row *row = &stored.row;
    if (PQntuples(result) == 0)
        return AZ_OK;
    enum az_status st =
        db_read_row(op, result, 0, DB_TABLE(struct token_stored, token_find_columns), &stored);
    if (st != AZ_OK
        || !secret_equal(stored.secret_hash, SHA256_OCTETS, token->secret_hash, SHA256_OCTETS))
        return st;
    if (row->subject == NULL)
        row->subject = row->client.client_id;
    if (row->dead != NULL) {
        *ret = (struct token_row){.flow_id = row->flow_id, .dead = row->dead};
        return AZ_OK;
    }
    row->found = true;
    st = stored_claims_typed(op, row->claims);
    if (st == AZ_OK)
        *ret = *row;
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
    struct token_state state = {.acceptable = NULL};
    bool refresh = is_refresh(lookup);
    enum az_status st = db_read_row(op, steps->state->result, 0,
                                    DB_TABLE(struct token_state, token_caller_columns), &state);
    if (st != AZ_OK)
        return st;
    lookup->acceptable = state.acceptable;
    lookup->caller_current = state.caller_current;
    if (steps->token != NULL)
        st = refresh ? token_read_refresh(op, steps->token, lookup->token, &lookup->row)
                     : token_read_access(op, steps->token->result, lookup->token, &lookup->row);
    if (st == AZ_OK && steps->caller != NULL)
        st =
            token_read_access(op, steps->caller->result, lookup->caller_token, &lookup->caller_row);
    op->az->delegated = state.delegated;
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
