#include "config.h"

#include "oauth/default_scope.h"

#include <string.h>

#include "oauth/parameters/parameters.h"
#include "policy/decide/default_scopes.h"

enum az_status
default_scope_read(struct op *op, const struct client *client, json_t **ret)
{
    const char *scope = client->scope;
    if (scope == NULL && strcmp(client->registration, "ADMIN") != 0) {
        enum az_status st = default_scopes_fetch(op, &scope);
        if (st != AZ_OK)
            return st;
    }
    if (scope_parse(op, scope, ret) == AZ_OK)
        return AZ_OK;
    /* The request is not at fault: the row has a text that is no scope (RFC 6749 3.3). */
    az_fault_clear(&op->fault);
    return op_fail(op, AZ_SERVER_ERROR, NULL, "the default scopes are not valid: %s", scope);
}
