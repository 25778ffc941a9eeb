#include "config.h"

#include "admin/policy_data.h"

#include <string.h>
#include <strings.h>

#include "base/fields.h"
#include "base/jsonx.h"
#include "base/merge_patch.h"
#include "http/header_value.h"
#include "policy/save.h"
#include "policy/schema.h"
#include "policy/schema_format.h"
#include "store/policy_rows.h"

/* A PATCH that finds the row changed under it reads again so often; then somebody writes all the
 * time. */
#define PATCH_TRIES 5

const struct route_param policy_data_params[] = {
    {"dataKey", false},
    {NULL,      false}
};

/* clang-format off */
static const struct field policy_data_fields[] = {
    /* name                kind             max                  required rule  column */
    {"id",                 FIELD_READ_ONLY, 0,                   false,   NULL, NULL},
    {"dataKey",            FIELD_TEXT,      POLICY_DATA_KEY_MAX, false,   NULL, NULL},
    {"payload",            FIELD_TEXT,      0,                   true,    NULL, NULL},
    {"version",            FIELD_TEXT,      64,                  false,   NULL, NULL},
    {"inBundle",           FIELD_BOOLEAN,   0,                   false,   NULL, NULL},
    {"updatedAt",          FIELD_READ_ONLY, 0,                   false,   NULL, NULL},
    {"updatedAtFormatted", FIELD_READ_ONLY, 0,                   false,   NULL, NULL},
};
/* clang-format on */

const char *
policy_data_key_fault(const char *key)
{
    static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    if (key == NULL)
        return "is required";
    if (strlen(key) > POLICY_DATA_KEY_MAX)
        return "must have at most 256 characters";
    for (;;) {
        size_t length = strspn(key, word);
        key += length;
        if (length == 0 || (*key != '.' && *key != '\0'))
            return "must be words of A-Z a-z 0-9 _ - with dots between them";
        if (*key++ == '\0')
            return NULL;
    }
}

static enum az_status
invalid_field(struct request *req, const char *field, const char *why)
{
    request_field_error(req, field, why);
    return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}

static enum az_status
read_key(struct request *req, const char **ret_key)
{
    const char *key = request_param(req, "dataKey"), *why = policy_data_key_fault(key);
    if (why != NULL)
        return invalid_field(req, "dataKey", why);
    req->audit.summary =
        jsonx_dump(req->op.mem, jsonx_own(req->op.mem, json_pack("{s:s}", "dataKey", key)));
    *ret_key = key;
    return AZ_OK;
}

/* Keys that cannot hold an operator's row. */
static enum az_status
check_room(struct request *req, const char *key, const struct policy_row *row, const char *schema)
{
    switch (save_key_owner(key, schema != NULL || row->payload != NULL)) {
    case SAVE_OWNER_ENGINE:
        return op_fail(&req->op, AZ_CONFLICT, "The key system belongs to the policy engine", NULL);
    case SAVE_OWNER_SERVICE:
        return op_fail(&req->op, AZ_PROTECTED, "Keys below svc belong to the service", NULL);
    case SAVE_OWNER_NONE:
        break;
    }
    return AZ_OK;
}

/* If-Match; one too long to be read holds for nothing. *ret_digest: what the row must still have
 * when it is written; NULL without the header. */
static enum az_status
check_if_match(struct request *req, const struct policy_row *row, const char **ret_digest)
{
    const char *header = req->io->variable(req->io, "HTTP_IF_MATCH");
    if (header == NULL)
        return AZ_OK;
    if (strlen(header) > HTTP_HEADER_MAX
        || !header_if_match(header, row->payload != NULL ? row->digest : NULL))
        return op_fail(&req->op, AZ_PRECONDITION_FAILED, NULL, NULL);
    *ret_digest = row->digest;
    return AZ_OK;
}

/* ---- schema ---- */

/* 422 {dataKey, failures} (specification 7.2). */
static enum az_status
refuse_payload(struct request *req, const char *key, json_t *failures)
{
    req->error_body =
        jsonx_own(req->op.mem, json_pack("{s:s,s:O}", "dataKey", key, "failures", failures));
    return op_fail(&req->op, AZ_UNPROCESSABLE, NULL, "%zu failures against the schema of %s",
                   json_array_size(failures), key);
}

static enum az_status
check_schema(struct request *req, const char *key, const char *text, const json_t *payload)
{
    json_t *schema, *failures = NULL;
    const char *why = NULL;
    if (text == NULL)
        return AZ_OK;
    if (jsonx_parse(req->op.mem, text, strlen(text), SCHEMA_DEPTH_MAX, &schema, &why) != AZ_OK
        || (why = schema_fault(req->op.mem, schema)) != NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the schema of %s: %s", key,
                       why != NULL ? why : "no memory");
    enum az_status st = schema_validate(req->op.mem, schema, payload, &failures);
    if (st == AZ_INVALID)
        return refuse_payload(req, key, failures);
    if (st != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "no memory for the schema of %s", key);
    if (!schema_format_knows_zones() && strstr(text, "\"timezone\"") != NULL)
        respond_header(req, "X-Policy-Warning",
                       "names of time zones were not checked: the host has no tz database");
    return AZ_OK;
}

/* ---- answers ---- */

static enum az_status
respond_row(struct request *req, int status, const struct policy_row *row)
{
    respond_header(req, "ETag", talloc_asprintf(req->op.mem, "\"%s\"", row->digest));
    return respond_octets(req, status, "application/json", row->dto, strlen(row->dto));
}

static void
add_outcome(struct request *req, const struct save_outcome *outcome)
{
    respond_header(req, "X-Policy-Revision", outcome->revision);
    respond_header(req, "X-Policy-Activation", outcome->confirmed ? "confirmed" : "pending");
}

/* The row as it is now, which another writer may have changed since. */
static enum az_status
respond_saved(struct request *req, const char *key, const struct save_outcome *outcome)
{
    struct policy_row row = {.payload = NULL};
    enum az_status st = policy_data_fetch(&req->op, key, &row);
    if (st != AZ_OK)
        return st;
    add_outcome(req, outcome);
    if (row.payload == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "the row was deleted meanwhile");
    return respond_row(req, outcome->created ? 201 : 200, &row);
}

/* ---- the operations ---- */

enum az_status
policy_data_get_handle(struct request *req)
{
    struct policy_row row = {.payload = NULL};
    const char *key;
    enum az_status st = read_key(req, &key);
    if (st == AZ_OK)
        st = policy_data_fetch(&req->op, key, &row);
    if (st != AZ_OK)
        return st;
    return row.payload != NULL ? respond_row(req, 200, &row)
                               : op_fail(&req->op, AZ_NOT_FOUND, NULL, "no row %s", key);
}

static void
add_field_error(void *arg, const char *path, const char *why)
{
    request_field_error(arg, path, why);
}

/* The PolicyDataDto of a PUT: *ret_payload is the value of the JSON text in `payload`. */
static enum az_status
read_dto(struct request *req, const char *key, json_t **ret_payload)
{
    const size_t count = sizeof(policy_data_fields) / sizeof(policy_data_fields[0]);
    json_t *columns;
    const char *why = NULL;
    enum az_status st = fields_read(req->op.mem, policy_data_fields, count, req->json,
                                    add_field_error, req, &columns);
    const json_t *given = json_object_get(req->json, "dataKey"),
                 *text = json_object_get(req->json, "payload");
    if (json_is_string(given) && strcmp(json_string_value(given), key) != 0)
        st = invalid_field(req, "dataKey", "differs from the one in the query");
    if (json_string_length(text) > 0
        && jsonx_parse(req->op.mem, json_string_value(text), json_string_length(text),
                       POLICY_DATA_DEPTH_MAX, ret_payload, &why)
               != AZ_OK)
        st = invalid_field(
            req, "payload",
            talloc_asprintf(req->op.mem, "must be JSON text: %s", why != NULL ? why : "no memory"));
    return st == AZ_OK ? AZ_OK : op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}

/* Row and schema of a key that may be written. */
static enum az_status
fetch_target(struct request *req, const char *key, struct policy_row *row, const char **ret_schema)
{
    *row = (struct policy_row){.payload = NULL};
    *ret_schema = NULL;
    enum az_status st = policy_data_fetch(&req->op, key, row);
    if (st == AZ_OK)
        st = policy_schema_fetch(&req->op, key, ret_schema);
    return st == AZ_OK ? check_room(req, key, row, *ret_schema) : st;
}

static enum az_status
save(struct request *req, const struct data_change *change, struct save_outcome *ret)
{
    return save_data_row(&req->op, change, "policy-data", req->admin_label, ret);
}

enum az_status
policy_data_put_handle(struct request *req)
{
    struct policy_row row;
    struct save_outcome outcome = {.confirmed = false};
    const char *key = NULL, *schema, *digest = NULL;
    json_t *payload = NULL;
    enum az_status st = read_key(req, &key);
    if (st == AZ_OK)
        st = read_dto(req, key, &payload);
    if (st == AZ_OK)
        st = fetch_target(req, key, &row, &schema);
    if (st == AZ_OK)
        st = check_if_match(req, &row, &digest);
    if (st == AZ_OK)
        st = check_schema(req, key, schema, payload);
    if (st != AZ_OK)
        return st;
    const json_t *in_bundle = json_object_get(req->json, "inBundle");
    const struct data_change change = {
        .data_key = key,
        .payload = json_string_value(json_object_get(req->json, "payload")),
        .version = json_string_value(json_object_get(req->json, "version")),
        .in_bundle = json_is_boolean(in_bundle) ? json_is_true(in_bundle)
                                                : row.payload == NULL || row.in_bundle,
        .if_match = digest,
    };
    st = save(req, &change, &outcome);
    return st == AZ_OK ? respond_saved(req, key, &outcome) : st;
}

/* RFC 7396 is what is understood; a JSON Patch (RFC 6902) read as a merge patch would write
 * nonsense. */
static enum az_status
check_patch_type(struct request *req)
{
    static const char *const types[] = {"application/json", "application/merge-patch+json"};
    const char *type = req->io->variable(req->io, "CONTENT_TYPE");
    size_t length = type != NULL ? strcspn(type, "; \t") : 0;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (length == strlen(types[i]) && strncasecmp(type, types[i], length) == 0)
            return AZ_OK;
    return op_fail(&req->op, AZ_MEDIA_TYPE,
                   "The content type must be application/merge-patch+json or application/json",
                   NULL);
}

/* The payload with the patch laid over it, as compact text. */
static enum az_status
merge_payload(struct request *req, const struct policy_row *row, json_t **ret_value,
              const char **ret_text)
{
    json_t *stored = NULL;
    if (jsonx_parse(req->op.mem, row->payload, strlen(row->payload), POLICY_DATA_DEPTH_MAX, &stored,
                    NULL)
        != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the stored payload is not JSON");
    json_t *merged = jsonx_own(req->op.mem, merge_patch(stored, req->json));
    const char *text = merged != NULL ? jsonx_dump(req->op.mem, merged) : NULL;
    if (text == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "no memory for the patch");
    if (strlen(text) > POLICY_DATA_PAYLOAD_MAX)
        return op_fail(&req->op, AZ_TOO_LARGE, "The payload would become too large", NULL);
    *ret_value = merged;
    *ret_text = text;
    return AZ_OK;
}

/*
 * One reading, merging and writing. The write asks that the row still has the payload that was
 * read: two patches at a time must both be in the result. AZ_PRECONDITION_FAILED with *ret_again:
 * it has not, try again.
 */
static enum az_status
patch_once(struct request *req, const char *key, struct save_outcome *ret, bool *ret_again)
{
    struct policy_row row;
    const char *schema, *digest = NULL, *text = NULL;
    json_t *payload = NULL;
    enum az_status st = fetch_target(req, key, &row, &schema);
    if (st == AZ_OK && row.payload == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no row %s", key);
    if (st == AZ_OK)
        st = check_if_match(req, &row, &digest);
    if (st == AZ_OK)
        st = merge_payload(req, &row, &payload, &text);
    if (st == AZ_OK)
        st = check_schema(req, key, schema, payload);
    if (st != AZ_OK)
        return st;
    const struct data_change change = {
        .data_key = key,
        .payload = text,
        .in_bundle = row.in_bundle,
        .if_match = row.digest,
    };
    st = save(req, &change, ret);
    *ret_again = st == AZ_PRECONDITION_FAILED && digest == NULL;
    return st;
}

enum az_status
policy_data_patch_handle(struct request *req)
{
    struct save_outcome outcome = {.confirmed = false};
    const char *key = NULL;
    enum az_status st = check_patch_type(req);
    if (st == AZ_OK)
        st = read_key(req, &key);
    for (int i = 0; st == AZ_OK && i < PATCH_TRIES; i++) {
        bool again = false;
        if ((st = patch_once(req, key, &outcome, &again)) == AZ_OK)
            return respond_saved(req, key, &outcome);
        if (!again)
            return st;
        az_fault_clear(&req->op.fault);
        st = AZ_OK;
    }
    return st != AZ_OK ? st
                       : op_fail(&req->op, AZ_SAVE_IN_PROGRESS,
                                 "The row changes faster than it can be patched", NULL);
}

enum az_status
policy_data_delete_handle(struct request *req)
{
    struct policy_row row = {.payload = NULL};
    struct save_outcome outcome = {.confirmed = false};
    const char *key = NULL, *digest = NULL;
    enum az_status st = read_key(req, &key);
    if (st == AZ_OK)
        st = policy_data_fetch(&req->op, key, &row);
    if (st == AZ_OK && row.payload == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no row %s", key);
    if (st == AZ_OK)
        st = check_if_match(req, &row, &digest);
    const struct data_change change = {.data_key = key, .if_match = digest};
    if (st == AZ_OK)
        st = save(req, &change, &outcome);
    if (st != AZ_OK)
        return st;
    add_outcome(req, &outcome);
    return respond_empty(req, 204);
}
