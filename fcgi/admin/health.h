/* GET /health/live and /health/ready (gateway-admin.md 7.1). */
#ifndef AZ_ADMIN_HEALTH_H
#define AZ_ADMIN_HEALTH_H

#include "http/route.h"

/* Answer that the process runs, and if it can serve: 200 or 503 with the parts (gateway-admin.md
 * 7). */
enum az_status health_live_handle(struct request *req);
enum az_status health_ready_handle(struct request *req);

/* Return the checks of this instance that fail now, or failed within the last second, as entries of
 * the list of what needs attention ({kind: not_ready, name, status, detail}), on op->mem. NULL: no
 * memory. */
json_t *health_faults(struct op *op);

#endif
