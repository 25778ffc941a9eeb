#include "config.h"

#include "oauth/default_scope.h"

#include <string.h>

#include "base/settings/settings.h"
#include "base/words.h"
#include "oauth/parameters/audience.h"
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

enum az_status
default_resource_read(struct op *op, const struct client *client, const char *scope,
                      const json_t *details, const char **resource)
{
    json_t *words;
    bool allowed;
    if (*resource != NULL || details != NULL || op->az->gateway == NULL
        || strcmp(client->registration, "ADMIN") == 0)
        return AZ_OK;
    enum az_status st = scope_parse(op, scope, &words);
    if (st != AZ_OK || !words_array_has(words, GATEWAY_BASE_SCOPE))
        return st;
    st = default_gateway_resource_fetch(op, &allowed);
    if (st != AZ_OK || !allowed)
        return st;
    *resource = talloc_asprintf(op->mem, "%s/gateway/mcp", op->az->cfg->oidc_issuer);
    return *resource != NULL ? AZ_OK : op_no_memory(op);
}
