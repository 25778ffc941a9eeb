/* POST /admin/api/identity-providers/check: ask an identity provider without storing it
 * (gateway-admin.md 3.6). */
#ifndef AZ_ADMIN_PEOPLE_IDENTITY_PROVIDER_CHECK_H
#define AZ_ADMIN_PEOPLE_IDENTITY_PROVIDER_CHECK_H

#include "base/json/fields.h"
#include "http/route.h"

extern const struct field_table answer_provider_check;

/* Check an IdentityProviderDto as a POST does, fetch its discovery document and its keys, and
 * answer 200 with what was found; 400 with fieldErrors. Nothing is stored or kept. */
enum az_status identity_provider_check_handle(struct request *req);

#endif
