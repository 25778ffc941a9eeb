#include "config.h"

#include "gateway/metadata.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "gateway/door.h"
#include "gateway/scope_ask.h"
#include "managed/names.h"
#include "store/gateway/resources.h"

/* Seconds for which a client may keep a document: a resource that is disabled, or gets another
 * scope, should not mislead clients for long. */
#define MAX_AGE 60

/* Return a document, or NULL: no memory. The lists of scopes and of algorithms are handed over. */
static json_t *
build_document(struct request *req, json_t *resource, const char *title, json_t *scopes)
{
    const char *issuer = req->op.az->cfg->oidc_issuer;
    struct jsonx_build document = {
        jsonx_own(req->op.mem,
                  json_pack("{s:o,s:[s],s:[s],s:s,s:o}", "resource", resource,
                            "authorization_servers", issuer, "bearer_methods_supported", "header",
                            "resource_name", title, "scopes_supported", scopes)),
        false};
    if (req->op.az->dpop_algs != NULL) /* RFC 9728 2 */
        jsonx_set(&document, "dpop_signing_alg_values_supported",
                  words_array(req->op.az->dpop_algs));
    return jsonx_built(&document);
}

/* Return the address of an endpoint of the gateway: a new reference. */
static json_t *
own_address(struct request *req, const char *path, const char *name)
{
    return json_sprintf("%s%s%s", req->op.az->cfg->oidc_issuer, path, name);
}

static enum az_status
send_document(struct request *req, json_t *document)
{
    enum az_status st = respond_json(req, 200, document);
    return st == AZ_OK ? respond_cached(req, MAX_AGE) : st;
}

enum az_status
metadata_mcp_handle(struct request *req)
{
    struct managed_resources resources = {.count = 0};
    const struct settings *cfg = req->op.az->cfg;
    enum az_status st = gateway_is_on(cfg) ? resources_list(&req->op, &resources) : AZ_OK;
    json_t *scopes = scope_ask_resources(req->op.mem, resources.item, resources.count,
                                         cfg->gateway_ask_all_scopes);
    return st == AZ_OK
               ? send_document(req, build_document(req, own_address(req, "/gateway/mcp", ""),
                                                   "MCP gateway", json_incref(scopes)))
               : st;
}

static enum az_status
describe_resource(struct request *req, const char *path, bool proxied)
{
    const char *name = req->path_value[0];
    const struct managed_resource *resource = NULL;
    enum az_status st =
        managed_name_is_good(name) ? resource_find(&req->op, name, &resource) : AZ_OK;
    if (st != AZ_OK)
        return st;
    if (resource == NULL || !resource->enabled || (proxied && resource->upstream == MANAGED_MCP))
        return gateway_unknown(req);
    json_t *scopes =
        scope_ask_resource(req->op.mem, resource, proxied ? GATEWAY_PROXY : GATEWAY_MCP,
                           req->op.az->cfg->gateway_ask_all_scopes);
    return send_document(req, build_document(req, own_address(req, path, resource->name),
                                             resource->display_name, json_incref(scopes)));
}

enum az_status
metadata_mcp_resource_handle(struct request *req)
{
    return describe_resource(req, "/gateway/mcp/", false);
}

enum az_status
metadata_proxy_resource_handle(struct request *req)
{
    return describe_resource(req, "/gateway/", true);
}

/* The second name of the path is the place of an address in publicUrls: 0, 1, ... */
enum az_status
metadata_door_handle(struct request *req)
{
    const struct managed_resource *resource = NULL;
    const char *name = req->path_value[0], *digits = req->path_value[1], *url = NULL;
    enum az_status st =
        managed_name_is_good(name) ? resource_find(&req->op, name, &resource) : AZ_OK;
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; resource != NULL && resource->enabled && resource->public_urls != NULL
                       && resource->public_urls[i] != NULL;
         i++)
        if (strcmp(digits, talloc_asprintf(req->op.mem, "%zu", i)) == 0)
            url = resource->public_urls[i];
    if (url == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "there is no such public address");
    json_t *scopes = scope_ask_resource(req->op.mem, resource, GATEWAY_CHECK,
                                        req->op.az->cfg->gateway_ask_all_scopes);
    return send_document(
        req, build_document(req, json_string(url), resource->display_name, json_incref(scopes)));
}
