#include "config.h"

#include "admin/people/clients.h"

#include "admin/people/client_dto.h"
#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "store/clients/client_secrets.h"
#include "store/clients/clients.h"
#include "store/clients/clients_admin.h"
#include "token/software_statement.h"

/* Longest time for which the previous secret stays good: 30 days, in seconds. */
#define PREVIOUS_TTL_MAX (30 * 86400)

static enum az_status
client_load(struct op *op, const char *client_id, const void **ret)
{
    const struct client_state *state = NULL;
    enum az_status st = client_state_fetch(op, client_id, &state);
    *ret = state;
    return st;
}

/* Sign the statement of a client that has one to be signed. A signed statement with the same claims
 * stays: a new one would invalidate it, and every copy that programs carry. */
static enum az_status
client_sign_statement(struct op *op, struct resource_reading *reading)
{
    const json_t *claims = json_object_get(reading->columns, "software_statement");
    const struct client_state *stored = reading->stored;
    const char *statement = stored != NULL ? stored->issued : NULL;
    bool good = false;
    enum az_status st = AZ_OK;
    if (claims == NULL)
        return AZ_OK;
    if (statement != NULL)
        st = software_statement_is_good(op, statement, claims, &good);
    if (st == AZ_OK && !good)
        st = software_statement_sign(op, reading->key, claims, &statement);
    if (st == AZ_OK)
        resource_set_column(reading, "issued_statement", json_string(statement));
    return st;
}

/* Make a secret for a new confidential client that was given none and has no keys in its place, and
 * sign its statement. */
static enum az_status
client_complete(struct op *op, struct resource_reading *reading)
{
    enum az_status st = AZ_OK;
    if (reading->path_key == NULL && reading->secret == NULL
        && resource_text_is(reading, "clientType", "confidential")
        && !resource_text_is(reading, "tokenEndpointAuthMethod", "private_key_jwt")
        && !resource_text_is(reading, "tokenEndpointAuthMethod", "spiffe_jwt"))
        st = client_secret_make(op, &reading->secret);
    resource_set_column(reading, "updated_by",
                        op->who != NULL ? json_string(op->who) : json_null());
    return st == AZ_OK ? client_sign_statement(op, reading) : st;
}

static const struct resource_secret client_secret = {
    .purpose = KEYRING_CLIENT_SECRET,
    .place = client_secret_place,
    .shown_once = true,
};

const struct admin_resource clients_resource = {
    .rows = &clients_admin_rows,
    .body = &client_body,
    .secret = &client_secret,
    .load = client_load,
    .complete = client_complete,
    .written = client_forget,
};

/* ---- rotation of the secret ---- */

/* The body {"previousSecretTtlSeconds": n}, which is optional. */
struct rotation_request {
    int64_t previous_ttl; /* seconds */
};

static const struct field rotation_fields[] = {
    {"previousSecretTtlSeconds", FIELD_INTEGER, .max = PREVIOUS_TTL_MAX,
     FIELD_INTO(struct rotation_request, previous_ttl),
     .help = "Seconds for which the earlier secret stays valid", .example = "3600"},
};
const struct field_table client_rotation_table = FIELD_TABLE("SecretRotation", rotation_fields, 0);

static enum az_status
client_respond_rotated(struct request *req, const char *secret, const char *previous_until)
{
    char now[ISO8601_MS_SIZE];
    if (iso8601_format_ms(req->op.now_ms, now) != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the clock is outside the years 1 to 9999");
    json_t *shown = json_string(secret);
    json_t *body = json_pack("{s:s,s:O,s:s,s:s*}", "clientId", req->path_value[0], "clientSecret",
                             shown, "rotatedAt", now, "previousSecretExpiresAt", previous_until);
    enum az_status st = respond_json(req, 200, jsonx_own(req->op.mem, body));
    resource_wipe_json(shown);
    json_decref(shown);
    return st;
}

enum az_status
client_rotate_handle(struct request *req)
{
    const char *client_id = req->path_value[0], *secret = NULL, *until = NULL;
    struct client_rotation rotation = {.previous_until_ms = 0};
    struct rotation_request given = {.previous_ttl = 0};
    resource_note(req, client_body.key, client_id);
    enum az_status st = resource_read_fields(req, &client_rotation_table, &given);
    if (st == AZ_OK)
        st = client_secret_make(&req->op, &secret);
    if (st == AZ_OK)
        st = client_secret_seal(&req->op, client_id, secret, &rotation.sealed,
                                &rotation.sealed_length);
    if (given.previous_ttl > 0)
        rotation.previous_until_ms = (op_now(&req->op) + given.previous_ttl) * 1000;
    if (st == AZ_OK)
        st = client_rotate_secret(&req->op, client_id, &rotation, &until);
    client_forget(&req->op, client_id);
    return st == AZ_OK ? client_respond_rotated(req, secret, until) : st;
}
