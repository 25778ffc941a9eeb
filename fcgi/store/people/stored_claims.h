/* The claims of a person as they are stored: what the identity provider said at the last sign-in.
 */
#ifndef AZ_STORE_PEOPLE_STORED_CLAIMS_H
#define AZ_STORE_PEOPLE_STORED_CLAIMS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/*
 * Member of stored claims: the names of those that are incomplete, a sorted array (world.md U5). It
 * stands among the claims so that a program that does not know it replaces both; no claim of a
 * provider is kept under this name. Absent: the claims are complete.
 */
#define CLAIMS_INCOMPLETE "urn:svc:claims_incomplete"

/* Stands in the list for any claim. */
#define CLAIMS_ANY "*"

/* True if a claim is incomplete in stored claims. */
bool stored_claims_lack(const json_t *claims, const char *name);

/*
 * Give claims their types (world.md U4): a member whose name ends with _verified is a boolean. The
 * texts true and false, in any case, become one. Another value of email_verified and
 * phone_number_verified is removed; another claim stays as it is. AZ_SERVER_ERROR: no memory.
 */
enum az_status stored_claims_type(json_t *claims);

/* The same for claims that were read from a row, or NULL. Each reader of a person's row calls this,
 * so that all see the same in a row that an older version wrote. A failure sets a fault. */
enum az_status stored_claims_typed(struct op *op, json_t *claims);

#endif
