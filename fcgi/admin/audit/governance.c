#include "config.h"

#include "admin/audit/governance.h"

#include <string.h>

#include "admin/audit/audit_filter.h"
#include "base/iso8601.h"
#include "store/audit/read/governance.h"

/* clang-format off */
const struct route_param governance_params[] = {
    {.name = "from", .help = "First day, like 2026-01-31, in UTC"},
    {.name = "to", .help = "Last day, like 2026-01-31, in UTC; today if it is left out"},
    {.name = "clientId", .help = "Only decisions about this client"},
    {.name = NULL},
};
/* clang-format on */

/* Read a day, or take the default. */
static int64_t
governance_day(struct request *req, const char *name, int64_t otherwise_ms)
{
    const char *text = audit_filter_param(req, name);
    int64_t ms = otherwise_ms;
    if (text != NULL && iso8601_parse_day(text, strlen(text), &ms) != AZ_OK)
        request_field_error(req, name, "must be a day like 2026-01-31");
    return ms;
}

static const char *
format_day(TALLOC_CTX *mem, int64_t ms)
{
    char text[ISO8601_SIZE];
    if (iso8601_format(ms / 1000, text) != AZ_OK)
        return NULL;
    return talloc_strndup(mem, text, strlen("YYYY-MM-DD"));
}

enum az_status
governance_handle(struct request *req)
{
    const int64_t day = AUDIT_DAY * 1000, today = req->op.now_ms / day * day;
    const char *client_id = audit_filter_param(req, "clientId"), *report;
    int64_t to = governance_day(req, "to", today),
            from = governance_day(req, "from", to - (GOVERNANCE_DAYS - 1) * day);
    int64_t days = (to - from) / day + 1;
    if (client_id != NULL && strlen(client_id) > AUDIT_FILTER_TEXT_MAX)
        request_field_error(req, "clientId", "is too long");
    if (days < 1)
        request_field_error(req, "to", "must not be before from");
    if (days > GOVERNANCE_DAYS_MAX)
        request_field_error(req, "from",
                            talloc_asprintf(req->op.mem, "must be at most %d days before to",
                                            GOVERNANCE_DAYS_MAX - 1));
    if (req->error_body != NULL)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    const struct governance_period period = {.from = format_day(req->op.mem, from),
                                             .to = format_day(req->op.mem, to),
                                             .days = days,
                                             .client_id = client_id};
    if (period.from == NULL || period.to == NULL)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "The period is out of range", NULL);
    enum az_status st = governance_report(&req->op, &period, &report);
    return st == AZ_OK ? respond_json_text(req, 200, report) : st;
}
