/*
 * The changes that a sync makes to the stored tools of an MCP resource (gateway-admin.md 1.5). The
 * first sync approves what it finds; a tool that comes later or changes waits for approval, because
 * an upstream that was trusted once can describe its tools anew to mislead a model (tool
 * poisoning). Plain JSON in and out.
 *
 * A stored tool has pin {sha256, approved, status, seenAt, approvedAt, approvedBy, approvedText}
 * (pin_state.h): the hash of what the upstream said last, that of what was approved (absent:
 * nothing yet), what follows from the two, and the approved text while the upstream has another.
 */
#ifndef AZ_GATEWAY_MCP_TOOLS_TOOL_PINS_H
#define AZ_GATEWAY_MCP_TOOLS_TOOL_PINS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "managed/document.h"

/* Stored tools of one resource, with those that the upstream no longer has. */
#define TOOL_PINS_MAX 1000

/* Most octets of these tools together; the rest of a document is for the operator's part. */
#define TOOL_PINS_OCTETS_MAX (MANAGED_DOCUMENT_MAX - (128 << 10))

/* The state of a resource before a sync. */
struct tool_pins {
    const json_t *tools;  /* an array, or NULL */
    bool synced;          /* a sync was stored before, whatever it found */
    const char *resource; /* its name */
    size_t name_max;      /* SVC_GATEWAY_TOOL_NAME_MAX */
};

/* The outcome of a sync. The arrays hold names and belong to mem. */
struct tool_merge {
    json_t *tools;                     /* the array to store */
    json_t *added, *changed, *removed; /* names at the upstream */
    size_t waiting;                    /* tools that wait for approval */
    size_t left_out; /* tools that cannot be stored, whose exposed name another tool has, or for
                        which there is no room */
};

/*
 * Merge the upstream's tools (peer_list.h) with the stored ones. The description of a tool comes
 * from the upstream; scopes, annotations, enabled and name stay the operator's. Stored tools take
 * precedence over new ones where room is short. now: the time as text. AZ_SERVER_ERROR: out of
 * memory.
 */
enum az_status tool_pins_merge(TALLOC_CTX *mem, const struct tool_pins *before, const json_t *seen,
                               const char *now, struct tool_merge *ret);

/* An approval. */
struct tool_approving {
    const char *name;   /* of the tool */
    const char *sha256; /* hash of the description that the approver has read; NULL: any */
    const char *now;    /* time as text */
    const char *by;     /* label of the approver */
};

/*
 * Approve the tool of a name as it is stored: the stored tools, changed, in *ret on mem.
 * AZ_NOT_FOUND: no such tool. AZ_CONFLICT: the upstream no longer has the tool, or has changed it.
 * AZ_SERVER_ERROR: no memory.
 */
enum az_status tool_pins_approve(TALLOC_CTX *mem, const json_t *stored,
                                 const struct tool_approving *approving, json_t **ret,
                                 size_t *ret_waiting);

#endif
