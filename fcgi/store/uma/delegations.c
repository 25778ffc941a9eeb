#include "config.h"

#include "store/uma/delegations.h"

#include "base/words.h"
#include "store/db/keep/purge.h"

#define DELEGATION_IS_OWN "grantor_client = $17 AND grantor_subject = $18"

/* The delegation d as the owner sees it (oauth.md "Delegation object"). */
#define DELEGATION_JSON                                                                            \
    "json_strip_nulls(json_build_object('delegation_id', d.id, 'grantor_subject_id',"              \
    " d.grantor_subject, 'grantor_client_id', d.grantor_client, 'grantee_type',"                   \
    " CASE WHEN d.grantee_client IS NULL THEN 'subject' ELSE 'client' END, 'grantee_subject_id',"  \
    " d.grantee_subject, 'grantee_client_id', d.grantee_client, 'resource_id', d.resource,"        \
    " 'scopes', d.scopes, 'expires_at', instant_text(d.expires_at), 'created_at',"                 \
    " instant_text(d.created_at), 'updated_at', instant_text(d.updated_at), 'revoked_at',"         \
    " instant_text(d.revoked_at), 'status', CASE WHEN d.revoked_at IS NOT NULL THEN 'revoked'"     \
    " WHEN d.expires_at <= now() THEN 'expired' ELSE 'active' END)) AS delegation"

/* Resource and clients cannot be deleted before the statement ends, and the lock of the owner makes
 * the count exact. */
enum delegation_insert_column { INSERT_COVERED, INSERT_GRANTEE, INSERT_ROOM, INSERT_MADE };
static const struct db_stmt delegation_insert_stmt = {
    "delegation_insert",
    "WITH " UMA_OWNER " thing AS (SELECT id, $22::text[] <@ scopes AS covered FROM uma_resource"
    "  WHERE id = $19::uuid AND client = $17 AND subject = $18 FOR KEY SHARE),"
    " provider AS (SELECT id FROM identity_provider WHERE id = $26::bigint FOR KEY SHARE),"
    " other AS (SELECT id FROM client WHERE id = $21::bigint FOR KEY SHARE),"
    " judged AS (SELECT (SELECT covered FROM thing) AS covered,"
    "  $21::bigint IS NULL OR EXISTS (SELECT 1 FROM other) AS grantee,"
    "  (SELECT count(*) FROM delegation WHERE " DELEGATION_IS_OWN " AND " DELEGATION_LIVE
    "   ) < $24::integer AS room),"
    " written AS (INSERT INTO delegation (id, grantor_client, grantor_subject, resource,"
    "   grantee_subject, grantee_client, scopes, expires_at, grantor_idp)"
    "  SELECT $16::uuid, o.id, $18, $19::uuid, $20, $21::bigint, $22::text[], $23::timestamptz,"
    "  (SELECT id FROM provider) FROM owner o, judged WHERE covered AND grantee AND room"
    "  AND ($26::bigint IS NULL OR EXISTS (SELECT 1 FROM provider)) RETURNING 1),"
    " pruned AS (DELETE FROM delegation WHERE id IN (SELECT id FROM delegation"
    "  WHERE " DELEGATION_IS_OWN " AND NOT (" DELEGATION_LIVE ")"
    "  ORDER BY id DESC OFFSET $25::integer))," UMA_NOTED
    " SELECT covered, grantee, room, EXISTS (SELECT 1 FROM written) AS made FROM judged",
    26};

static const struct db_stmt delegation_set_end_stmt = {
    "delegation_set_end",
    "WITH written AS (UPDATE delegation SET expires_at = coalesce($19::timestamptz, expires_at),"
    "  updated_at = now() WHERE id = $16::uuid AND " DELEGATION_IS_OWN " AND " DELEGATION_LIVE
    "  RETURNING *)," UMA_NOTED " SELECT " DELEGATION_JSON " FROM written d",
    19};

static const struct db_stmt delegation_revoke_stmt = {
    "delegation_revoke",
    "WITH written AS (UPDATE delegation SET revoked_at = now(), updated_at = now()"
    "  WHERE id = $16::uuid AND " DELEGATION_IS_OWN
    " AND revoked_at IS NULL RETURNING 1)," UMA_NOTED
    " SELECT EXISTS (SELECT 1 FROM written) AS found",
    18};

static const struct db_stmt delegation_get_stmt = {
    "delegation_get",
    "SELECT " DELEGATION_JSON " FROM delegation d WHERE d.id = $1::uuid AND d.grantor_client = $2"
    " AND d.grantor_subject = $3",
    3};

enum delegations_of_column { OF_DELEGATIONS };
static const struct db_stmt delegations_of_stmt = {
    "delegations_of",
    "SELECT " DELEGATED_TO_TOKEN " AS delegations FROM (SELECT $1::bigint AS client, $2::text AS "
    "subject, NULL::uuid AS stated) t",
    2};

static const struct db_stmt delegation_list_stmt = {
    "delegation_list",
    "SELECT " DELEGATION_JSON " FROM delegation d WHERE d.grantor_client = $1 AND"
    " d.grantor_subject = $2 ORDER BY d.id",
    2};

static const struct db_stmt delegation_purge_stmt = {
    "delegation_purge",
    "DELETE FROM delegation WHERE id IN (SELECT id FROM delegation WHERE least(revoked_at,"
    " expires_at) <= now() - make_interval(days => $2::integer) LIMIT $1 FOR UPDATE SKIP LOCKED)",
    2};

static void
bind_delegation(struct op *op, struct db_params *params, const struct delegation *delegation)
{
    const char **scopes = words_array_list(op->mem, delegation->scopes);
    db_octets(params, delegation->resource, UUID7_OCTETS);
    db_text(params, delegation->grantee_subject);
    if (delegation->grantee_client != 0)
        db_number(params, delegation->grantee_client);
    else
        db_text(params, NULL);
    db_words(op->mem, params, scopes, scopes != NULL ? json_array_size(delegation->scopes) : 0);
    params->lost = params->lost || scopes == NULL;
}

/* Add a time, or NULL for 0. */
static void
bind_end(struct db_params *params, int64_t expires_ms)
{
    if (expires_ms != 0)
        db_time(params, expires_ms);
    else
        db_text(params, NULL);
}

enum az_status
delegation_insert(struct op *op, const unsigned char id[UUID7_OCTETS],
                  const struct uma_owner *owner, const struct delegation *delegation,
                  const struct audit_entry *audit, enum delegation_made *ret)
{
    struct uma_write write;
    enum az_status st =
        uma_write_begin(op, &delegation_insert_stmt, true, id, owner, audit, &write);
    if (st != AZ_OK)
        return st;
    bind_delegation(op, &write.step->params, delegation);
    bind_end(&write.step->params, delegation->expires_ms);
    db_number(&write.step->params, DELEGATIONS_MAX);
    db_number(&write.step->params, DELEGATIONS_ENDED_MAX);
    if (owner->provider != 0)
        db_number(&write.step->params, owner->provider);
    else
        db_text(&write.step->params, NULL);
    if ((st = uma_write_run(op, &write)) != AZ_OK)
        return st;
    const PGresult *result = write.step->result;
    *ret = db_get(result, 0, INSERT_COVERED) == NULL ? DELEGATION_NO_THING
           : !db_get_bool(result, 0, INSERT_COVERED) ? DELEGATION_BEYOND
           : !db_get_bool(result, 0, INSERT_GRANTEE) ? DELEGATION_NO_GRANTEE
           : !db_get_bool(result, 0, INSERT_ROOM)    ? DELEGATION_FULL
           : db_get_bool(result, 0, INSERT_MADE)     ? DELEGATION_MADE
                                                     : DELEGATION_NO_OWNER;
    return AZ_OK;
}

enum az_status
delegation_set_end(struct op *op, const unsigned char id[UUID7_OCTETS],
                   const struct uma_owner *owner, int64_t expires_ms,
                   const struct audit_entry *audit, const char **ret)
{
    struct uma_write write;
    enum az_status st =
        uma_write_begin(op, &delegation_set_end_stmt, false, id, owner, audit, &write);
    if (st != AZ_OK)
        return st;
    bind_end(&write.step->params, expires_ms);
    if ((st = uma_write_run(op, &write)) == AZ_OK)
        *ret = db_get(write.step->result, 0, 0);
    return st;
}

enum az_status
delegation_revoke(struct op *op, const unsigned char id[UUID7_OCTETS],
                  const struct uma_owner *owner, const struct audit_entry *audit, bool *ret_found)
{
    return uma_write_object(op, &delegation_revoke_stmt, id, owner, audit, ret_found);
}

enum az_status
delegation_get(struct op *op, const unsigned char id[UUID7_OCTETS], const struct uma_owner *owner,
               const char **ret)
{
    return uma_fetch_object(op, &delegation_get_stmt, id, owner, ret);
}

enum az_status
delegation_list(struct op *op, const struct uma_owner *owner, const char **ret)
{
    return uma_fetch_list(op, &delegation_list_stmt, owner, ret);
}

enum az_status
delegations_purge(struct op *op, int64_t *removed)
{
    return db_purge(op, &delegation_purge_stmt, DELEGATION_KEPT_DAYS, removed);
}

enum az_status
delegations_of(struct op *op, int64_t client, const char *subject, json_t **ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, client);
    db_text(&params, subject);
    enum az_status st = db_exec(op, &delegations_of_stmt, &params, true, &result);
    return st == AZ_OK ? db_read_json(op, result, 0, OF_DELEGATIONS, ret) : st;
}
