#include "config.h"

#include "admin/resource/resource.h"

#include <string.h>

#include "admin/resource/resource_body.h"
#include "base/json/jsonx.h"
#include "crypto/secret.h"
#include "http/header_value.h"

static const struct admin_resource *
resource_of(const struct request *req)
{
    return req->route->arg;
}

enum az_status
resource_respond(struct request *req, const char *noun, const char *dto)
{
    return dto != NULL ? respond_json_text(req, 200, dto)
                       : op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such %s", noun);
}

void
resource_note(struct request *req, const char *member, const char *key)
{
    req->audit.summary =
        jsonx_dump(req->op.mem, jsonx_own(req->op.mem, json_pack("{s:s}", member, key)));
}

/* Read the key of the path. */
static enum az_status
resource_path_key(struct request *req, const char **ret)
{
    int64_t id;
    enum az_status st = resource_of(req)->key_is_number ? path_id_read(req, &id) : AZ_OK;
    *ret = req->path_value[0];
    return st;
}

/* Set the version as ETag, if the row has one. */
static void
resource_tag(struct request *req, const struct json_shown *shown)
{
    if (shown->version != NULL)
        respond_header(req, "ETag", talloc_asprintf(req->op.mem, "\"%s\"", shown->version));
}

/* Check If-Match. *ret is the version that the statement compares again, because the row may change
 * until then; NULL: the caller sent no If-Match, or there is no row. */
static enum az_status
resource_match(struct request *req, const char *key, const char **ret)
{
    struct json_shown shown = {.dto = NULL};
    *ret = NULL;
    if (!request_has_if_match(req) || resource_of(req)->rows->fetch == NULL)
        return AZ_OK;
    enum az_status st = json_rows_fetch(&req->op, resource_of(req)->rows, key, &shown);
    if (st != AZ_OK || shown.version == NULL)
        return st;
    *ret = shown.version;
    return request_if_match(req, shown.version);
}

/* ---- reading ---- */

enum az_status
resource_list_handle(struct request *req)
{
    const struct route_param *param = req->route->params;
    const char *filters[DB_PARAMS_MAX], *list;
    int count = 0;
    for (; param != NULL && param->name != NULL && count < DB_PARAMS_MAX; param++)
        filters[count++] = request_param(req, param->name);
    enum az_status st = json_rows_list(&req->op, resource_of(req)->rows, filters, count, &list);
    return st == AZ_OK ? respond_json_text(req, 200, list) : st;
}

enum az_status
resource_get_handle(struct request *req)
{
    const struct json_rows *rows = resource_of(req)->rows;
    struct json_shown shown = {.dto = NULL};
    const char *key;
    enum az_status st = resource_path_key(req, &key);
    if (st == AZ_OK)
        st = json_rows_fetch(&req->op, rows, key, &shown);
    if (st == AZ_OK && shown.dto != NULL && resource_of(req)->show != NULL)
        st = resource_of(req)->show(&req->op, key, &shown.dto);
    resource_tag(req, &shown);
    return st == AZ_OK ? resource_respond(req, rows->noun, shown.dto) : st;
}

/* ---- writing ---- */

enum az_status
resource_read_fields(struct request *req, const struct field_table *table, void *ret)
{
    enum az_status st = req->json != NULL ? fields_read(req->op.mem, table, req->json,
                                                        request_field_fault, req, ret, NULL)
                                          : AZ_OK;
    if (st == AZ_OK)
        return st;
    return op_fail(&req->op, st == AZ_INVALID ? AZ_INVALID_FIELDS : AZ_SERVER_ERROR, NULL, NULL);
}

void
resource_wipe_json(const json_t *value)
{
    const char *name;
    json_t *member;
    size_t index;
    if (json_is_string(value))
        secret_wipe((void *) (uintptr_t) json_string_value(value), json_string_length(value));
    json_object_foreach ((json_t *) (uintptr_t) value, name, member)
        resource_wipe_json(member);
    json_array_foreach (value, index, member)
        resource_wipe_json(member);
}

/* Wipe what was sent, octets and parsed texts, if rows of the resource have secrets. */
static void
resource_wipe(struct request *req)
{
    if (resource_of(req)->secret == NULL)
        return;
    secret_wipe((void *) (uintptr_t) req->body, req->body_length);
    resource_wipe_json(req->json);
}

/* Find the row that a PUT replaces, before its body is read: 404 comes before 400. */
static enum az_status
resource_load(struct request *req, const char *key, const void **ret)
{
    const struct admin_resource *resource = resource_of(req);
    struct json_shown shown = {.dto = NULL};
    enum az_status st = AZ_OK;
    if (resource->load != NULL)
        st = resource->load(&req->op, key, ret);
    else if ((st = json_rows_fetch(&req->op, resource->rows, key, &shown)) == AZ_OK)
        *ret = shown.dto;
    if (st == AZ_OK && *ret == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such %s", resource->rows->noun);
    return st;
}

/* Read the body; every fault of it is in the answer's fieldErrors. */
static enum az_status
resource_read(struct request *req, struct resource_reading *reading)
{
    const struct admin_resource *resource = resource_of(req);
    enum az_status st = resource_body_read(resource->body, reading);
    if (st == AZ_INVALID)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    if (st != AZ_OK)
        return op_no_memory(&req->op);
    if (reading->key != NULL)
        resource_note(req, resource->body->key, reading->key);
    st = resource->complete != NULL ? resource->complete(&req->op, reading) : AZ_OK;
    if (st == AZ_OK && reading->lost)
        return op_no_memory(&req->op);
    if (st == AZ_OK)
        resource_note(req, resource->body->key, reading->key);
    return st;
}

static enum az_status
resource_seal(struct request *req, const struct resource_reading *reading, struct json_row *row)
{
    const struct resource_secret *secret = resource_of(req)->secret;
    unsigned char *box;
    if (secret == NULL || reading->secret == NULL)
        return AZ_OK;
    const char *place = secret->place(req->op.mem, reading->key);
    if (place == NULL
        || keyring_seal(req->op.mem, req->op.az->keyring, secret->purpose, place, reading->secret,
                        strlen(reading->secret), &box, &row->sealed_length)
               != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "cannot encrypt the secret of this %s",
                       resource_of(req)->rows->noun);
    row->sealed = box;
    return AZ_OK;
}

/* Read, seal and store a row; *ret is the row as stored. */
static enum az_status
resource_write(struct request *req, struct resource_reading *reading, const char *version,
               struct json_shown *ret)
{
    const struct admin_resource *resource = resource_of(req);
    struct json_row row = {.key = NULL};
    enum az_status st =
        resource->rows->owned != NULL ? resource_owner_read(req, &row.owner) : AZ_OK;
    if (st == AZ_OK)
        st = resource_read(req, reading);
    if (st == AZ_OK)
        st = resource_seal(req, reading, &row);
    if (st != AZ_OK)
        return st;
    row.key = reading->key;
    row.version = version != NULL ? version : reading->version;
    row.columns = jsonx_dump(req->op.mem, reading->columns);
    if (row.columns == NULL)
        return op_no_memory(&req->op);
    st = reading->path_key != NULL ? json_rows_replace(&req->op, resource->rows, &row, ret)
                                   : json_rows_insert(&req->op, resource->rows, &row, ret);
    resource_tag(req, ret);
    if (resource->written != NULL)
        resource->written(&req->op, row.key);
    /* A request without If-Match must not get a 412. */
    if (st == AZ_PRECONDITION_FAILED && version == NULL) {
        az_fault_clear(&req->op.fault);
        return op_fail(&req->op, AZ_CONFLICT, "It was changed at the same time; send it again",
                       NULL);
    }
    return st;
}

/* Answer 201 with the row, and with its secret if the table says so. */
static enum az_status
resource_respond_created(struct request *req, const char *dto, const char *secret)
{
    const struct admin_resource *resource = resource_of(req);
    json_t *json, *shown;
    if (secret == NULL || !resource->secret->shown_once)
        return respond_json_text(req, 201, dto);
    if (jsonx_parse(req->op.mem, dto, strlen(dto), HTTP_JSON_SCHEMAS_MAX + 1, &json, NULL) != AZ_OK
        || json_object_set_new(json, resource->body->secret, shown = json_string(secret)) != 0)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "cannot read back the stored %s",
                       resource->rows->noun);
    enum az_status st = respond_json(req, 201, json);
    resource_wipe_json(shown);
    return st;
}

/* Add the warnings about the stored row to the answer. Warnings that cannot be added are left out:
 * the row is stored, so the answer must not become a failure. */
static void
resource_warn(struct request *req, const char *dto)
{
    const struct admin_resource *resource = resource_of(req);
    json_t *row, *warnings;
    if (resource->warn == NULL
        || jsonx_parse(req->op.mem, dto, strlen(dto), HTTP_JSON_SCHEMAS_MAX + 1, &row, NULL)
               != AZ_OK)
        return;
    warnings = resource->warn(&req->op, row);
    if (json_array_size(warnings) > 0 && json_object_set(row, "warnings", warnings) != 0)
        return;
    const char *text = jsonx_dump(req->op.mem, row);
    if (text != NULL)
        respond_json_text(req, req->res.status, text);
}

static struct resource_reading
resource_begin(struct request *req)
{
    return (struct resource_reading){.mem = req->op.mem,
                                     .cfg = req->op.az->cfg,
                                     .object = req->json,
                                     .fault = request_field_fault,
                                     .fault_arg = req};
}

enum az_status
resource_create_handle(struct request *req)
{
    struct resource_reading reading = resource_begin(req);
    struct json_shown shown = {.dto = NULL};
    enum az_status st = resource_write(req, &reading, NULL, &shown);
    req->error_is_empty = st == AZ_CONFLICT && resource_of(req)->taken_is_empty;
    if (st == AZ_OK)
        st = resource_respond_created(req, shown.dto, reading.secret);
    resource_wipe(req); /* before the warnings, which may take seconds */
    if (st == AZ_OK)
        resource_warn(req, shown.dto);
    return st;
}

enum az_status
resource_put_handle(struct request *req)
{
    struct resource_reading reading = resource_begin(req);
    const char *version = NULL;
    struct json_shown shown = {.dto = NULL};
    enum az_status st = resource_path_key(req, &reading.path_key);
    if (st == AZ_OK) {
        resource_note(req, resource_of(req)->body->key, reading.path_key);
        st = resource_match(req, reading.path_key, &version);
    }
    if (st == AZ_OK)
        st = resource_load(req, reading.path_key, &reading.stored);
    if (st == AZ_OK)
        st = resource_write(req, &reading, version, &shown);
    resource_wipe(req);
    if (st == AZ_OK && (st = respond_json_text(req, 200, shown.dto)) == AZ_OK)
        resource_warn(req, shown.dto);
    return st;
}

enum az_status
resource_delete_handle(struct request *req)
{
    const struct admin_resource *resource = resource_of(req);
    const char *key, *version = NULL;
    enum az_status st = resource_path_key(req, &key);
    if (st == AZ_OK && resource->body != NULL)
        resource_note(req, resource->body->key, key);
    if (st == AZ_OK && resource->may_delete != NULL)
        st = resource->may_delete(&req->op, key);
    if (st == AZ_OK)
        st = resource_match(req, key, &version);
    if (st != AZ_OK)
        return st;
    st = json_rows_delete(&req->op, resource->rows, key, version);
    if (resource->written != NULL)
        resource->written(&req->op, key);
    return st == AZ_OK ? respond_empty(req, 204) : st;
}
