#include "config.h"

#include "store/clients/clients_dynamic.h"

#include "store/clients/client_room.h"
#include "store/clients/clients.h"
#include "store/db/db.h"
#include "store/db/keep/partitions.h"

/* The values come by name from one JSON object, as in clients_admin.c. A client makes room only for
 * one that may be stored otherwise. */
enum client_register_column { REGISTER_SHARED, REGISTER_FREE, REGISTER_STORED, REGISTER_REMOVED };
static const struct db_stmt client_register_stmt = {
    "client_register",
    "WITH share AS (SELECT count(*) < $23::bigint AS shared FROM (SELECT 1 FROM client c"
    "   WHERE c.registered_from = $22 AND c.registration_type = $2"
    "    AND c.created_at >= " CLIENT_YOUNG " AND" CLIENT_UNUSED " LIMIT $23::bigint) young),"
    " ready AS (SELECT 1 FROM bundle_state b, share WHERE shared AND $6 = ANY (b.acceptable)"
    "   AND NOT EXISTS (" CLIENT_NAME_TAKEN ")),"
    " gone AS (DELETE FROM client c USING ready WHERE" CLIENT_MAKES_ROOM " RETURNING c.client_id),"
    " room AS (SELECT " CLIENT_ROOM_FOUND " = '' OR EXISTS (SELECT 1 FROM gone)"
    "   OR " CLIENT_ROOM_FOUND " <> '0' AND NOT EXISTS (SELECT 1 FROM ready) AS free),"
    " ok AS (SELECT nextval('audit_id_seq') AS audit_id FROM ready, room WHERE free),"
    " made AS (INSERT INTO client (client_id, registration_type, client_type, secret_sealed,"
    "   registered_from,"
    "   client_name, client_uri, logo_uri, tos_uri, policy_uri, contacts, redirect_uris,"
    "   post_logout_redirect_uris, jwks, jwks_uri, auth_method, grant_types, response_types, "
    "scope, software_id, software_version,"
    "   software_statement, dpop_bound, resource_types, id_token_signed_response_alg)"
    "  SELECT $1, $2, $3, $5::bytea, $22, r.client_name, r.client_uri, r.logo_uri, r.tos_uri,"
    "   r.policy_uri, r.contacts, r.redirect_uris,"
    "   coalesce(r.post_logout_redirect_uris, '{}'), r.jwks, r.jwks_uri, r.auth_method,"
    "   r.grant_types, r.response_types, r.scope, r.software_id, r.software_version,"
    "   r.software_statement, coalesce(r.dpop_bound, false), r.resource_types,"
    "   r.id_token_signed_response_alg"
    "  FROM ok, json_populate_record(NULL::client, $4::json) r"
    "  ON CONFLICT (client_id) DO NOTHING RETURNING 1),"
    " noted AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    "  SELECT $7::timestamptz, audit_id, $8, $9::uuid, $10, $11, $12, $13, $14, $15, $16,"
    "   $17::inet, $18, $19, $20, $21 FROM ok, made RETURNING 1)"
    " SELECT shared, free, EXISTS (SELECT 1 FROM noted) AS stored,"
    "  (SELECT client_id FROM gone) AS removed FROM share, room",
    23};

static const struct db_stmt client_register_denial_stmt = {
    "client_register_denial",
    "INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    " SELECT $2::timestamptz, nextval('audit_id_seq'), $3, $4::uuid, $5, $6, $7, $8, $9, $10, $11,"
    "  $12::inet, $13, $14, $15, $16"
    " FROM bundle_state b WHERE $1 = ANY (b.acceptable)",
    16};

/* Add a statement that writes an audit row of today. */
static struct db_step *
dynamic_add(struct op *op, struct db_batch *batch, const struct db_stmt *stmt)
{
    return db_batch_add_in(batch, stmt, DB_NO_PARTITION, partition_day(op_now(op)));
}

/* Read why there is no place for the client, or that there is one. */
static enum az_status
read_room(struct op *op, const PGresult *row)
{
    if (!db_get_bool(row, 0, REGISTER_SHARED))
        return op_fail(op, AZ_UNAVAILABLE, CLIENTS_DYNAMIC_SHARE,
                       "this address registered %ld clients within an hour that are not used",
                       client_room_share(op));
    if (!db_get_bool(row, 0, REGISTER_FREE))
        return op_fail(op, AZ_UNAVAILABLE, CLIENT_ROOM_FULL,
                       "SVC_DYNAMIC_CLIENTS_MAX clients of this kind have registered themselves, "
                       "and each had a token or is younger than an hour");
    return AZ_OK;
}

enum az_status
client_register(struct op *op, const struct client_new *client, const struct audit_entry *audit,
                bool *ret_stored)
{
    enum az_status st = partition_need_day(op, partition_day(op_now(op)));
    if (st != AZ_OK)
        return st;
    struct db_batch *batch = db_batch_new(op);
    client_room_add(op, batch, client->registration, client->client_id);
    struct db_step *step = dynamic_add(op, batch, &client_register_stmt);
    db_batch_commit(batch);
    struct db_params *params = &step->params;
    db_text(params, client->client_id);
    db_text(params, client->registration);
    db_text(params, client->type);
    db_text(params, client->columns);
    db_octets(params, client->sealed, client->sealed_length);
    db_text(params, client->revision);
    db_time(params, op->now_ms);
    audit_bind(params, audit);
    db_octets(params, client->registered_from, SHA256_OCTETS);
    db_number(params, client_room_share(op));
    if ((st = db_run(op, batch, false)) != AZ_OK)
        return st;
    client_room_note(db_get(step->result, 0, REGISTER_REMOVED), client->registration);
    if ((st = read_room(op, step->result)) != AZ_OK)
        return st;
    *ret_stored = db_get_bool(step->result, 0, REGISTER_STORED);
    return AZ_OK;
}

enum az_status
client_register_denial(struct op *op, const char *revision, const struct audit_entry *audit,
                       bool *ret_stored)
{
    enum az_status st = partition_need_day(op, partition_day(op_now(op)));
    if (st != AZ_OK)
        return st;
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = dynamic_add(op, batch, &client_register_denial_stmt);
    db_text(&step->params, revision);
    db_time(&step->params, op->now_ms);
    audit_bind(&step->params, audit);
    if ((st = db_run(op, batch, false)) == AZ_OK)
        *ret_stored = db_written(step->result) > 0;
    return st;
}
