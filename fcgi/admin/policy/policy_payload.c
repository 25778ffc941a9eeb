#include "config.h"

#include "admin/policy/policy_payload.h"

#include <string.h>

#include "admin/policy/policy_refusal.h"
#include "base/json/field_rules.h"
#include "base/json/fields.h"
#include "base/json/jsonx.h"
#include "base/json/merge_patch.h"
#include "http/form.h"
#include "http/route.h"
#include "policy/rows/data_check.h"
#include "policy/rows/data_key.h"
#include "policy/save/deploy/save_data.h"

/* ---- PolicyDataDto ---- */

static const char *
policy_payload_key_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return policy_data_key_fault(json_string_value(value));
}

/* clang-format off */
static const struct field policy_payload_fields[] = {
    {"id",                 FIELD_READ_ONLY, .shown = FIELD_INTEGER, .help = "Number of the row"},
    {"dataKey",            FIELD_TEXT,      .max = POLICY_DATA_KEY_MAX,
     .rule = policy_payload_key_rule,
     .help = "Path of the value in the data of policy; required in a POST",
     .example = "\"example.limits\""},
    {"payload",            FIELD_TEXT,      .required = true, .help = "The value, as JSON text",
     .example = "\"{\\\"orders\\\": 100}\""},
    {"version",            FIELD_TEXT,      .max = FIELD_WORD_MAX,
     .help = "Text of the caller; policy does not read it", .example = "\"1\""},
    {"inBundle",           FIELD_BOOLEAN, .help = "Policy can read the row", .example = "true"},
    {"updatedAt",          FIELD_READ_ONLY, .help = "Time of the last change"},
    {"updatedAtFormatted", FIELD_READ_ONLY, .help = "The same time for people"},
};
const struct field_table policy_payload_table = FIELD_TABLE("PolicyDataDto", policy_payload_fields,
                                                            0);
/* clang-format on */

/* Parse the JSON text in `payload`; the fault of an empty text was told before. */
static enum az_status
policy_payload_read_value(struct request *req, const json_t *text, json_t **ret)
{
    const char *why = NULL;
    if (json_string_length(text) == 0
        || jsonx_parse(req->op.mem, json_string_value(text), json_string_length(text),
                       POLICY_DATA_DEPTH_MAX, ret, &why)
               == AZ_OK)
        return AZ_OK;
    return request_invalid_field(
        req, "payload",
        talloc_asprintf(req->op.mem, "must be JSON text: %s", why != NULL ? why : "out of memory"));
}

static enum az_status
policy_payload_check_key(struct request *req, const char *wanted, const char *given)
{
    if (wanted == NULL && given == NULL)
        return request_invalid_field(req, "dataKey", "is required");
    if (wanted != NULL && given != NULL && strcmp(wanted, given) != 0)
        return request_invalid_field(req, "dataKey", "differs from the dataKey of the row");
    return AZ_OK;
}

enum az_status
policy_payload_read(struct request *req, const char *key, struct policy_payload *ret)
{
    const json_t *in_bundle = json_object_get(req->json, "inBundle"),
                 *text = json_object_get(req->json, "payload");
    const char *given = json_string_value(json_object_get(req->json, "dataKey"));
    json_t *value = NULL;
    enum az_status st = fields_read(req->op.mem, &policy_payload_table, req->json,
                                    request_field_fault, req, NULL, NULL);
    if (st == AZ_SERVER_ERROR)
        return op_fail(&req->op, st, NULL, "out of memory");
    enum az_status key_st = policy_payload_check_key(req, key, given),
                   value_st = policy_payload_read_value(req, text, &value);
    if (st != AZ_OK || key_st != AZ_OK || value_st != AZ_OK)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    *ret = (struct policy_payload){
        .data_key = key != NULL ? key : given,
        .text = json_string_value(text),
        .value = value,
        .version = json_string_value(json_object_get(req->json, "version")),
        .has_in_bundle = json_is_boolean(in_bundle),
        .in_bundle = json_is_true(in_bundle),
    };
    return AZ_OK;
}

/* ---- patches ---- */

enum az_status
policy_patch_read(struct request *req, json_t **ret_patch)
{
    const char *type = req->io->variable(req->io, "CONTENT_TYPE"), *why = NULL;
    json_t *patch;
    /* A JSON Patch (RFC 6902) read as a merge patch would write nonsense, so the type decides. */
    if (!request_media_type_is(type, "application/merge-patch+json")
        && !request_media_type_is(type, "application/json"))
        return op_fail(&req->op, AZ_MEDIA_TYPE,
                       "The content type must be application/merge-patch+json or application/json",
                       NULL);
    if (jsonx_parse(req->op.mem, req->body, req->body_length, POLICY_DATA_DEPTH_MAX, &patch, &why)
        != AZ_OK)
        return op_fail(&req->op, AZ_INVALID_FIELDS,
                       talloc_asprintf(req->op.mem, "The body is not valid JSON: %s",
                                       why != NULL ? why : "out of memory"),
                       NULL);
    if (!json_is_object(patch))
        return op_fail(&req->op, AZ_INVALID_FIELDS, "The body must be a JSON object", NULL);
    *ret_patch = patch;
    return AZ_OK;
}

enum az_status
policy_patch_apply(struct request *req, const struct policy_row *row, const json_t *patch,
                   json_t **ret_value, const char **ret_text)
{
    json_t *stored = NULL;
    if (jsonx_parse(req->op.mem, row->payload, strlen(row->payload), POLICY_DATA_DEPTH_MAX, &stored,
                    NULL)
        != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the stored payload is not JSON");
    json_t *value = jsonx_own(req->op.mem, merge_patch(stored, patch));
    const char *text = value != NULL ? jsonx_dump(req->op.mem, value) : NULL;
    if (text == NULL)
        return op_no_memory(&req->op);
    if (strlen(text) > POLICY_DATA_PAYLOAD_MAX)
        return op_fail(&req->op, AZ_TOO_LARGE, "The patched payload would be too large", NULL);
    *ret_value = value;
    *ret_text = text;
    return AZ_OK;
}

/* ---- checks ---- */

enum az_status
policy_payload_target(struct request *req, const char *key, struct policy_row *ret,
                      const char **ret_schema)
{
    struct policy_row row = {.payload = NULL};
    const char *schema = NULL;
    enum az_status st = policy_data_fetch(&req->op, key, &row);
    if (st == AZ_OK)
        st = policy_schema_fetch(&req->op, key, &schema);
    if (st != AZ_OK)
        return st;
    switch (save_key_owner(key, schema != NULL || row.payload != NULL)) {
    case SAVE_OWNER_ENGINE:
        return op_fail(&req->op, AZ_CONFLICT, "The key system belongs to the policy engine", NULL);
    case SAVE_OWNER_SERVICE:
        return op_fail(&req->op, AZ_PROTECTED, "Keys below svc belong to the service", NULL);
    case SAVE_OWNER_NONE:
        break;
    }
    *ret = row;
    *ret_schema = schema;
    return AZ_OK;
}

enum az_status
policy_payload_check(struct request *req, const char *key, const char *schema,
                     const json_t *payload)
{
    json_t *failures = NULL;
    enum az_status st = data_check(&req->op, key, schema, payload, &failures);
    if (st == AZ_UNPROCESSABLE)
        req->error_body =
            jsonx_own(req->op.mem, json_pack("{s:s,s:O}", "dataKey", key, "failures", failures));
    return st;
}
