/*
 * Prompts of MCP upstreams, as a sync stored them (gateway-admin.md 1.7). A prompt is served if its
 * last description is the approved one, or toolPinning is warn.
 */
#ifndef AZ_STORE_GATEWAY_PROMPTS_H
#define AZ_STORE_GATEWAY_PROMPTS_H

#include "managed/managed.h"
#include "store/db/db.h"

/* A stored prompt. */
struct stored_prompt {
    int64_t resource;   /* id of the managed resource */
    const char *name;   /* at the upstream */
    json_t *entry;      /* name, title, description and arguments, as the upstream says */
    const char *sha256; /* of it */
    enum managed_pin pin;
    const char *seen_at;
};

struct stored_prompts {
    struct stored_prompt *item;
    size_t count;
};

/* Read the prompts of one resource, or (NULL) of all, by resource and name. */
enum az_status prompts_read(struct op *op, const struct managed_resource *resource,
                            struct stored_prompts *ret);

/*
 * Store what the upstream lists: an array of {key, entry, sha256}. The first time for a resource
 * all are approved. A prompt that is not listed is kept if it was approved once. *ret_waiting: an
 * array of the names that wait for approval.
 */
enum az_status prompts_store(struct op *op, const struct managed_resource *resource,
                             const json_t *seen, json_t **ret_waiting);

/*
 * Approve the description that an upstream gave last; sha256: of the one that was read, or NULL.
 * AZ_NOT_FOUND: no such prompt. AZ_CONFLICT: it is listed no longer, or has another description.
 */
enum az_status prompt_approve(struct op *op, const struct managed_resource *resource,
                              const char *name, const char *sha256);

#endif
