#include "config.h"

#include "admin/gateway/connections.h"

#include "admin/resource/resource_page.h"
#include "store/gateway/connections.h"
#include "store/gateway/connections_list.h"
#include "store/gateway/resources.h"

/* clang-format off */
const struct route_param connections_params[] = {
    {.name = "subject", .required = true, .help = "The person whose account is disconnected"},
    {.name = NULL},
};
const struct route_param connections_list_params[] = {
    {.name = "subject", .help = "Only those of this person"},
    {.name = "status", .words = connection_statuses, .help = "Only those with this status"},
    {.name = "idpId", .help = "Only those of people of this identity provider"},
    RESOURCE_PAGE_PARAMS,
    {.name = NULL},
};
const struct route_param connections_all_params[] = {
    {.name = "resource", .help = "Only those with this managed resource"},
    {.name = "subject", .help = "Only those of this person"},
    {.name = "status", .words = connection_statuses, .help = "Only those with this status"},
    {.name = "idpId", .help = "Only those of people of this identity provider"},
    RESOURCE_PAGE_PARAMS,
    {.name = NULL},
};
/* clang-format on */

const struct admin_resource connections_resource = {.rows = &connection_rows,
                                                    .list_max = CONNECTIONS_LISTED_MAX};

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
    enum az_status st = need_resource(req);
    return st == AZ_OK ? resource_page_handle(req) : st;
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
