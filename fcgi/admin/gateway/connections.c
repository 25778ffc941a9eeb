#include "config.h"

#include "admin/gateway/connections.h"

#include "store/gateway/connections.h"
#include "store/gateway/resources.h"

/* clang-format off */
const struct route_param connections_params[] = {
    {.name = "subject", .required = true, .help = "The person whose account is disconnected"},
    {.name = NULL},
};
/* clang-format on */

static enum az_status
need_resource(struct request *req)
{
    const struct managed_resource *resource = NULL;
    enum az_status st = resource_find(&req->op, req->path_value[0], &resource);
    return st == AZ_OK && resource == NULL ? op_fail(&req->op, AZ_NOT_FOUND, NULL, NULL) : st;
}

enum az_status
connections_list_handle(struct request *req)
{
    const char *array = NULL;
    enum az_status st = need_resource(req);
    if (st == AZ_OK)
        st = connections_of_resource(&req->op, req->path_value[0], &array);
    return st == AZ_OK ? respond_json_text(req, 200, array) : st;
}

enum az_status
connections_delete_handle(struct request *req)
{
    const char *subject = request_param(req, "subject");
    int64_t removed = 0;
    if (subject == NULL) {
        request_field_error(req, "subject", "is required");
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    }
    req->audit.subject_id = subject;
    enum az_status st = connections_remove(&req->op, req->path_value[0], subject, &removed);
    if (st != AZ_OK)
        return st;
    return removed > 0 ? respond_empty(req, 204) : op_fail(&req->op, AZ_NOT_FOUND, NULL, NULL);
}
