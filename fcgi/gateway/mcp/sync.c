#include "config.h"

#include "gateway/mcp/sync.h"

#include <stdio.h>

#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "gateway/mcp/peer.h"
#include "managed/auth.h"
#include "store/gateway/resources.h"

/* Attempts to store what was read while others save the same resource. */
#define SYNC_TRIES 3

/* Read the pages of tools/list. */
static enum az_status
read_pages(struct op *op, struct peer_request *request, json_t *tools, size_t *left_out)
{
    const char *cursor = NULL;
    for (size_t page = 0; page < PEER_PAGES_MAX; page++) {
        struct peer_reply reply;
        enum az_status st;
        request->message.params =
            cursor != NULL ? jsonx_own(op->mem, json_pack("{s:s}", "cursor", cursor)) : NULL;
        if ((st = peer_ask(op, request, &reply)) != AZ_OK)
            return st;
        if (reply.error != NULL)
            return op_fail(op, AZ_UPSTREAM_INVALID, NULL, "tools/list of %s: %s",
                           request->resource->name, peer_error_text(op->mem, reply.error));
        st = peer_tools_add(op->mem, reply.result, tools, left_out, &cursor);
        if (st == AZ_INVALID)
            return op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                           "tools/list of %s is malformed, or has more than %d tools",
                           request->resource->name, PEER_TOOLS_MAX);
        if (st != AZ_OK || cursor == NULL)
            return st;
    }
    return op_fail(op, AZ_UPSTREAM_INVALID, NULL, "tools/list of %s has more than %d pages",
                   request->resource->name, PEER_PAGES_MAX);
}

static enum az_status
read_tools(struct op *op, const struct managed_resource *resource,
           const struct upstream_caller *caller, json_t *tools, size_t *left_out)
{
    struct peer_request request = {
        .resource = resource, .caller = caller, .message = {.method = "tools/list"}};
    enum az_status st = resource_secrets(op, resource, &request.secrets);
    return st == AZ_OK ? read_pages(op, &request, tools, left_out) : st;
}

/* Merge and store; repeat if the resource is saved by another request meanwhile. */
static enum az_status
store_tools(struct op *op, const struct managed_resource *resource, const json_t *seen,
            struct tool_merge *ret)
{
    char now[ISO8601_SIZE];
    const char *name = resource->name;
    if (iso8601_format(op_now(op), now) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the time cannot be written");
    for (int i = 0; i < SYNC_TRIES; i++) {
        struct tool_pins stored = {.tools = NULL};
        bool done = false;
        enum az_status st = resource_read_tools(op, resource, &stored.tools, &stored.synced);
        if (st != AZ_OK)
            return st;
        if (tool_pins_merge(op->mem, &stored, seen, now, ret) != AZ_OK)
            return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for the tools of %s", name);
        bool waits = ret->waiting > 0 && resource->pinning == MANAGED_PINNING_BLOCK;
        st = resource_store_tools(op, resource, ret->tools,
                                  waits ? MANAGED_SYNC_CHANGED : MANAGED_SYNC_OK, &done);
        if (st != AZ_OK || done)
            return st;
        if ((st = resource_find(op, name, &resource)) != AZ_OK)
            return st;
        if (resource == NULL || resource->upstream != MANAGED_MCP)
            break;
    }
    return op_fail(op, AZ_CONFLICT, "The resource was changed meanwhile", "resource %s", name);
}

enum az_status
mcp_sync(struct op *op, const struct managed_resource *resource,
         const struct upstream_caller *caller, struct tool_merge *ret)
{
    json_t *seen = jsonx_own(op->mem, json_array());
    size_t left_out = 0;
    enum az_status st = seen != NULL ? read_tools(op, resource, caller, seen, &left_out)
                                     : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
    if (st == AZ_OK)
        st = store_tools(op, resource, seen, ret);
    else if (st == AZ_UPSTREAM_UNREACHABLE || st == AZ_UPSTREAM_TIMEOUT
             || st == AZ_UPSTREAM_INVALID)
        resource_event(op, resource, MANAGED_SYNC_FAILED, NULL);
    if (st != AZ_OK)
        return st;
    ret->left_out += left_out;
    if (ret->left_out > 0)
        log_text(AZ_SEV_WARN, "gateway", "%s: %zu tools of the upstream left out", resource->name,
                 ret->left_out);
    return AZ_OK;
}

/* ---- all of them */

/* True if the service itself can ask for the tools. A resource in error waits for its operator. */
static bool
syncs_alone(const struct managed_resource *resource)
{
    return resource->upstream == MANAGED_MCP && resource->missing == NULL
           && resource->status != MANAGED_ERROR
           && resource->auth.type != MANAGED_AUTH_TOKEN_EXCHANGE
           && !managed_auth_is_linked(resource->auth.type);
}

enum az_status
mcp_sync_all(struct op *op, char *note, size_t size)
{
    struct managed_resources all = {.count = 0};
    size_t synced = 0, failed = 0;
    enum az_status st = op->az->cfg->gateway_enabled ? resources_list(op, &all) : AZ_OK;
    for (size_t i = 0; st == AZ_OK && i < all.count && !*op->az->stopping; i++) {
        struct op one = op_beside(op, talloc_new(op->mem));
        struct tool_merge merge;
        if (!syncs_alone(all.item[i])) {
            talloc_free(one.mem);
            continue;
        }
        if (mcp_sync(&one, all.item[i], NULL, &merge) == AZ_OK) {
            synced++;
        } else {
            failed++;
            log_text(AZ_SEV_WARN, "gateway", "sync of %s: %s", all.item[i]->name, one.fault.detail);
        }
        talloc_free(one.mem);
    }
    snprintf(note, size, "tools of %zu MCP resources read, %zu not readable", synced, failed);
    return st;
}
