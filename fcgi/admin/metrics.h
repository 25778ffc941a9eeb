/* GET /metrics: the counters of this host in Prometheus' text format (gateway-admin.md 7.1). */
#ifndef AZ_ADMIN_METRICS_H
#define AZ_ADMIN_METRICS_H

#include "http/request.h"

/* Answer GET /metrics in the text format of Prometheus (gateway-admin.md 7.1). */
enum az_status metrics_handle(struct request *req);

#endif
