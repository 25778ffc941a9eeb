/* GET /admin/api/governance/report: what policy decided in a period (gateway-admin.md 3.6). */
#ifndef AZ_ADMIN_AUDIT_GOVERNANCE_H
#define AZ_ADMIN_AUDIT_GOVERNANCE_H

#include "http/route.h"

/* Days of a report: by default, and at most. Housekeeping keeps the numbers for as long. */
#define GOVERNANCE_DAYS 30
#define GOVERNANCE_DAYS_MAX 366

extern const struct route_param governance_params[];

/* 200 with the report; 400 with fieldErrors. */
enum az_status governance_handle(struct request *req);

#endif
