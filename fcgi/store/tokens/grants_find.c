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
    " r.rotated, r.reusable, NOT r.rotated AND r.turn <> g.turn AS ended,"                         \
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

/* Both statements have these columns. */
enum grant_of_code_column {
    OF_SECRET_HASH,
    OF_ID,
    OF_CODE_LIVE,
    OF_REDEEMED,
    OF_REVOKED,
    OF_LIVE,
    OF_PROVIDER_ENABLED,
    OF_ROTATED,
    OF_REUSABLE,
    OF_ENDED,
    OF_ISSUED_AT,
    OF_ENDS_AT,
    OF_EXPIRES_AT,
    OF_SUBJECT,
    OF_ISSUER,
    OF_IDP_ID,
    OF_CLAIMS,
    OF_SID,
    OF_FLOW_ID,
    OF_REDIRECT_URI,
    OF_CODE_CHALLENGE,
    OF_NONCE,
    OF_AUTH_TIME,
    OF_WITH_AUTH_TIME,
    OF_ACR,
    OF_AMR,
    OF_SCOPE,
    OF_RESOURCE,
    OF_RESOURCE_TYPES,
    OF_DETAILS,
    OF_GRANTED_SCOPE,
    OF_DPOP_JKT,
    OF_JKT,
    OF_CLIENT_KEY,
    OF_CLIENT_VERSION,
    OF_CLIENT_ID,
    OF_CLIENT_TYPE,
    OF_REGISTRATION_TYPE,
    OF_AUTH_METHOD,
    OF_ENABLED,
    OF_SOFTWARE_ID,
    OF_SOFTWARE_VERSION,
    OF_STATEMENT
};
static const struct db_stmt grant_of_code_stmt = {
    "grant_of_code",
    "SELECT g.code_hash AS secret_hash," FAMILY_COLUMNS
    " FROM (SELECT false AS rotated, false AS reusable, NULL::integer AS turn,"
    "  NULL::timestamptz AS issued_at) r"
    " CROSS JOIN token_grant g" FAMILY_JOINS " WHERE g.id = $1::uuid",
    1};
static const struct db_stmt grant_of_refresh_stmt = {
    "grant_of_refresh",
    "SELECT r.secret_hash," FAMILY_COLUMNS
    " FROM (SELECT grant_id, secret_hash, issued_at, turn, first_used_at IS NOT NULL AS rotated,"
    "   uses < $3::integer AND first_used_at + make_interval(secs => $2::double precision) > now() "
    "AS reusable FROM refresh_token_p%R WHERE id = $1::uuid) r"
    " JOIN token_grant g ON g.id = r.grant_id" FAMILY_JOINS,
    3};

static void
grant_read_scalars(const PGresult *row, struct grant_row *ret)
{
    client_read_columns(row, OF_CLIENT_KEY, &ret->client);
    ret->code_live = db_get_bool(row, 0, OF_CODE_LIVE);
    ret->redeemed = db_get_bool(row, 0, OF_REDEEMED);
    ret->revoked = db_get_bool(row, 0, OF_REVOKED);
    ret->live = db_get_bool(row, 0, OF_LIVE);
    ret->provider_enabled = db_get_bool(row, 0, OF_PROVIDER_ENABLED);
    ret->rotated = db_get_bool(row, 0, OF_ROTATED);
    ret->reusable = db_get_bool(row, 0, OF_REUSABLE);
    ret->ended = db_get_bool(row, 0, OF_ENDED);
    ret->issued_at = db_get_number(row, 0, OF_ISSUED_AT, 0);
    ret->ends_at = db_get_number(row, 0, OF_ENDS_AT, 0);
    ret->expires_at = db_get_number(row, 0, OF_EXPIRES_AT, 0);
    ret->subject = db_get(row, 0, OF_SUBJECT);
    ret->issuer = db_get(row, 0, OF_ISSUER);
    ret->idp_id = db_get(row, 0, OF_IDP_ID);
    ret->sid = db_get(row, 0, OF_SID);
    ret->flow_id = db_get(row, 0, OF_FLOW_ID);
    ret->redirect_uri = db_get(row, 0, OF_REDIRECT_URI);
    ret->code_challenge = db_get(row, 0, OF_CODE_CHALLENGE);
    ret->nonce = db_get(row, 0, OF_NONCE);
    ret->auth_time = db_get_number(row, 0, OF_AUTH_TIME, 0);
    ret->with_auth_time = db_get_bool(row, 0, OF_WITH_AUTH_TIME);
    ret->acr = db_get(row, 0, OF_ACR);
    ret->scope = db_get(row, 0, OF_SCOPE);
    ret->resource = db_get(row, 0, OF_RESOURCE);
    ret->granted_scope = db_get(row, 0, OF_GRANTED_SCOPE);
    ret->dpop_jkt = db_get(row, 0, OF_DPOP_JKT);
    ret->jkt = db_get(row, 0, OF_JKT);
}

/* Read a column of exactly this many octets. */
static enum az_status
grant_read_octets(struct op *op, const PGresult *row, enum grant_of_code_column column,
                  size_t wanted, const unsigned char **ret)
{
    size_t length = 0;
    enum az_status st = db_read_octets(op, row, 0, column, ret, &length);
    if (st == AZ_OK && length != wanted)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: column %s has another length",
                       PQfname(row, column));
    return st;
}

enum az_status
grant_read(struct op *op, const struct db_step *step, const struct token_parts *shown,
           struct grant_row *ret)
{
    struct grant_row row = {.found = false};
    const unsigned char *hash, *id;
    if (step == NULL || PQntuples(step->result) == 0) {
        *ret = row;
        return AZ_OK;
    }
    enum az_status st = grant_read_octets(op, step->result, OF_SECRET_HASH, SHA256_OCTETS, &hash);
    if (st == AZ_OK && !secret_equal(hash, SHA256_OCTETS, shown->secret_hash, SHA256_OCTETS)) {
        *ret = row;
        return AZ_OK;
    }
    if (st == AZ_OK)
        st = grant_read_octets(op, step->result, OF_ID, UUID7_OCTETS, &id);
    if (st == AZ_OK)
        st = stored_claims_read(op, step->result, 0, OF_CLAIMS, &row.claims);
    if (st == AZ_OK)
        st = db_read_json(op, step->result, 0, OF_AMR, &row.amr);
    if (st == AZ_OK)
        st = db_read_json(op, step->result, 0, OF_RESOURCE_TYPES, &row.resource_types);
    if (st == AZ_OK)
        st = db_read_json(op, step->result, 0, OF_DETAILS, &row.details);
    if (st != AZ_OK)
        return st;
    grant_read_scalars(step->result, &row);
    memcpy(row.id, id, UUID7_OCTETS);
    row.found = true;
    *ret = row;
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
