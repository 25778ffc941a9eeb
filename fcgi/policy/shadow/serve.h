/* The process that puts live decisions to the shadow of the policy (policy.md S3, S4). */
#ifndef AZ_POLICY_SHADOW_SERVE_H
#define AZ_POLICY_SHADOW_SERVE_H

#include "base/op.h"

/* Seconds between two checks of the parent of --workers for a shadow that another host, or
 * authzctl, has saved. A start costs 5 ms and a connection. */
#define SHADOW_SERVE_EVERY 60

/* Compare the decisions that this host's workers send (engine/shadow_tap.h), for as long as there
 * is a shadow. Nothing that is done here can change a decision. */
void shadow_serve(struct op *op);

#endif
