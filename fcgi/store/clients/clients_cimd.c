#include "config.h"

#include "store/clients/clients_cimd.h"

#include "store/clients/client_room.h"
#include "store/db/db.h"

/*
 * An existing row is renewed however many other rows there are, and none makes room for it. A
 * client must not share its name with a subject: tokens of the two would look alike. If nothing was
 * written, the row comes from the second branch. That branch sees the table as it was when the
 * statement began, so it finds nothing if another process made the row meanwhile; a second try
 * finds it.
 */
/* clang-format off */
enum client_cimd_put_column { PUT_ID, PUT_VERSION, PUT_ENABLED, PUT_OURS, PUT_TAKEN, PUT_FULL, PUT_REMOVED };
static const struct db_stmt client_cimd_put_stmt = {
    "client_cimd_put",
    "WITH taken AS (" CLIENT_NAME_TAKEN "),"
    " gone AS (DELETE FROM client c WHERE" CLIENT_MAKES_ROOM
    "   AND NOT EXISTS (SELECT 1 FROM taken) RETURNING c.client_id),"
    " room AS (SELECT " CLIENT_ROOM_FOUND " = '' OR EXISTS (SELECT 1 FROM gone) AS free),"
    " put AS (INSERT INTO client (client_id, client_type, registration_type, auth_method,"
    "   client_name, client_uri, logo_uri, scope, redirect_uris, grant_types,"
    "   id_token_signed_response_alg, dpop_bound)"
    "  SELECT $1, 'public', 'CIMD', $10, $2, $3, $7, $4, $5::text[], $6::text[], $8, $9::boolean"
    "   FROM room WHERE free AND NOT EXISTS (SELECT 1 FROM taken)"
    "  ON CONFLICT (client_id) DO UPDATE SET auth_method = excluded.auth_method,"
    "   client_name = excluded.client_name, client_uri = excluded.client_uri,"
    "   logo_uri = excluded.logo_uri, scope = excluded.scope,"
    "   redirect_uris = excluded.redirect_uris, grant_types = excluded.grant_types,"
    "   id_token_signed_response_alg = excluded.id_token_signed_response_alg,"
    "   dpop_bound = excluded.dpop_bound"
    "  WHERE client.registration_type = 'CIMD' AND client.client_type = 'public'"
    "   AND (client.auth_method, client.client_name, client.client_uri, client.logo_uri,"
    "     client.scope, client.redirect_uris, client.grant_types,"
    "     client.id_token_signed_response_alg, client.dpop_bound)"
    "    IS DISTINCT FROM (excluded.auth_method, excluded.client_name, excluded.client_uri,"
    "     excluded.logo_uri, excluded.scope, excluded.redirect_uris, excluded.grant_types,"
    "     excluded.id_token_signed_response_alg, excluded.dpop_bound)"
    "  RETURNING id, version, enabled, registration_type, client_type),"
    " stands AS (SELECT * FROM put UNION ALL"
    "  SELECT id, version, enabled, registration_type, client_type FROM client"
    "   WHERE client_id = $1 AND NOT EXISTS (SELECT 1 FROM put))"
    " SELECT id, version, enabled, registration_type = 'CIMD' AND client_type = 'public' AS ours,"
    "  EXISTS (SELECT 1 FROM taken) AS taken, NOT free AS full,"
    "  (SELECT client_id FROM gone) AS removed FROM room LEFT JOIN stands ON true", 10};
/* clang-format on */

static enum az_status
put_once(struct op *op, const struct client *client, struct client_cimd_row *ret)
{
    struct db_batch *batch = db_batch_new(op);
    client_room_add(op, batch, "CIMD", client->client_id);
    struct db_step *step = db_batch_add(batch, &client_cimd_put_stmt);
    db_batch_commit(batch);
    db_text(&step->params, client->client_id);
    db_text(&step->params, client->name);
    db_text(&step->params, client->uri);
    db_text(&step->params, client->scope);
    db_words_or_null(op->mem, &step->params, client->redirect_uris);
    db_words_or_null(op->mem, &step->params, client->grant_types);
    db_text(&step->params, client->logo);
    db_text(&step->params, client->id_token_alg);
    db_bool(&step->params, client->dpop_bound);
    db_text(&step->params, client->auth_method);
    enum az_status st = db_run(op, batch, false);
    if (st != AZ_OK)
        return st;
    const PGresult *result = step->result;
    client_room_note(db_get(result, 0, PUT_REMOVED), "CIMD");
    *ret = (struct client_cimd_row){
        .id = db_get_number(result, 0, PUT_ID, 0),
        .version = db_get_number(result, 0, PUT_VERSION, 0),
        .enabled = db_get_bool(result, 0, PUT_ENABLED),
        .ours = db_get_bool(result, 0, PUT_OURS),
        .taken = db_get_bool(result, 0, PUT_TAKEN),
        .full = db_get_bool(result, 0, PUT_FULL),
    };
    return AZ_OK;
}

enum az_status
client_cimd_put(struct op *op, const struct client *client, struct client_cimd_row *ret)
{
    struct client_cimd_row row = {.id = 0};
    enum az_status st = put_once(op, client, &row);
    if (st == AZ_OK && row.id == 0 && !row.taken && !row.full)
        st = put_once(op, client, &row);
    if (st == AZ_OK)
        *ret = row;
    return st;
}
