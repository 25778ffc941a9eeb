/* The memory of a worker about upstream MCP servers between two requests: the protocol of each
 * server, and the sessions of people there. Without it a worker sends a few more requests. */
#ifndef AZ_GATEWAY_MCP_PEER_PEER_MEMORY_H
#define AZ_GATEWAY_MCP_PEER_PEER_MEMORY_H

#include "base/op.h"
#include "gateway/mcp/peer/peer_message.h"

struct managed_resource;
struct upstream_caller;

/* Seconds for which the protocol of a server is remembered, and for which a session is used. */
#define PEER_MEMORY_SECONDS 3600
/* Entries of one worker. A new entry replaces the oldest one. */
#define PEER_MEMORY_ENTRIES 128

/*
 * Find the protocol and session to use with the server of a resource for a caller (NULL stands for
 * the service itself). A session of one person is never used for another one: the server may keep
 * what it learnt about the first. False: it is not known. *ret is on op->mem; neither modern nor
 * with a version: the server is an older one, and must be initialized for this caller first.
 * `announced` is what `initialize` said about the client of a session, "" for nothing: with another
 * text it is another session, in which the server may ask other things.
 */
bool peer_memory_find(struct op *op, const struct managed_resource *resource,
                      const struct upstream_caller *caller, const char *announced,
                      struct peer_way *ret);

/* Store the protocol and session. If memory runs out, the entry is not stored. */
void peer_memory_keep(struct op *op, const struct managed_resource *resource,
                      const struct upstream_caller *caller, const char *announced,
                      const struct peer_way *way);

/* Forget both: the server did not answer by the remembered protocol. */
void peer_memory_forget(struct op *op, const struct managed_resource *resource,
                        const struct upstream_caller *caller, const char *announced);

#endif
