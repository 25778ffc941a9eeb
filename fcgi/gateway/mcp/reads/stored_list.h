/*
 * Serve what a sync stored of upstreams beside their tools: prompts, and instructions
 * (gateway-admin.md 1.7, 1.14). An entry is served if its resource has the setting and its pin does
 * not hold it back.
 */
#ifndef AZ_GATEWAY_MCP_READS_STORED_LIST_H
#define AZ_GATEWAY_MCP_READS_STORED_LIST_H

#include "gateway/mcp/message/exchange.h"
#include "store/gateway/listing.h"

/* An entry that is served, and the name by which clients of this endpoint know it. */
struct listed_entry {
    size_t resource; /* index of its resource in the list */
    const struct stored_entry *row;
    const char *name;
};

/* The entries of one endpoint, by resource and name. */
struct stored_list {
    enum listing_kind kind;
    const struct managed_resource *const *resource;
    size_t resources;
    struct listed_entry *item;
    size_t count;
};

/* Find out if the endpoint of this request has entries of a kind: its resource has the setting, or
 * one of all enabled resources has it. */
enum az_status stored_list_exists(struct mcp_exchange *it, enum listing_kind kind, bool *ret);

/* Collect the entries of the request. No trip is made where no resource has the setting. */
enum az_status stored_list_read(struct mcp_exchange *it, enum listing_kind kind,
                                struct stored_list *ret);

/* Ask policy about all of them in one question; *ret has a verdict for each. */
enum az_status stored_list_decide(struct mcp_exchange *it, const struct stored_list *list,
                                  enum gateway_verdict **ret);

#endif
