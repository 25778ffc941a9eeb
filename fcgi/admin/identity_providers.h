/* /admin/api/identity-providers: whom people sign in with (specification 2.3, 4.12; oauth.md 5). */
#ifndef AZ_ADMIN_IDENTITY_PROVIDERS_H
#define AZ_ADMIN_IDENTITY_PROVIDERS_H

#include "http/route.h"

enum az_status identity_providers_list_handle(struct request *req);
enum az_status identity_providers_create_handle(struct request *req);
enum az_status identity_provider_get_handle(struct request *req);
enum az_status identity_provider_put_handle(struct request *req);
enum az_status identity_provider_delete_handle(struct request *req);

#endif
