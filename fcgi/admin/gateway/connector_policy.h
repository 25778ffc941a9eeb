/* The policy data row of a connector, saved like any other policy (gateway-admin.md 3.7). */
#ifndef AZ_ADMIN_GATEWAY_CONNECTOR_POLICY_H
#define AZ_ADMIN_GATEWAY_CONNECTOR_POLICY_H

#include <jansson.h>

#include "http/request.h"
#include "policy/save/save.h"

/* Write the row of a connector in the open transaction; NULL deletes it. An operator can change the
 * row but not delete it while the connector is installed. */
enum az_status connector_policy_write(struct op *op, const char *id, const json_t *payload);

/* Make a change of connectors in a save of policy. AZ_UNPROCESSABLE: the engines refused it, and
 * nothing of the change is stored; the body of the answer says why. */
enum az_status connector_policy_save(struct request *req, save_apply_fn *apply, void *arg);

#endif
