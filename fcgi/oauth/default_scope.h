/* The scope of a request that names none (decisions.md "Omitted scope"). */
#ifndef AZ_OAUTH_DEFAULT_SCOPE_H
#define AZ_OAUTH_DEFAULT_SCOPE_H

#include <jansson.h>

#include "base/op.h"
#include "store/clients/clients.h"

/*
 * Return the scopes that a request without scope asks for, as an array on op->mem: the registered
 * ones; else, for a client that registered itself, `default_scopes` of the policy row as it is now
 * (one trip); else none.
 */
enum az_status default_scope_read(struct op *op, const struct client *client, json_t **ret);

#endif
