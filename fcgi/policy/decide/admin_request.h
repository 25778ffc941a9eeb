/* svc/decision/admin: does a rule of the operator refuse this request to the admin API
 * (gateway-admin.md 3.9). */
#ifndef AZ_POLICY_DECIDE_ADMIN_REQUEST_H
#define AZ_POLICY_DECIDE_ADMIN_REQUEST_H

#include "policy/decide/ask.h"

/* Ask until a revision answers that may decide. AZ_OK with an answer, allow or deny.
 * AZ_UNAVAILABLE: there is no valid answer, as in ask_issue(), or none of such a revision within
 * ASK_REVISION_WAIT_MS. */
enum az_status admin_request_ask(struct op *op, const struct admin_question *question,
                                 struct verdict *ret);

/* Return the message of the first reason of a denial, or NULL. */
const char *admin_request_message(const struct decision *decision);

#endif
