#include "config.h"

#include "admin/admin_keys.h"

#include <string.h>

#include "base/iso8601.h"
#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/visible.h"
#include "store/people/admin_keys.h"

/* The label is shown in lists, and in the audit rows of requests with the key. */
static const char *
label_fault(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return visible_fault(json_string_value(value));
}

static const char *
end_fault(TALLOC_CTX *mem, const json_t *value)
{
    int64_t ms;
    const char *text = json_string_value(value);
    (void) mem;
    return iso8601_parse(text, strlen(text), &ms) == AZ_OK
               ? NULL
               : "must be a time like 2030-01-31T12:00:00Z";
}

struct admin_key_request {
    const char *label, *role, *expires_at;
};

/* clang-format off */
static const struct field admin_key_fields[] = {
    {"label",     FIELD_TEXT, .required = true, .max = ADMIN_KEY_LABEL_MAX, .rule = label_fault,
     FIELD_INTO(struct admin_key_request, label), .help = "Name of the key in the audit log",
     .example = "\"deploy-robot\""},
    {"role",      FIELD_TEXT, .words = admin_role_words, FIELD_INTO(struct admin_key_request, role),
     .help = "auditor: reads and asks policy; operator: writes too, but no keys; owner: "
             "everything. Absent: owner", .example = "\"operator\""},
    {"expiresAt", FIELD_TEXT, .max = FIELD_WORD_MAX, .rule = end_fault,
     FIELD_INTO(struct admin_key_request, expires_at),
     .help = "End of the key, in the future; absent: it is valid until it is revoked",
     .example = "\"2099-01-31T12:00:00Z\""},
};
/* clang-format on */

const struct field_table admin_key_table = FIELD_TABLE("AdminApiKeyRequest", admin_key_fields, 0);

/* Answer with a key: its view, or an empty object, and the plaintext. */
static enum az_status
respond_key(struct request *req, int status, json_t *body, const char *plaintext)
{
    json_t *shown = json_string(plaintext);
    bool whole = body != NULL && json_object_set(body, "key", shown) == 0;
    enum az_status st = respond_json(req, status, whole ? body : NULL);
    resource_wipe_json(shown);
    json_decref(shown);
    return st;
}

/* Read the body. A key without a role is an owner's (specification 5.1). */
static enum az_status
read_wish(struct request *req, struct admin_key_wish *ret)
{
    struct admin_key_request given = {.role = admin_role_word(ADMIN_ROLE_OWNER)};
    enum az_status st = resource_read_fields(req, &admin_key_table, &given);
    *ret = (struct admin_key_wish){
        .label = given.label, .role = given.role, .created_by = req->admin.label};
    if (st != AZ_OK || given.expires_at == NULL)
        return st;
    st = iso8601_parse(given.expires_at, strlen(given.expires_at), &ret->expires_ms);
    return st == AZ_OK && ret->expires_ms > req->op.now_ms
               ? AZ_OK
               : request_invalid_field(req, "expiresAt", "must be in the future");
}

enum az_status
admin_key_create_handle(struct request *req)
{
    struct op *op = &req->op;
    struct admin_key_wish wish;
    struct json_shown shown = {.dto = NULL};
    const char *plaintext, *id;
    json_t *body = NULL;
    enum az_status st = read_wish(req, &wish);
    if (st == AZ_OK)
        st = admin_key_mint(op, &wish, &plaintext, &id);
    if (st != AZ_OK)
        return st;
    resource_note(req, "adminKey", id);
    if ((st = json_rows_fetch(op, &admin_key_rows, id, &shown)) != AZ_OK)
        return st;
    if (shown.dto == NULL
        || jsonx_parse(op->mem, shown.dto, strlen(shown.dto), HTTP_JSON_DEPTH_MAX, &body, NULL)
               != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "cannot read back the stored admin key");
    return respond_key(req, 201, body, plaintext);
}

enum az_status
admin_key_delete_handle(struct request *req)
{
    resource_note(req, "adminKey", req->path_value[0]);
    enum az_status st = admin_key_revoke(&req->op, req->path_value[0]);
    return st == AZ_OK ? respond_empty(req, 204) : st;
}

enum az_status
admin_key_plaintext_handle(struct request *req)
{
    const char *plaintext = NULL;
    resource_note(req, "adminKey", req->path_value[0]);
    enum az_status st = admin_key_reveal(&req->op, req->path_value[0], &plaintext);
    return st == AZ_OK ? respond_key(req, 200, jsonx_own(req->op.mem, json_object()), plaintext)
                       : st;
}
