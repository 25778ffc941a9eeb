#include "config.h"

#include "admin/resource/resource_page.h"

#include <string.h>

#include "admin/resource/page_place.h"
#include "admin/resource/resource.h"

static const struct page_limits limits = {RESOURCE_PAGE_SIZE, RESOURCE_PAGE_SIZE_MAX,
                                          RESOURCE_PAGE_OFFSET_MAX, "a filter"};

/* Read the filters: values of the path first, then those of the query. Return their number. */
static int
read_filters(struct request *req, const char **filters)
{
    int count = 0;
    for (const char *at = req->route->path; (at = strchr(at, '{')) != NULL; at++, count++)
        filters[count] = req->path_value[count];
    for (const struct route_param *param = req->route->params;
         param->name != NULL && count < DB_PARAMS_MAX; param++)
        if (strcmp(param->name, "page") != 0 && strcmp(param->name, "size") != 0)
            filters[count++] = page_filter_read(req, param);
    return count;
}

enum az_status
resource_page_handle(struct request *req)
{
    const struct admin_resource *resource = req->route->arg;
    const char *filters[DB_PARAMS_MAX];
    struct json_page page = {.array = NULL};
    bool paged = request_param(req, "page") != NULL || request_param(req, "size") != NULL;
    const struct page_place place = page_place_read(req, &limits);
    int count = read_filters(req, filters);
    if (req->error_body != NULL)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    page.limit = paged ? place.size : resource->list_max;
    page.offset = paged ? place.number * place.size : 0;
    enum az_status st = json_rows_page(&req->op, resource->rows, filters, count, &page);
    if (st == AZ_OK && resource->show != NULL)
        st = resource->show(&req->op, NULL, &page.array);
    if (st != AZ_OK)
        return st;
    respond_header(req, "X-Total-Count",
                   talloc_asprintf(req->op.mem, "%lld", (long long) page.total));
    return respond_json_text(req, 200, page.array);
}
