/* The scopes of a request without scope by a client that registered itself: `default_scopes` of the
 * row svc.operator.controls.public_client_policy, which the service reads itself. */
#ifndef AZ_POLICY_DECIDE_DEFAULT_SCOPES_H
#define AZ_POLICY_DECIDE_DEFAULT_SCOPES_H

#include "base/op.h"

/* Read the scopes that are published now, as a text on op->mem; "" if there are none. One trip. */
enum az_status default_scopes_fetch(struct op *op, const char **ret);

#endif
