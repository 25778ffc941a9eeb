#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/message/block.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/message/shown_text.h"
#include "gateway/mcp/reads/routes.h"
#include "gateway/mcp/tools/catalogue.h"

enum az_status
resource_refuse_uri(struct mcp_exchange *it)
{
    json_t *uri = json_object_get(it->message.params, "uri");
    mcp_refuse(it, 200, it->version.modern ? RPC_INVALID_PARAMS : RPC_RESOURCE_NOT_FOUND,
               "Resource not found");
    it->fault.data = jsonx_own(it->req->op.mem, json_pack("{s:O}", "uri", uri));
    return AZ_OK;
}

static bool
has_uri(const json_t *content)
{
    return json_is_string(json_object_get(content, "uri"));
}

/* Return one content as clients see it, under the URI that was asked for: a new reference, or NULL
 * if the content is malformed. */
static json_t *
shown_content(TALLOC_CTX *mem, const json_t *asked, const json_t *content)
{
    const char *type = json_string_value(json_object_get(content, "mimeType"));
    const json_t *text = json_object_get(content, "text"), *blob = json_object_get(content, "blob");
    if (!has_uri(content) || json_is_string(text) == json_is_string(blob)
        || (json_is_string(blob) && !mcp_is_base64(mem, blob)))
        return NULL;
    return json_pack("{s:O,s:o*,s:O}", "uri", asked, "mimeType",
                     type != NULL ? shown_text(mem, type) : NULL,
                     json_is_string(text) ? "text" : "blob", json_is_string(text) ? text : blob);
}

/* True for a content with another URI than the one that was read. MCP lets a server answer the read
 * of a directory with the files in it, but policy was asked about the directory alone. */
static bool
is_of_another(const json_t *content, const char *uri)
{
    const char *its = json_string_value(json_object_get(content, "uri"));
    return its != NULL && strcmp(its, uri) != 0;
}

static enum az_status
show_contents(struct mcp_exchange *it, const char *uri, const json_t *result)
{
    struct op *op = &it->req->op;
    const json_t *contents = json_object_get(result, "contents"), *content;
    const char *type = json_string_value(json_object_get(result, "resultType"));
    struct jsonx_build shown = {jsonx_own(op->mem, json_array()), false};
    size_t index;
    if (!json_is_array(contents) || json_array_size(contents) > RESOURCE_CONTENTS_MAX
        || (type != NULL && strcmp(type, "complete") != 0))
        return resource_ask_invalid(it);
    json_array_foreach (contents, index, content) {
        if (is_of_another(content, uri))
            return resource_ask_refuse(
                it, AZ_UPSTREAM_INVALID,
                "The upstream returned contents of another URI than the one that was "
                "read; read each URI on its own");
        json_t *one = shown_content(op->mem, json_object_get(it->message.params, "uri"), content);
        if (one == NULL)
            return resource_ask_invalid(it);
        jsonx_append(&shown, one);
    }
    if (jsonx_built(&shown) != NULL)
        it->result = mcp_list_result(op->mem, "contents", shown.value);
    return AZ_OK;
}

static enum az_status
read_resource(struct resource_call *c, const char *uri)
{
    struct mcp_exchange *it = c->it;
    enum az_status st =
        resource_call_ask(c, jsonx_own(it->req->op.mem, json_pack("{s:s}", "uri", uri)));
    const json_t *error = c->ask.reply.error;
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    if (peer_error_is(error, RPC_INVALID_PARAMS) || peer_error_is(error, RPC_RESOURCE_NOT_FOUND))
        return resource_refuse_uri(it);
    return error != NULL ? resource_ask_refuse(it, AZ_UPSTREAM_INVALID,
                                               peer_error_text(it->req->op.mem, error))
                         : show_contents(it, uri, c->ask.reply.result);
}

enum az_status
mcp_read_resource(struct mcp_exchange *it)
{
    const char *uri = json_string_value(json_object_get(it->message.params, "uri"));
    const struct managed_resource *resource;
    struct resource_call c = {.it = it};
    enum az_status st = resource_of_uri(it, uri, &resource, &uri);
    if (st != AZ_OK)
        return st;
    if (uri != NULL && resource == NULL)
        return resource_refuse_uri(it);
    if (uri == NULL || !resource_uri_is_sound(resource, uri))
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS,
                          "params.uri is not a URI in its one spelling (RFC 3986 6.2.2, without "
                          "fragment), or has a query that this server does not take");
    if (resource->upstream != MANAGED_MCP)
        return mcp_read_route(it, resource, uri);
    c.action = (struct gateway_action){.kind = "resource", .name = uri, .uri = uri};
    resource_ask_begin(it, resource, it->message.method, &c.ask);
    st = read_resource(&c, uri);
    resource_call_note(&c);
    return st;
}

enum az_status
mcp_may_watch_resource(struct mcp_exchange *it, const struct managed_resource *resource,
                       const char *uri, const char **ret_revision)
{
    struct op *op = &it->req->op;
    struct resource_call c = {
        .it = it,
        .action = {.kind = "resource",
                   .name = uri,
                   .uri = uri,
                   .scopes = mcp_default_scopes(op->mem, resource)},
        .arguments = jsonx_own(op->mem, json_pack("{s:b}", "subscribe", 1)),
 /* Changes are heard for all callers at once, so fields for one of them have no place. */
        .obligations = GATEWAY_RESPONSE_MAX_BYTES,
    };
    *ret_revision = NULL;
    if (c.action.scopes == NULL || c.arguments == NULL)
        return op_no_memory(op);
    if (resource->missing != NULL || resource->status == MANAGED_ERROR)
        return AZ_OK;
    resource_ask_begin(it, resource, it->message.method, &c.ask);
    return resource_call_may(&c, ret_revision);
}
