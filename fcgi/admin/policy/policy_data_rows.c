/* Data rows: the list, new rows, and rows by id. */
#include "config.h"

#include "admin/policy/policy_data.h"
#include "admin/policy/policy_data_write.h"
#include "admin/policy/policy_refusal.h"
#include "admin/resource/resource.h"
#include "admin/resource/resource_body.h"

enum az_status
policy_data_list_handle(struct request *req)
{
    const char *list;
    enum az_status st = policy_data_list(&req->op, request_param(req, "dataKey"), &list);
    return st == AZ_OK ? respond_json_text(req, 200, list) : st;
}

enum az_status
policy_data_create_handle(struct request *req)
{
    struct policy_payload payload;
    struct policy_data_written written = {.data_key = NULL};
    enum az_status st = policy_payload_read(req, NULL, &payload);
    if (st != AZ_OK)
        return st;
    resource_note(req, "dataKey", payload.data_key);
    st = policy_data_put(req, &payload, true, NULL, &written);
    return st == AZ_OK ? policy_data_respond(req, &written, false) : st;
}

/* Read the row of the path's {id}. AZ_NOT_FOUND. */
static enum az_status
policy_data_row_fetch(struct request *req, struct policy_row *ret)
{
    int64_t id = 0;
    *ret = (struct policy_row){.payload = NULL};
    enum az_status st = path_id_read(req, &id);
    if (st == AZ_OK)
        st = policy_data_fetch_id(&req->op, id, ret);
    if (st == AZ_OK && ret->payload == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no row with this id");
    return st;
}

enum az_status
policy_data_row_get_handle(struct request *req)
{
    struct policy_row row;
    enum az_status st = policy_data_row_fetch(req, &row);
    return st == AZ_OK ? policy_respond(req, 200, row.dto, row.digest) : st;
}

static enum az_status
policy_data_row_try_put(struct request *req, void *arg, struct policy_data_written *ret)
{
    struct policy_payload payload;
    struct policy_row row;
    (void) arg;
    enum az_status st = policy_data_row_fetch(req, &row);
    if (st != AZ_OK)
        return st;
    resource_note(req, "dataKey", row.data_key);
    st = policy_payload_read(req, row.data_key, &payload);
    return st == AZ_OK ? policy_data_put(req, &payload, false, &row, ret) : st;
}

enum az_status
policy_data_row_put_handle(struct request *req)
{
    struct policy_data_written written;
    enum az_status st = policy_data_retry(req, policy_data_row_try_put, NULL, &written);
    return st == AZ_OK ? policy_data_respond(req, &written, false) : st;
}

static enum az_status
policy_data_row_try_delete(struct request *req, void *arg, struct policy_data_written *ret)
{
    struct policy_row row;
    (void) arg;
    enum az_status st = policy_data_row_fetch(req, &row);
    if (st != AZ_OK)
        return st;
    resource_note(req, "dataKey", row.data_key);
    return policy_data_remove(req, &row, ret);
}

enum az_status
policy_data_row_delete_handle(struct request *req)
{
    struct policy_data_written written;
    enum az_status st = policy_data_retry(req, policy_data_row_try_delete, NULL, &written);
    return st == AZ_OK ? policy_data_respond(req, &written, true) : st;
}
