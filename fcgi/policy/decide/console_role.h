/* The row svc.operator.controls.console: which people may use the console, and in which role
 * (gateway-admin.md 3.9). Pure. */
#ifndef AZ_POLICY_DECIDE_CONSOLE_ROLE_H
#define AZ_POLICY_DECIDE_CONSOLE_ROLE_H

#include <jansson.h>

#include "store/people/admin_keys.h"

/*
 * Return the highest role that the row gives to a person with these claims who signed in at the
 * provider `idp_id`. ADMIN_ROLE_NONE if there is no role, or if the row or the claims are missing
 * or broken. The claim email counts only with email_verified, since anybody may claim an address.
 */
enum admin_role console_role(const json_t *row, const char *idp_id, const json_t *claims);

/* True if the row gives a role to people of this provider. */
bool console_role_concerns(const json_t *row, const char *idp_id);

#endif
