/* The admin key: header X-Admin-API-Key (specification 5). Every key grants full access. */
#ifndef AZ_ADMIN_CREDENTIAL_H
#define AZ_ADMIN_CREDENTIAL_H

#include "http/route.h"

/* Longest key that is looked up, in octets. Keys that the service makes have 80; a configured one
 * may be longer. */
#define ADMIN_KEY_TEXT_MAX 1024

/*
 * 401 for a missing, unknown or revoked key; 404 for a valid one while SVC_ADMIN_ENABLED is false,
 * so that only a caller with a key learns that the API is off. With SVC_ALLOW_INSECURE_DEV_KEY no
 * key is needed. The operator of az->by_operator needs neither a key nor the setting: authzctl sets
 * it in its own process, and a request cannot set it.
 */
extern const struct route_credential credential_admin;

#endif
