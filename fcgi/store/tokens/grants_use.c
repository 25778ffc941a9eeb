#include "config.h"

#include "store/tokens/grants_use.h"

#include <string.h>

#include "base/settings/settings.h"
#include "store/clients/client_use.h"
#include "store/db/keep/locks.h"
#include "store/db/keep/partitions.h"

/* $1 to $27 are the parameters of token_bind(); $28 is the family, $29 its new idle end. `won` is
 * the row that was consumed; all rows that are written depend on it. */
#define CURRENT                                                                                    \
    "WITH ok AS (SELECT nextval('audit_id_seq') AS audit_id, c.client_type = 'public' AS open"     \
    "  FROM client c, bundle_state b"                                                              \
    "  WHERE c.id = $1 AND c.version = $2 AND c.enabled AND $3 = ANY (b.acceptable)),"
/* The family belongs to the client and is live, and its provider is enabled. */
#define STANDS                                                                                     \
    " g.id = $28::uuid AND g.client = $1 AND g.revoked_at IS NULL AND g.expires_at > now()"        \
    " AND g.idle_expires_at > now() AND p.id = g.idp AND p.enabled"
#define ISSUE                                                                                      \
    " audit AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"                     \
    "  SELECT $6::timestamptz, audit_id, $12, $13::uuid, $14, $15, $16, $17, $18, $19, $20, "      \
    "$21::inet, $22, $23, $24, $25 FROM won),"                                                     \
    " access AS (INSERT INTO access_token_p%P (id, expires_at, issued_at, secret_hash, client, "   \
    "audit_id, jit, subject, scope, resource, pdp_output, grant_id, jkt, act)"                     \
    "  SELECT $4::uuid, $5::timestamptz, $6::timestamptz, $7, $1, audit_id, $8, $9, $10, $11, "    \
    "$25, $28::uuid, $26, $27 FROM won)"
/* The new refresh token. $33 is the network of the request. */
#define REFRESH                                                                                    \
    ", refresh AS (INSERT INTO refresh_token_p%R (id, expires_at, secret_hash, grant_id, "         \
    "issued_at, turn, branch, branch_turn, used_net) SELECT $31::uuid, expires_at, $32, "          \
    "$28::uuid, $6::timestamptz, CASE WHEN branch = 0 THEN turn END, nullif(branch, 0), "          \
    "turns[branch], coalesce($33::bytea, '') FROM won)"
/* The state of a refresh token r of family g. */
#define UNUSED " r.first_used_at IS NULL AND " GRANT_IN_TURN
#define ENDED " r.first_used_at IS NULL AND NOT " GRANT_IN_TURN
#define OUTCOME " SELECT EXISTS (SELECT 1 FROM ok) AS current, EXISTS (SELECT 1 FROM won) AS won"

/* $30 is the family's end, $33 the network. A public client has nothing but the key of its proof
 * ($26) to show that a refresh token is its own; the others are known by their credentials (RFC
 * 9449 5). */
#define REDEEMED                                                                                   \
    " won AS (UPDATE token_grant g SET redeemed_at = now(), granted_scope = $10, "                 \
    "idle_expires_at = $29::timestamptz, expires_at = $30::timestamptz,"                           \
    "  jkt = CASE WHEN ok.open THEN $26::text END"                                                 \
    "  FROM ok, identity_provider p WHERE g.redeemed_at IS NULL AND g.code_expires_at > now() "    \
    "AND" STANDS "  RETURNING ok.audit_id, g.expires_at, g.turn, g.turns, 0 AS branch),"

enum grant_redeem_column { REDEEM_CURRENT, REDEEM_WON };
static const struct db_stmt grant_redeem_stmt = {"grant_redeem",
                                                 CURRENT REDEEMED ISSUE REFRESH OUTCOME, 33};
static const struct db_stmt grant_redeem_once_stmt = {"grant_redeem_once",
                                                      CURRENT REDEEMED ISSUE OUTCOME, 30};

/*
 * $30 is the refresh token of the request, $34 the reuse window in seconds, $35 the uses within it.
 * The rest is what policy was asked about (struct grant_place): $36 this is the first use, $37 the
 * branches of the family before it, $38 it makes another one, $39 it closes all that were made
 * since the token's first use, and those that were not made yet. If the rows say otherwise, nothing
 * is written.
 * If two requests come at once, the second waits for the row and then checks it again; with two
 * siblings that row is the family's, and its turns tell that the other one was first.
 */
#define CLOSES " CASE WHEN $39 AND coalesce(used.used_branches, used.branch + 1)"
enum grant_rotate_column { ROTATE_CURRENT, ROTATE_WON };
static const struct db_stmt grant_rotate_stmt = {
    "grant_rotate",
    CURRENT
    " used AS (UPDATE refresh_token_p%R r SET first_used_at = coalesce(r.first_used_at, now()),"
    "   uses = r.uses + (NOT $36)::integer, used_net = CASE WHEN $36 THEN coalesce($33::bytea, '')"
    "    WHEN $39 THEN '' ELSE r.used_net END,"
    "   used_branches = CASE WHEN $36 THEN g.branches ELSE r.used_branches END"
    "  FROM ok, token_grant g WHERE r.id = $30::uuid AND r.grant_id = $28::uuid"
    "   AND g.id = r.grant_id AND g.branches = $37::integer AND CASE WHEN $36::boolean THEN" UNUSED
    "    ELSE r.first_used_at IS NOT NULL AND r.uses < $35::integer AND r.first_used_at"
    "     + make_interval(secs => $34::double precision) > now() AND " GRANT_BRANCH_OPEN
    "     AND (NOT $38 OR g.turns[g.branches] >= 0) END"
    "  RETURNING ok.audit_id, coalesce(r.branch, 0) AS branch, r.used_branches, g.turn, g.turns),"
    " won AS (UPDATE token_grant g SET idle_expires_at = $29::timestamptz,"
    "   branches = g.branches + $38::boolean::integer,"
    "   turn = g.turn + ($36 AND used.branch = 0)::integer,"
    "   turns = CASE WHEN $39::boolean OR used.branch > 0 THEN ARRAY[" CLOSES
    "     <= 1 THEN -1 ELSE g.turns[1] + ($36 AND used.branch = 1)::integer END," CLOSES
    "     <= 2 THEN -1 ELSE g.turns[2] + ($36 AND used.branch = 2)::integer END] ELSE g.turns END"
    "  FROM used, identity_provider p WHERE" STANDS " AND g.branches = $37"
    "  AND (NOT $36 OR (g.turn = used.turn AND g.turns = used.turns))"
    " RETURNING used.audit_id, g.expires_at, g.turn, g.turns,"
    "  CASE WHEN $38 THEN $37 ELSE used.branch END AS branch)," ISSUE REFRESH OUTCOME,
    39};

enum grant_keep_column { KEEP_CURRENT, KEEP_WON };
static const struct db_stmt grant_keep_stmt = {
    "grant_keep",
    CURRENT " won AS (UPDATE token_grant g SET idle_expires_at = $29::timestamptz FROM ok, "
            "identity_provider p WHERE EXISTS (SELECT 1 FROM refresh_token_p%R r"
            "   WHERE r.id = $30::uuid AND r.grant_id = g.id AND" UNUSED ") AND" STANDS
            " RETURNING ok.audit_id, g.expires_at)," ISSUE OUTCOME,
    30};

static const struct db_stmt grant_revoke_replayed_stmt = {
    "grant_revoke_replayed",
    "UPDATE token_grant SET revoked_at = now(), revoked_why = 'code' WHERE id = $1::uuid"
    " AND revoked_at IS NULL AND redeemed_at IS NOT NULL RETURNING revoked_why AS why, 0 AS "
    "branch, branches",
    1};
enum grant_revoke_reused_column { ENDED_WHY, ENDED_BRANCH, ENDED_BRANCHES };
static const struct db_stmt grant_revoke_reused_stmt = {
    "grant_revoke_reused",
    "WITH ended AS (UPDATE token_grant g SET revoked_at = now(), revoked_why = CASE WHEN "
    "r.first_used_at IS NULL "
    "THEN 'sibling' ELSE 'replaced' END FROM refresh_token_p%R r"
    " WHERE g.id = $1::uuid AND g.revoked_at IS NULL AND r.id = $2::uuid AND r.grant_id = g.id"
    "   AND ((" ENDED ") OR (r.first_used_at IS NOT NULL AND NOT (r.uses < $4::integer"
    "     AND r.first_used_at + make_interval(secs => $3::double precision) > now()"
    "     AND " GRANT_BRANCH_OPEN ")))"
    " RETURNING g.client, g.revoked_why AS why, coalesce(r.branch, 0) AS branch, g.branches),"
    " told AS (INSERT INTO sign_in_shared AS s (client, first_at, last_at, n)"
    "  SELECT client, now(), now(), 1 FROM ended ON CONFLICT (client) DO UPDATE SET last_at = "
    "now(),"
    "   first_at = CASE WHEN s.last_at < now() - interval '24 hours' THEN now() ELSE s.first_at "
    "END,"
    "   n = CASE WHEN s.last_at < now() - interval '24 hours' THEN 1 ELSE s.n + 1 END)"
    " SELECT why, branch, branches FROM ended",
    4};

static const struct db_stmt *
grant_use_stmt_of(const struct grant_use *use)
{
    switch (use->how) {
    case GRANT_REDEEM:
        return use->refresh != NULL ? &grant_redeem_stmt : &grant_redeem_once_stmt;
    case GRANT_ROTATE:
        return &grant_rotate_stmt;
    case GRANT_KEEP:
        break;
    }
    return &grant_keep_stmt;
}

/* Return the partition number of the refresh tokens. The new token gets the partition of the token
 * in the request, because all refresh tokens of a family end together. */
static uint32_t
grant_refresh_number(const struct grant_use *use)
{
    const struct token_parts *token = use->refresh != NULL ? use->refresh : use->shown;
    bool none = token == NULL || (use->how == GRANT_REDEEM && use->refresh == NULL);
    return none ? DB_NO_PARTITION : partition_refresh(token->bucket);
}

static void
grant_bind_reuse(const struct op *op, struct db_params *params)
{
    long window = op->az->cfg->refresh_reuse_window;
    db_number(params, window);
    db_number(params, window > 0 ? GRANT_REUSES_MAX : 0);
}

static void
grant_bind_place(struct db_params *params, const struct grant_place *place)
{
    db_bool(params, place->first);
    db_number(params, place->branches - (place->opens ? 1 : 0));
    db_bool(params, place->opens);
    db_bool(params, place->closes);
}

static void
grant_bind_use(const struct op *op, struct db_params *params, const struct grant_use *use)
{
    db_octets(params, use->family, UUID7_OCTETS);
    db_time(params, use->idle_expires_at * 1000);
    if (use->how == GRANT_REDEEM)
        db_time(params, use->expires_at * 1000);
    else
        db_octets(params, use->shown->id, UUID7_OCTETS);
    if (use->refresh != NULL) {
        db_octets(params, use->refresh->id, UUID7_OCTETS);
        db_octets(params, use->refresh->secret_hash, SHA256_OCTETS);
        db_octets(params, use->place.net, GRANT_NET_OCTETS);
    }
    if (use->how == GRANT_ROTATE) {
        grant_bind_reuse(op, params);
        grant_bind_place(params, &use->place);
    }
}

/* Build the batch: BEGIN, the mark of use, the family's lock, the step, COMMIT. */
static struct db_batch *
grant_use_batch(struct op *op, const struct grant_use *use, const struct token_new *token,
                const struct audit_entry *audit, struct db_step **ret_mark,
                struct db_step **ret_step)
{
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    *ret_mark = client_use_add(op, batch, token->client);
    lock_add(batch, LOCK_GRANT, use->family, UUID7_OCTETS);
    struct db_step *step = db_batch_add_in(batch, grant_use_stmt_of(use), token->parts->bucket,
                                           partition_day(token->issued_ms / 1000));
    db_batch_commit(batch);
    step->refresh = grant_refresh_number(use);
    token_bind(&step->params, token, audit);
    grant_bind_use(op, &step->params, use);
    *ret_step = step;
    return batch;
}

/* Try once; AZ_RETRY without a fault if a partition is missing. */
static enum az_status
grant_try_use(struct op *op, const struct grant_use *use, const struct token_new *token,
              const struct audit_entry *audit, enum grant_outcome *ret)
{
    struct db_step *mark, *step;
    struct db_batch *batch = grant_use_batch(op, use, token, audit, &mark, &step);
    enum az_status st = db_run_or_retry(op, batch, false, SQLSTATE_UNDEFINED_TABLE);
    if (st != AZ_OK)
        return st;
    client_use_done(op, token->client, mark);
    _Static_assert((int) REDEEM_WON == (int) ROTATE_WON && (int) REDEEM_WON == (int) KEEP_WON,
                   "one reader for all");
    *ret = db_get_bool(step->result, 0, REDEEM_WON)       ? GRANT_DONE
           : db_get_bool(step->result, 0, REDEEM_CURRENT) ? GRANT_USED
                                                          : GRANT_STALE;
    return AZ_OK;
}

/* Make the partitions that may have been missing. A family whose refresh tokens were dropped with
 * their partition has ended, so only a new family needs that one. */
static enum az_status
grant_make_partitions(struct op *op, const struct grant_use *use, const struct token_new *token)
{
    enum az_status st = partition_make_bucket(op, token->parts->bucket);
    if (st == AZ_OK)
        st = partition_make_day(op, partition_day(token->issued_ms / 1000));
    if (st == AZ_OK && use->how == GRANT_REDEEM && use->refresh != NULL)
        st = partition_make_refresh(op, grant_refresh_number(use));
    return st;
}

enum az_status
grant_use(struct op *op, const struct grant_use *use, const struct token_new *token,
          const struct audit_entry *audit, enum grant_outcome *ret)
{
    enum az_status st = grant_try_use(op, use, token, audit, ret);
    if (st != AZ_RETRY)
        return st;
    if ((st = grant_make_partitions(op, use, token)) == AZ_OK
        && (st = grant_try_use(op, use, token, audit, ret)) == AZ_RETRY)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "a partition disappeared twice");
    return st;
}

enum az_status
grant_revoke_reused(struct op *op, const unsigned char family[UUID7_OCTETS],
                    const struct token_parts *shown, struct grant_end *ret)
{
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    lock_add(batch, LOCK_GRANT, family, UUID7_OCTETS);
    struct db_step *step = db_batch_add(batch, shown != NULL ? &grant_revoke_reused_stmt
                                                             : &grant_revoke_replayed_stmt);
    db_batch_commit(batch);
    db_octets(&step->params, family, UUID7_OCTETS);
    if (shown != NULL) {
        step->refresh = partition_refresh(shown->bucket);
        db_octets(&step->params, shown->id, UUID7_OCTETS);
        grant_bind_reuse(op, &step->params);
    }
    enum az_status st = db_run(op, batch, false);
    *ret = (struct grant_end){.why = NULL};
    if (st == AZ_OK && PQntuples(step->result) > 0)
        *ret = (struct grant_end){
            .why = db_get(step->result, 0, ENDED_WHY),
            .branch = (int) db_get_number(step->result, 0, ENDED_BRANCH, 0),
            .branches = (int) db_get_number(step->result, 0, ENDED_BRANCHES, 1),
        };
    return st;
}
