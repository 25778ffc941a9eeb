/* The parts of the stored resource that a save keeps: secrets that were not sent again, and tools
 * that came with a sync (gateway-admin.md 3.2, 3.3). */
#ifndef AZ_MANAGED_MERGE_H
#define AZ_MANAGED_MERGE_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

#include "base/status.h"

/* The secrets of a document that is being saved. */
struct managed_secrets_change {
    json_t *given;   /* object: new ones by name, secret; never NULL */
    json_t *set;     /* object: the times of all that are set afterwards, by name */
    bool any_change; /* one was given or cleared, so the sealed object must be written again */
    bool lost;       /* memory ran out */
};

/*
 * Take the secrets out of `document`, whose upstreamAuth is changed: {"set": true, "updatedAt":
 * time} stands in the place of each that is set afterwards. `was_type` and `was_set` are the type
 * and the object `set` of the stored row, or NULL. A secret that is absent, or an object {"set":
 * true}, keeps the stored one of the same type; null clears it, and so does another type.
 */
enum az_status managed_secrets_take(TALLOC_CTX *mem, json_t *document, const char *was_type,
                                    const json_t *was_set, const char *now,
                                    struct managed_secrets_change *ret);

/* The members of an MCP upstream's tool that an operator decides; NULL ends the list. A sync sets
 * the others. */
extern const char *const managed_tool_decided[];

/* Return the name that a tool of a document has at its upstream, or NULL if it has no name. */
const char *managed_tool_upstream_name(const json_t *tool);

/* Return the tool of this name at the upstream, borrowed, or NULL; the name may be NULL. */
json_t *managed_tool_find(const json_t *tools, const char *name);

/*
 * Return the tools that a save stores, on mem, or NULL if out of memory. Of an MCP resource,
 * `stored` has the tools as its upstream offered them: the operator decides their name, scopes,
 * annotations and whether they are enabled, and nothing else. A tool that was not sent stays as it
 * is: without its pin the next sync would approve it. `sent` may be NULL.
 */
json_t *managed_tools_merge(TALLOC_CTX *mem, const json_t *sent, const json_t *stored, bool is_mcp);

#endif
