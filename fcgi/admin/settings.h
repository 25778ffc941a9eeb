/* GET /admin/api/settings: the settings in force, with their origin; of a secret, that it is set.
 */
#ifndef AZ_ADMIN_SETTINGS_H
#define AZ_ADMIN_SETTINGS_H

#include "http/route.h"

/* Answer 200 with the version and the settings. */
enum az_status settings_list_handle(struct request *req);

/* The answer. */
extern const struct field_table answer_settings;

#endif
