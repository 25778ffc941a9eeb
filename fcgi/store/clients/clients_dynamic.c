#include "config.h"

#include "store/clients/clients_dynamic.h"

#include "base/settings.h"
#include "store/db/db.h"
#include "store/db/partitions.h"

/* The values come by name from one JSON object, as in clients_admin.c. */
enum client_register_column { REGISTER_FREE, REGISTER_STORED };
static const struct db_stmt client_register_stmt = {
    "client_register",
    "WITH room AS (SELECT count(*) < $22::bigint AS free"
    "  FROM " CLIENTS_DYNAMIC " LIMIT $22::bigint) held),"
    " ok AS (SELECT nextval('audit_id_seq') AS audit_id FROM bundle_state b, room"
    "  WHERE free AND $6 = ANY (b.acceptable)"
    "   AND NOT EXISTS (SELECT 1 FROM subject WHERE subject = $1)),"
    " made AS (INSERT INTO client (client_id, registration_type, client_type, secret_sealed,"
    "   client_name, client_uri, logo_uri, tos_uri, policy_uri, contacts, redirect_uris, jwks,"
    "   jwks_uri, auth_method, grant_types, response_types, scope, software_id, software_version,"
    "   software_statement, dpop_bound, resource_types)"
    "  SELECT $1, $2, $3, $5::bytea, r.client_name, r.client_uri, r.logo_uri, r.tos_uri,"
    "   r.policy_uri, r.contacts, r.redirect_uris, r.jwks, r.jwks_uri, r.auth_method,"
    "   r.grant_types, r.response_types, r.scope, r.software_id, r.software_version,"
    "   r.software_statement, coalesce(r.dpop_bound, false), r.resource_types"
    "  FROM ok, json_populate_record(NULL::client, $4::json) r"
    "  ON CONFLICT (client_id) DO NOTHING RETURNING 1),"
    " noted AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    "  SELECT $7::timestamptz, audit_id, $8, $9::uuid, $10, $11, $12, $13, $14, $15, $16,"
    "   $17::inet, $18, $19, $20, $21 FROM ok, made RETURNING 1)"
    " SELECT free, EXISTS (SELECT 1 FROM noted) AS stored FROM room",
    22};

static const struct db_stmt client_register_denial_stmt = {
    "client_register_denial",
    "INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    " SELECT $2::timestamptz, nextval('audit_id_seq'), $3, $4::uuid, $5, $6, $7, $8, $9, $10, $11,"
    "  $12::inet, $13, $14, $15, $16"
    " FROM bundle_state b WHERE $1 = ANY (b.acceptable)",
    16};

/* Build a batch of one statement that writes an audit row of today. */
static struct db_batch *
dynamic_batch(struct op *op, const struct db_stmt *stmt, struct db_step **ret_step)
{
    struct db_batch *batch = db_batch_new(op);
    *ret_step = db_batch_add_in(batch, stmt, DB_NO_PARTITION, partition_day(op_now(op)));
    return batch;
}

enum az_status
client_register(struct op *op, const struct client_new *client, const struct audit_entry *audit,
                bool *ret_stored)
{
    struct db_step *step;
    enum az_status st = partition_need_day(op, partition_day(op_now(op)));
    if (st != AZ_OK)
        return st;
    struct db_batch *batch = dynamic_batch(op, &client_register_stmt, &step);
    struct db_params *params = &step->params;
    db_text(params, client->client_id);
    db_text(params, client->registration);
    db_text(params, client->type);
    db_text(params, client->columns);
    db_octets(params, client->sealed, client->sealed_length);
    db_text(params, client->revision);
    db_time(params, op->now_ms);
    audit_bind(params, audit);
    db_number(params, op->az->cfg->dynamic_clients_max);
    if ((st = db_run(op, batch, false)) != AZ_OK)
        return st;
    if (!db_get_bool(step->result, 0, REGISTER_FREE))
        return op_fail(op, AZ_UNAVAILABLE, CLIENTS_DYNAMIC_FULL,
                       "SVC_DYNAMIC_CLIENTS_MAX clients have registered themselves");
    *ret_stored = db_get_bool(step->result, 0, REGISTER_STORED);
    return AZ_OK;
}

enum az_status
client_register_denial(struct op *op, const char *revision, const struct audit_entry *audit,
                       bool *ret_stored)
{
    struct db_step *step;
    enum az_status st = partition_need_day(op, partition_day(op_now(op)));
    if (st != AZ_OK)
        return st;
    struct db_batch *batch = dynamic_batch(op, &client_register_denial_stmt, &step);
    db_text(&step->params, revision);
    db_time(&step->params, op->now_ms);
    audit_bind(&step->params, audit);
    if ((st = db_run(op, batch, false)) == AZ_OK)
        *ret_stored = db_written(step->result) > 0;
    return st;
}
