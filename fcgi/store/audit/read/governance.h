/* The governance report: what policy decided in a period (gateway-admin.md 3.6). */
#ifndef AZ_STORE_AUDIT_READ_GOVERNANCE_H
#define AZ_STORE_AUDIT_READ_GOVERNANCE_H

#include "base/op.h"

/* Entries of each list of the report, and policy changes. */
#define GOVERNANCE_LIST_MAX 20

/* Up to so many days the trend has a point per day, beyond that one per week. */
#define GOVERNANCE_DAILY_MAX 92

/* The period: days as YYYY-MM-DD, both inclusive, in UTC. */
struct governance_period {
    const char *from, *to;
    int64_t days;          /* number of days */
    const char *client_id; /* NULL: all clients */
};

/* Read the report as JSON text on op->mem. Its totals, trend, clients and endpoints are of one
 * snapshot, so they add up; its reasons and hours may be of a moment later. One trip. */
enum az_status governance_report(struct op *op, const struct governance_period *period,
                                 const char **ret);

#endif
