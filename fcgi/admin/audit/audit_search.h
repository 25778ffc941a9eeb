/* GET /admin/api/audit-logs/search: rows from a place on, for logs of any size
 * (gateway-admin.md 3.6). */
#ifndef AZ_ADMIN_AUDIT_AUDIT_SEARCH_H
#define AZ_ADMIN_AUDIT_AUDIT_SEARCH_H

#include "http/route.h"

/* Rows of an answer: by default, as the console shows, and at most. */
#define AUDIT_SEARCH_SIZE 50
#define AUDIT_SEARCH_SIZE_MAX 200

/* Milliseconds after which no further step of the walk begins. A step takes some 30 ms where no
 * index knows the filter, so an answer comes within 100 ms, perhaps with few rows or none. */
#define AUDIT_SEARCH_MS 50

extern const struct route_param audit_search_params[];

/* Answer 200 {content, next}; 400 with fieldErrors. `next` is the value of `after` that goes on; it
 * is absent if nothing is left. */
enum az_status audit_search_handle(struct request *req);

#endif
