/* The admin key: header X-Admin-API-Key (specification 5). Every key is full admin access. */
#ifndef AZ_ADMIN_CREDENTIAL_H
#define AZ_ADMIN_CREDENTIAL_H

#include "http/route.h"

/* Octets of a key. Ours have 80; a configured one may be longer, but nothing this long is looked
 * up. */
#define ADMIN_KEY_TEXT_MAX 1024

/*
 * Missing, unknown or revoked: 401. Valid while SVC_ADMIN_ENABLED is false: 404, and only for who
 * has a key, so that nobody else learns that it is off. SVC_ALLOW_INSECURE_DEV_KEY asks for none.
 */
extern const struct route_credential credential_admin;

#endif
