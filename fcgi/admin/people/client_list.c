#include "config.h"

#include "admin/people/client_list.h"

#include <string.h>

#include "admin/resource/page_place.h"
#include "base/iso8601.h"
#include "store/clients/clients_admin.h"

static const char *const registrations[] = {"ADMIN", "DCR", "STATEMENT", "CIMD", NULL};
static const char *const types[] = {"confidential", "public", NULL};
static const char *const states[] = {"true", "false", NULL};

/* Orders; with a dash the other way round. */
static const char *const sorts[] = {"createdAt",  "-createdAt",  "clientId",   "-clientId",
                                    "clientName", "-clientName", "lastUsedAt", "-lastUsedAt",
                                    "-denied24h", NULL};

/* clang-format off */
const struct route_param clients_list_params[] = {
    {.name = "q", .help = "Only clients with this text in the id or the name, in any case"},
    {.name = "registrationType", .words = registrations,
     .help = "Only clients that were made in this way"},
    {.name = "clientType", .words = types, .help = "Only clients of this type"},
    {.name = "enabled", .words = states, .help = "Only clients that are enabled, or are not"},
    {.name = "sort", .words = sorts,
     .help = "Order of the clients: as they were made by default; with a dash the other way round"},
    {.name = "usedSince",
     .help = "Only clients with a request since this time, like 2026-01-31T12:00:00Z"},
    {.name = "page", .max = INT32_MAX,
     .help = "Number of the page, from 0; without page and size all clients"},
    {.name = "size", .min = 1, .max = CLIENTS_SIZE_MAX, .help = "Clients of a page"},
    {.name = NULL},
};
/* clang-format on */

static const struct page_limits clients_limits = {CLIENTS_SIZE, CLIENTS_SIZE_MAX,
                                                  CLIENTS_OFFSET_MAX, "a filter"};

/* Read the time since which the clients were used, if it is given. */
static void
read_used_since(struct request *req, struct clients_filter *filter)
{
    const char *text = request_param(req, "usedSince");
    if (text == NULL || *text == '\0')
        return;
    filter->has_used_since = iso8601_parse(text, strlen(text), &filter->used_since_ms) == AZ_OK;
    if (!filter->has_used_since)
        request_field_error(req, "usedSince", "must be a date-time like 2026-01-31T12:00:00Z");
}

enum az_status
clients_list_handle(struct request *req)
{
    const struct route_param *params = clients_list_params;
    struct clients_filter filter = {
        .text = page_filter_read(req, &params[0]),
        .registration_type = page_filter_read(req, &params[1]),
        .client_type = page_filter_read(req, &params[2]),
        .enabled = page_filter_read(req, &params[3]),
        .sort = page_filter_read(req, &params[4]),
    };
    read_used_since(req, &filter);
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
