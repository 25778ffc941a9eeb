#include "config.h"

#include "store/tokens/grants_find.h"

#include <string.h>

#include "base/settings/settings.h"
#include "crypto/secret.h"
#include "store/db/keep/partitions.h"
#include "store/people/stored_claims.h"
#include "store/tokens/grants.h"
#include "store/tokens/revocation.h"

/* Hours in a day. */
#define DAY_HOURS 24
/* Longest life of a family in hours: a year (base/settings/settings_table.c). */
#define FAMILY_HOURS_MAX (366 * DAY_HOURS)

/* Columns of r (the refresh token), g, c, p and s. */
#define FAMILY_COLUMNS                                                                             \
    " uuid_send(g.id) AS id, g.code_expires_at > now() AS code_live, g.redeemed_at IS NOT NULL "   \
    "AS "                                                                                          \
    "redeemed, g.revoked_at IS NOT NULL OR " GRANT_REVOKED_BEFORE " AS revoked,"                   \
    " g.expires_at > now() AND g.idle_expires_at > now() AS live, p.enabled AS provider_enabled,"  \
    " r.rotated, r.reusable AND " GRANT_BRANCH_OPEN " AS reusable,"                                \
    " NOT r.rotated AND NOT " GRANT_IN_TURN " AS ended, coalesce(r.branch, 0) AS branch,"          \
    " g.branches, r.used_branches IS NOT NULL AND g.branches < 3"                                  \
    "  AND g.turns[g.branches] >= 0 AS branch_free, r.used_net, g.revoked_why,"                    \
    " floor(extract(epoch FROM r.issued_at))::bigint AS issued_at,"                                \
    " floor(extract(epoch FROM least(g.idle_expires_at, g.expires_at)))::bigint AS ends_at,"       \
    " floor(extract(epoch FROM g.expires_at))::bigint AS expires_at, g.subject, s.issuer, "        \
    "p.idp_id, s.claims::text AS claims, g.sid, g.flow_id, g.redirect_uri, g.code_challenge, "     \
    "g.nonce, floor(extract(epoch FROM g.auth_time))::bigint AS auth_time, g.with_auth_time, "     \
    "g.acr, to_json(g.amr) AS amr, g.scope, g.resource, g.resource_types, g.details, "             \
    "g.granted_scope, g.dpop_jkt, g.jkt, " CLIENT_COLUMNS
#define FAMILY_JOINS                                                                               \
    " JOIN client c ON c.id = g.client JOIN identity_provider p ON p.id = g.idp"                   \
    " JOIN subject s ON s.subject = g.subject"

static const struct db_stmt grant_of_code_stmt = {
    "grant_of_code",
    "SELECT g.code_hash AS secret_hash," FAMILY_COLUMNS
    " FROM (SELECT false AS rotated, false AS reusable, NULL::integer AS turn, NULL::integer AS "
    "branch, NULL::integer AS branch_turn, NULL::bytea AS used_net, NULL::integer AS used_branches,"
    "  NULL::timestamptz AS issued_at) r"
    " CROSS JOIN token_grant g" FAMILY_JOINS " WHERE g.id = $1::uuid",
    1};
static const struct db_stmt grant_of_refresh_stmt = {
    "grant_of_refresh",
    "SELECT r.secret_hash," FAMILY_COLUMNS
    " FROM (SELECT grant_id, secret_hash, issued_at, turn, branch, branch_turn, used_net,"
    "   used_branches, first_used_at IS NOT NULL AS rotated,"
    "   uses < $3::integer AND first_used_at + make_interval(secs => $2::double precision) > now() "
    "AS reusable FROM refresh_token_p%R WHERE id = $1::uuid) r"
    " JOIN token_grant g ON g.id = r.grant_id" FAMILY_JOINS,
    3};

/* A row of either statement, which is not shown to anyone until the secret was compared. */
struct grant_stored {
    unsigned char secret_hash[SHA256_OCTETS];
    struct grant_row row;
};
/* clang-format off */
static const struct db_column grant_of_code_columns[] = {
    {"secret_hash",      DB_INTO(struct grant_stored, secret_hash)},
    {"id",               DB_INTO(struct grant_stored, row.id)},
    {"code_live",        DB_INTO(struct grant_stored, row.code_live)},
    {"redeemed",         DB_INTO(struct grant_stored, row.redeemed)},
    {"revoked",          DB_INTO(struct grant_stored, row.revoked), .needed = true},
    {"live",             DB_INTO(struct grant_stored, row.live)},
    {"provider_enabled", DB_INTO(struct grant_stored, row.provider_enabled)},
    {"rotated",          DB_INTO(struct grant_stored, row.rotated), .needed = true},
    {"reusable",         DB_INTO(struct grant_stored, row.reusable)},
    {"ended",            DB_INTO(struct grant_stored, row.ended)},
    {"branch",           DB_INTO(struct grant_stored, row.branch)},
    {"branches",         DB_INTO(struct grant_stored, row.branches), .needed = true},
    {"branch_free",      DB_INTO(struct grant_stored, row.branch_free)},
    {"used_net",         DB_OCTETS_INTO(struct grant_stored, row.net, row.net_length)},
    {"revoked_why",      DB_INTO(struct grant_stored, row.revoked_why)},
    {"issued_at",        DB_INTO(struct grant_stored, row.issued_at)},
    {"ends_at",          DB_INTO(struct grant_stored, row.ends_at), .needed = true},
    {"expires_at",       DB_INTO(struct grant_stored, row.expires_at), .needed = true},
    {"subject",          DB_INTO(struct grant_stored, row.subject), .needed = true},
    {"issuer",           DB_INTO(struct grant_stored, row.issuer), .needed = true},
    {"idp_id",           DB_INTO(struct grant_stored, row.idp_id), .needed = true},
    {"claims",           DB_INTO(struct grant_stored, row.claims)},
    {"sid",              DB_INTO(struct grant_stored, row.sid)},
    {"flow_id",          DB_INTO(struct grant_stored, row.flow_id)},
    {"redirect_uri",     DB_INTO(struct grant_stored, row.redirect_uri)},
    {"code_challenge",   DB_INTO(struct grant_stored, row.code_challenge)},
    {"nonce",            DB_INTO(struct grant_stored, row.nonce)},
    {"auth_time",        DB_INTO(struct grant_stored, row.auth_time)},
    {"with_auth_time",   DB_INTO(struct grant_stored, row.with_auth_time)},
    {"acr",              DB_INTO(struct grant_stored, row.acr)},
    {"amr",              DB_INTO(struct grant_stored, row.amr)},
    {"scope",            DB_INTO(struct grant_stored, row.scope)},
    {"resource",         DB_INTO(struct grant_stored, row.resource)},
    {"resource_types",   DB_INTO(struct grant_stored, row.resource_types)},
    {"details",          DB_INTO(struct grant_stored, row.details)},
    {"granted_scope",    DB_INTO(struct grant_stored, row.granted_scope)},
    {"dpop_jkt",         DB_INTO(struct grant_stored, row.dpop_jkt)},
    {"jkt",              DB_INTO(struct grant_stored, row.jkt)},
    CLIENT_ROWS(struct grant_stored, row.client),
};
/* clang-format on */

enum az_status
grant_read(struct op *op, const struct db_step *step, const struct token_parts *shown,
           struct grant_row *ret)
{
    struct grant_stored stored = {.row = {.found = false}};
    *ret = (struct grant_row){.found = false};
    if (step == NULL || PQntuples(step->result) == 0)
        return AZ_OK;
    enum az_status st = db_read_row(op, step->result, 0,
                                    DB_TABLE(struct grant_stored, grant_of_code_columns), &stored);
    if (st != AZ_OK
        || !secret_equal(stored.secret_hash, SHA256_OCTETS, shown->secret_hash, SHA256_OCTETS)
        || (st = stored_claims_typed(op, stored.row.claims)) != AZ_OK)
        return st;
    *ret = stored.row;
    ret->found = true;
    return AZ_OK;
}

enum az_status
grant_find_code(struct op *op, const struct token_parts *code, struct grant_row *ret)
{
    struct db_batch *batch = db_batch_new(op);
    int64_t time;
    *ret = (struct grant_row){.found = false};
    enum az_status st = partition_time(op, &time);
    uint64_t now = st == AZ_OK ? partition_bucket(time) : 0, hour = code->bucket;
    if (st != AZ_OK || hour + FAMILY_HOURS_MAX < now)
        return st;
    struct db_step *step = db_batch_add(batch, &grant_of_code_stmt);
    db_octets(&step->params, code->id, UUID7_OCTETS);
    st = db_run(op, batch, true);
    return st == AZ_OK ? grant_read(op, step, code, ret) : st;
}

enum az_status
grant_add_refresh(struct op *op, struct db_batch *batch, const struct token_parts *refresh,
                  struct db_step **ret_step)
{
    uint32_t number = partition_refresh(refresh->bucket);
    long window = op->az->cfg->refresh_reuse_window;
    bool there;
    *ret_step = NULL;
    enum az_status st = partition_has_refresh(op, number, &there);
    if (st != AZ_OK || !there)
        return st;
    struct db_step *step = db_batch_add(batch, &grant_of_refresh_stmt);
    step->refresh = number;
    db_octets(&step->params, refresh->id, UUID7_OCTETS);
    db_number(&step->params, window);
    db_number(&step->params, window > 0 ? GRANT_REUSES_MAX : 0);
    *ret_step = step;
    return AZ_OK;
}

static enum az_status
find_refresh_once(struct op *op, const struct token_parts *refresh, struct grant_row *ret)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step;
    enum az_status st = grant_add_refresh(op, batch, refresh, &step);
    if (st == AZ_OK && step != NULL)
        st = db_run_or_retry(op, batch, true, SQLSTATE_UNDEFINED_TABLE);
    return st == AZ_OK ? grant_read(op, step, refresh, ret) : st;
}

enum az_status
grant_find_refresh(struct op *op, const struct token_parts *refresh, struct grant_row *ret)
{
    enum az_status st = find_refresh_once(op, refresh, ret);
    if (st != AZ_RETRY)
        return st;
    st = partition_reload(op);
    if (st == AZ_OK && (st = find_refresh_once(op, refresh, ret)) == AZ_RETRY)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "a partition disappeared twice");
    return st;
}
