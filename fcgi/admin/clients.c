#include "config.h"

#include "admin/clients.h"

#include <string.h>

#include "admin/client_dto.h"
#include "base/iso8601.h"
#include "base/jsonx.h"
#include "base/settings.h"
#include "crypto/secret.h"
#include "store/clients/client_secrets.h"
#include "store/clients/clients.h"
#include "store/clients/clients_admin.h"
#include "token/software_statement.h"

/* Longest overlap of two secrets (decisions.md "Clients and registration"): 30 days. */
#define PREVIOUS_TTL_MAX (30 * 86400)

static enum az_status
no_such_client(struct request *req)
{
    return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such client");
}

/* The audit row names the client that was written. */
static void
note_client(struct request *req, const char *client_id)
{
    req->audit.summary =
        jsonx_dump(req->op.mem, jsonx_own(req->op.mem, json_pack("{s:s}", "clientId", client_id)));
}

/* Reads the body; every fault is in the answer's fieldErrors. */
static enum az_status
read_dto(struct request *req, const char *path_id, const struct client_state *state,
         struct client_dto *ret)
{
    const struct client_dto_rules rules = {req->op.az->cfg->max_redirect_uris, path_id, state};
    enum az_status st =
        client_dto_read(req->op.mem, req->json, &rules, request_field_fault, req, ret);
    if (st == AZ_INVALID)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    return st == AZ_OK ? AZ_OK : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "no memory");
}

/* A secret given in a body lies in its octets and in the parsed text: both are wiped when it is
 * sealed. */
static void
wipe_given_secret(struct request *req)
{
    const json_t *secret = json_object_get(req->json, "clientSecret");
    secret_wipe((void *) (uintptr_t) req->body, req->body_length);
    if (json_is_string(secret))
        secret_wipe((void *) (uintptr_t) json_string_value(secret), json_string_length(secret));
}

/* Signs the statement of a client that has one to be signed. */
static enum az_status
sign_statement(struct request *req, const struct client_dto *dto, struct client_row *row)
{
    return dto->statement != NULL ? software_statement_sign(&req->op, row->client_id,
                                                            dto->statement, &row->issued_statement)
                                  : AZ_OK;
}

enum az_status
clients_list_handle(struct request *req)
{
    const char *list;
    enum az_status st = clients_list(&req->op, &list);
    return st == AZ_OK ? respond_json_text(req, 200, list) : st;
}

enum az_status
client_get_handle(struct request *req)
{
    const char *dto = NULL;
    enum az_status st = client_dto_fetch(&req->op, req->path_value[0], &dto);
    if (st != AZ_OK)
        return st;
    return dto != NULL ? respond_json_text(req, 200, dto) : no_such_client(req);
}

/* The only answer with a secret besides rotation: the ClientDto as stored, and clientSecret. */
static enum az_status
respond_created(struct request *req, const char *dto, const char *secret)
{
    json_t *json;
    const char *why;
    if (secret == NULL)
        return respond_json_text(req, 201, dto);
    if (jsonx_parse(req->op.mem, dto, strlen(dto), HTTP_JSON_DEPTH_MAX + 1, &json, &why) != AZ_OK
        || json_object_set_new(json, "clientSecret", json_string(secret)) != 0)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the stored client cannot be read back");
    return respond_json(req, 201, json);
}

enum az_status
clients_create_handle(struct request *req)
{
    struct client_dto dto = {.secret = NULL};
    struct client_row row = {.sealed = NULL};
    const char *stored, *secret;
    enum az_status st = read_dto(req, NULL, NULL, &dto);
    if (st != AZ_OK)
        return st;
    note_client(req, dto.client_id);
    row.client_id = dto.client_id;
    row.columns = dto.columns;
    secret = dto.secret;
    if (dto.confidential && secret == NULL && (st = client_secret_make(&req->op, &secret)) != AZ_OK)
        return st;
    if (secret != NULL
        && (st = client_secret_seal(&req->op, dto.client_id, secret, &row.sealed,
                                    &row.sealed_length))
               != AZ_OK)
        return st;
    if ((st = sign_statement(req, &dto, &row)) == AZ_OK)
        st = client_insert(&req->op, &row, &stored);
    if (st != AZ_OK)
        return st;
    client_forget(&req->op, dto.client_id);
    st = respond_created(req, stored, secret);
    wipe_given_secret(req);
    return st;
}

enum az_status
client_put_handle(struct request *req)
{
    const char *client_id = req->path_value[0], *stored = NULL;
    struct client_state state = {.found = false};
    struct client_dto dto = {.secret = NULL};
    struct client_row row = {.client_id = client_id};
    note_client(req, client_id);
    enum az_status st = client_state_fetch(&req->op, client_id, &state);
    if (st == AZ_OK && !state.found)
        st = no_such_client(req);
    if (st == AZ_OK)
        st = read_dto(req, client_id, &state, &dto);
    row.columns = dto.columns;
    if (st == AZ_OK && dto.secret != NULL)
        st = client_secret_seal(&req->op, client_id, dto.secret, &row.sealed, &row.sealed_length);
    if (st == AZ_OK)
        st = sign_statement(req, &dto, &row);
    if (st == AZ_OK)
        st = client_replace(&req->op, &row, &stored);
    client_forget(&req->op, client_id);
    wipe_given_secret(req);
    if (st != AZ_OK)
        return st;
    return stored != NULL ? respond_json_text(req, 200, stored) : no_such_client(req);
}

enum az_status
client_delete_handle(struct request *req)
{
    note_client(req, req->path_value[0]);
    enum az_status st = client_delete(&req->op, req->path_value[0]);
    if (st != AZ_OK)
        return st;
    client_forget(&req->op, req->path_value[0]);
    return respond_empty(req, 204);
}

/* {"previousSecretTtlSeconds": n}; the client may leave the body out. */
struct rotation_request {
    int64_t previous_ttl; /* seconds */
};

static const struct field rotation_fields[] = {
    {"previousSecretTtlSeconds", FIELD_INTEGER, .max = PREVIOUS_TTL_MAX,
     FIELD_INTO(struct rotation_request, previous_ttl)},
};

static enum az_status
read_rotation(struct request *req, struct rotation_request *ret)
{
    if (req->json != NULL
        && fields_read(req->op.mem, FIELDS(rotation_fields, 0), req->json, request_field_fault, req,
                       ret, NULL)
               != AZ_OK)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    return AZ_OK;
}

static enum az_status
respond_rotated(struct request *req, const char *secret, const char *previous_until)
{
    char now[ISO8601_SIZE];
    if (iso8601_format(op_now(&req->op), now) != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the clock is outside the years 1 to 9999");
    return respond_json(
        req, 200,
        jsonx_own(req->op.mem,
                  json_pack("{s:s,s:s,s:s,s:s*}", "clientId", req->path_value[0], "clientSecret",
                            secret, "rotatedAt", now, "previousSecretExpiresAt", previous_until)));
}

enum az_status
client_rotate_handle(struct request *req)
{
    const char *client_id = req->path_value[0], *secret = NULL, *until = NULL;
    struct client_rotation rotation = {.previous_until_ms = 0};
    struct rotation_request given = {.previous_ttl = 0};
    note_client(req, client_id);
    enum az_status st = read_rotation(req, &given);
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
    return st == AZ_OK ? respond_rotated(req, secret, until) : st;
}
