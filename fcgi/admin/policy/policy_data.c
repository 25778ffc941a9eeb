#include "config.h"

#include "admin/policy/policy_data.h"

#include <string.h>

#include "admin/policy/impact_limits.h"
#include "admin/policy/policy_data_write.h"
#include "admin/policy/policy_refusal.h"
#include "admin/resource/resource.h"
#include "http/form.h"
#include "http/header_value.h"
#include "policy/rows/data_check.h"

/* clang-format off */
const struct route_param policy_data_params[] = {
    {.name = "dataKey", .help = "Only the row of this key"},
    {.name = NULL}
};
const struct route_param policy_data_key_params[] = {
    {.name = "dataKey", .required = true, .help = "Key of the row"},
    {.name = NULL}
};
const struct route_param policy_data_save_params[] = {
    {.name = "dataKey", .required = true, .help = "Key of the row"},
    SAVE_PARAMS,
    {.name = NULL}
};
/* clang-format on */

static enum az_status
policy_data_read_key(struct request *req, const char **ret_key)
{
    const char *key = request_param(req, "dataKey"), *why = policy_data_key_fault(key);
    if (why != NULL)
        return request_invalid_field(req, "dataKey", why);
    resource_note(req, "dataKey", key);
    *ret_key = key;
    return AZ_OK;
}

static enum az_status
policy_data_missing(struct request *req, const char *key)
{
    return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no row %s", key);
}

enum az_status
policy_data_get_handle(struct request *req)
{
    struct policy_row row = {.payload = NULL};
    const char *key = NULL;
    enum az_status st = policy_data_read_key(req, &key);
    if (st == AZ_OK)
        st = policy_data_fetch(&req->op, key, &row);
    if (st != AZ_OK)
        return st;
    return row.payload != NULL ? policy_respond(req, 200, row.dto, row.digest)
                               : policy_data_missing(req, key);
}

enum az_status
policy_data_schema_handle(struct request *req)
{
    const char *key = NULL, *schema = NULL;
    enum az_status st = policy_data_read_key(req, &key);
    if (st == AZ_OK)
        st = policy_schema_fetch(&req->op, key, &schema);
    if (st != AZ_OK)
        return st;
    if (schema == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no schema for %s", key);
    return respond_json_text(req, 200, schema);
}

enum az_status
policy_data_put_handle(struct request *req)
{
    struct policy_payload payload;
    struct policy_data_written written = {.data_key = NULL};
    const char *key = NULL;
    enum az_status st = policy_data_read_key(req, &key);
    if (st == AZ_OK)
        st = policy_payload_read(req, key, &payload);
    if (st == AZ_OK)
        st = policy_data_put(req, &payload, false, NULL, &written);
    return st == AZ_OK ? policy_data_respond(req, &written, false) : st;
}

/* A patch and the key of its row. */
struct patch_request {
    const char *key;
    json_t *patch;
};

static enum az_status
policy_data_try_patch(struct request *req, void *arg, struct policy_data_written *ret)
{
    const struct patch_request *given = arg;
    struct policy_row row;
    const char *schema = NULL, *text = NULL;
    json_t *payload = NULL;
    enum az_status st = policy_payload_target(req, given->key, &row, &schema);
    if (st == AZ_OK && row.payload == NULL)
        return policy_data_missing(req, given->key);
    if (st == AZ_OK)
        st = request_if_match(req, row.digest);
    if (st == AZ_OK)
        st = policy_patch_apply(req, &row, given->patch, &payload, &text);
    if (st == AZ_OK)
        st = policy_payload_check(req, given->key, schema, payload);
    if (st != AZ_OK)
        return st;
    const struct data_change change = {
        .data_key = given->key,
        .payload = text,
        .in_bundle = row.in_bundle,
        .if_match = row.digest,
    };
    ret->warning = data_check_warning(schema);
    return policy_data_save(req, &change, true, ret);
}

enum az_status
policy_data_patch_handle(struct request *req)
{
    struct patch_request given = {.key = NULL};
    struct policy_data_written written;
    enum az_status st = policy_patch_read(req, &given.patch);
    if (st == AZ_OK)
        st = request_parse_form(req, req->query, strlen(req->query));
    if (st == AZ_OK)
        st = policy_data_read_key(req, &given.key);
    if (st == AZ_OK)
        st = policy_data_retry(req, policy_data_try_patch, &given, &written);
    return st == AZ_OK ? policy_data_respond(req, &written, false) : st;
}

static enum az_status
policy_data_try_delete(struct request *req, void *arg, struct policy_data_written *ret)
{
    const char *key = arg;
    struct policy_row row = {.payload = NULL};
    enum az_status st = policy_data_fetch(&req->op, key, &row);
    if (st == AZ_OK && row.payload == NULL)
        return policy_data_missing(req, key);
    return st == AZ_OK ? policy_data_remove(req, &row, ret) : st;
}

enum az_status
policy_data_delete_handle(struct request *req)
{
    struct policy_data_written written;
    const char *key = NULL;
    enum az_status st = policy_data_read_key(req, &key);
    if (st == AZ_OK)
        st = policy_data_retry(req, policy_data_try_delete, (void *) (uintptr_t) key, &written);
    return st == AZ_OK ? policy_data_respond(req, &written, true) : st;
}
