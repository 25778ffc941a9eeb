/* Only owners change who has which role in the console (gateway-admin.md 3.9): operators, who write
 * everything else, could make themselves owners otherwise. */
#ifndef AZ_POLICY_DECIDE_CONSOLE_GUARD_H
#define AZ_POLICY_DECIDE_CONSOLE_GUARD_H

#include "base/op.h"

/* The row that gives roles to people. */
#define CONSOLE_ROW "svc.operator.controls.console"

/* Read what console_guard_end() compares: the row svc.operator.controls.console before a save, in
 * its transaction. Nothing is read for an owner. */
enum az_status console_guard_begin(struct op *op, const char **ret_before);

/* AZ_ROLE_REQUIRED: the save has changed the row, and the caller is no owner. */
enum az_status console_guard_end(struct op *op, const char *before);

/* AZ_ROLE_REQUIRED: the row gives roles to people of this provider, and the caller is no owner.
 * Whoever changes the provider could sign in as any of its people, and whoever deletes it ends the
 * sessions of all of them. */
enum az_status console_guard_provider(struct op *op, const char *idp_id);

#endif
