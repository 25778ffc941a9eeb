/* /admin/api/identity-providers (specification 2.3, 4.12). */
#ifndef AZ_ADMIN_IDENTITY_PROVIDERS_H
#define AZ_ADMIN_IDENTITY_PROVIDERS_H

#include "admin/resource/resource.h"

extern const struct admin_resource identity_providers_resource;

#endif
