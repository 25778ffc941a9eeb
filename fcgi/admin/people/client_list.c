#include "config.h"

#include "admin/people/client_list.h"

#include "admin/resource/page_place.h"
#include "base/words.h"
#include "store/clients/clients_admin.h"

static const char *const registrations[] = {"ADMIN", "DCR", "STATEMENT", "CIMD", NULL};
static const char *const types[] = {"confidential", "public", NULL};
static const char *const states[] = {"true", "false", NULL};

/* clang-format off */
const struct route_param clients_list_params[] = {
    {.name = "q", .help = "Only clients with this text in the id or the name, in any case"},
    {.name = "registrationType", .words = registrations, .help = "Only clients that were made in this way"},
    {.name = "clientType", .words = types, .help = "Only clients of this type"},
    {.name = "enabled", .words = states, .help = "Only clients that are enabled, or are not"},
    {.name = "page", .max = INT32_MAX, .help = "Number of the page, from 0; without page and size all clients"},
    {.name = "size", .min = 1, .max = CLIENTS_SIZE_MAX, .help = "Clients of a page"},
    {.name = NULL},
};
/* clang-format on */

static const struct page_limits clients_limits = {CLIENTS_SIZE, CLIENTS_SIZE_MAX,
                                                  CLIENTS_OFFSET_MAX, "a filter"};

/* Return the value of a filter; NULL: absent or empty. Any other word than those of the parameter
 * is a fault. */
static const char *
read_filter(struct request *req, const struct route_param *param)
{
    const char *value = request_param(req, param->name);
    if (value == NULL || *value == '\0')
        return NULL;
    if (param->words != NULL && !words_has(param->words, value))
        request_field_error(req, param->name, "is none of the values that there are");
    return value;
}

enum az_status
clients_list_handle(struct request *req)
{
    const struct route_param *params = clients_list_params;
    const struct clients_filter filter = {
        .text = read_filter(req, &params[0]),
        .registration_type = read_filter(req, &params[1]),
        .client_type = read_filter(req, &params[2]),
        .enabled = read_filter(req, &params[3]),
    };
    bool paged = request_param(req, "page") != NULL || request_param(req, "size") != NULL;
    const struct page_place page = page_place_read(req, &clients_limits);
    struct clients_found found;
    if (req->error_body != NULL)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    enum az_status st = clients_page(&req->op, &filter, paged ? page.size : 0,
                                     paged ? page.number * page.size : 0, &found);
    if (st != AZ_OK)
        return st;
    respond_header(req, "X-Total-Count",
                   talloc_asprintf(req->op.mem, "%lld", (long long) found.total));
    return respond_json_text(req, 200, found.array);
}
