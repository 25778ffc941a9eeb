/* GET /health/live and /health/ready (gateway-admin.md 7.1). */
#ifndef AZ_ADMIN_HEALTH_H
#define AZ_ADMIN_HEALTH_H

#include "http/route.h"

enum az_status health_live_handle(struct request *req);
enum az_status health_ready_handle(struct request *req);

#endif
