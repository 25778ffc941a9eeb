/* GET /admin/api/controls, /settings and /{id}: the settings of policy and its answers
 * (specification 4.12; policy.md 6.4). */
#ifndef AZ_ADMIN_POLICY_CONTROLS_H
#define AZ_ADMIN_POLICY_CONTROLS_H

#include "http/route.h"

/* Answer with the catalogue of controls, with the rows that set them, and with one control. */
enum az_status controls_list_handle(struct request *req);
enum az_status controls_settings_handle(struct request *req);
enum az_status control_get_handle(struct request *req);

#endif
