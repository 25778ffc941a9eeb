/* A request as Cedar's own tools write it, as an input of the engine. */
#ifndef AZ_POLICY_ROWS_CEDAR_TRIAL_H
#define AZ_POLICY_ROWS_CEDAR_TRIAL_H

#include <jansson.h>
#include <talloc.h>

#include "base/status.h"

/*
 * Read {"principal", "action", "resource", "context", "entities"} by fcgi/cedar/read.h. *ret is the
 * input {"cedar": ...} of the runtime etc/policy/svc/cedar/rt.rego, owned by mem. Context and
 * entities may be absent. AZ_INVALID: *ret_why says what is wrong, as a text that fits after the
 * name of the input.
 */
enum az_status cedar_trial_input(TALLOC_CTX *mem, const json_t *request, json_t **ret,
                                 const char **ret_why);

#endif
