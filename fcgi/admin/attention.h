/* GET /admin/api/attention (gateway-admin.md 3.8). */
#ifndef AZ_ADMIN_ATTENTION_H
#define AZ_ADMIN_ATTENTION_H

#include "http/route.h"

/* List what an operator should look at: the checks of readiness that fail on the instance that
 * answers come first, then resources that are served in part, then what the
 * database knows. */
enum az_status attention_list_handle(struct request *req);

#endif
