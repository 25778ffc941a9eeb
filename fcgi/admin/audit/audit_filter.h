/* The filters of the audit log, as parameters of a query. */
#ifndef AZ_ADMIN_AUDIT_AUDIT_FILTER_H
#define AZ_ADMIN_AUDIT_AUDIT_FILTER_H

#include "http/route.h"
#include "store/audit/read/rows.h"

/* Longest filters, in octets. A longer one matches nothing. */
#define AUDIT_FILTER_TEXT_MAX 512

/* The values of the filter `outcome`, ending with NULL. */
extern const char *const audit_filter_outcomes[];

/* The parameters that a page and an export share, for a list of struct route_param. */
/* clang-format off */
#define AUDIT_FILTER_PARAMS \
    {.name = "endpoint", .help = "Only rows of this endpoint"}, \
    {.name = "clientId", .help = "Only rows of this client"}, \
    {.name = "subjectId", .help = "Only rows of this user"}, \
    {.name = "outcome", .words = audit_filter_outcomes, .help = "Only rows with this outcome"}, \
    {.name = "flowId", .help = "Only rows of this flow, a UUID"}, \
    {.name = "requestId", .help = "Only the row of this request"}
#define AUDIT_FILTER_SEARCH \
    {.name = "operation", .help = "Only rows of this operation"}, \
    {.name = "status", .min = 100, .max = 599, .help = "Only rows with this HTTP status"}, \
    {.name = "reason", .help = "Only denials with this code"}, \
    {.name = "resource", \
     .help = "Only calls of this managed resource, and denials for this resource"}, \
    {.name = "tool", .help = "Only calls of this tool"}, \
    {.name = "ip", .help = "Only rows of this address"}, \
    {.name = "object", \
     .help = "Only requests to this API about this client, provider, resource, rule, row or key"}
#define AUDIT_FILTER_INSTANTS \
    {.name = "fromInstant", .help = "First time, like 2026-01-31T12:00:00Z"}, \
    {.name = "toInstant", .help = "Time before which the rows were written"}
#define AUDIT_FILTER_DAYS \
    {.name = "from", .help = "First day, like 2026-01-31, in UTC"}, \
    {.name = "to", .help = "Last day, like 2026-01-31, in UTC"}
/* clang-format on */

/* Seconds of a day. */
#define AUDIT_DAY 86400LL

/*
 * Read the filters of the request. Unknown parameters are ignored, an empty one counts as absent,
 * and every fault is in the answer's fieldErrors. `from` and `to` are days (UTC), both inclusive;
 * `fromInstant` is inclusive and `toInstant` is not. A reason stands for the outcome denied.
 */
enum az_status audit_filter_read(struct request *req, struct audit_filter *ret);

/* Return the fault of a flow id, which is a UUID of 8-4-4-4-12 hexadecimal digits, or NULL. */
const char *audit_filter_flow_fault(const char *text);

/* Return the value of a parameter, or NULL if absent or empty. */
const char *audit_filter_param(const struct request *req, const char *name);

#endif
