/* The scope and the resource of a request that names no scope or no resource (decisions.md "Omitted
 * scope", "Omitted resource"). */
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

/*
 * Set *resource, if it is NULL, for a client that registered itself and asks for the scope mcp
 * without authorization_details: the MCP endpoint of the gateway, where the policy row allows the
 * default (one trip). Stock MCP clients that send no resource (RFC 8707) would get a token that the
 * gateway never takes. `scope` is the requested scope, or NULL.
 */
enum az_status default_resource_read(struct op *op, const struct client *client, const char *scope,
                                     const json_t *details, const char **resource);

#endif
