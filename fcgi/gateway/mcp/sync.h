/* Reading the tools, prompts and instructions of MCP upstreams into their resources
 * (gateway-admin.md 1.5): by the admin API, and by housekeeping. */
#ifndef AZ_GATEWAY_MCP_SYNC_H
#define AZ_GATEWAY_MCP_SYNC_H

#include "gateway/mcp/tools/tool_pins.h"
#include "gateway/upstream/credential.h"
#include "managed/managed.h"

/* The result of a sync. */
struct mcp_synced {
    struct tool_merge tools;
    json_t *waiting_prompts;      /* array of the names of prompts that wait for approval */
    json_t *waiting_instructions; /* array with an entry if the instructions wait for it; NULL: they
                                     are not read */
};

/*
 * Read the tools of a resource, and its prompts and instructions if it serves them, from its
 * upstream and store them. `caller`: whose linked account is used; NULL for the service itself.
 * Fails as peer_ask() does; the resource's status follows.
 */
enum az_status mcp_sync(struct op *op, const struct managed_resource *resource,
                        const struct upstream_caller *caller, struct mcp_synced *ret);

/* Sync all enabled MCP resources that need no person's account, one after the other; a note tells
 * how it went. A job of housekeeping. */
enum az_status mcp_sync_all(struct op *op, char *note, size_t size);

#endif
