/*
 * Store and read what a sync finds at MCP upstreams beside their tools: prompts, and the
 * instructions of the server (gateway-admin.md 1.7, 1.14). An entry is served if its last
 * description is the approved one, or toolPinning is warn.
 */
#ifndef AZ_STORE_GATEWAY_LISTING_H
#define AZ_STORE_GATEWAY_LISTING_H

#include "managed/managed.h"
#include "store/db/db.h"

/* Kinds of entries. */
enum listing_kind { LISTING_PROMPT, LISTING_INSTRUCTIONS };

/* Key of the one entry of the instructions. */
#define LISTING_INSTRUCTIONS_KEY "instructions"

/* A stored entry. */
struct stored_entry {
    int64_t resource;   /* id of the managed resource */
    const char *name;   /* key: name of the prompt at the upstream */
    json_t *entry;      /* prompt: name, title, description and arguments, as the upstream says;
                           instructions: an object with that member */
    const char *sha256; /* of it */
    enum managed_pin pin;
    const char *seen_at;
};

struct stored_entries {
    struct stored_entry *item;
    size_t count;
};

/* Return the word of a kind: in rows, and for policy. */
const char *listing_word(enum listing_kind kind);

/* Read the entries of one resource, or (NULL) of all, by resource and name. */
enum az_status listing_read(struct op *op, enum listing_kind kind,
                            const struct managed_resource *resource, struct stored_entries *ret);

/*
 * Store what the upstream lists: an array of {key, entry, sha256}. The first time for a resource
 * all are approved. An entry that is not listed is kept if it was approved once. *ret_waiting: an
 * array of the names that wait for approval.
 */
enum az_status listing_store(struct op *op, enum listing_kind kind,
                             const struct managed_resource *resource, const json_t *seen,
                             json_t **ret_waiting);

/*
 * Approve the description that an upstream gave last; sha256: of the one that was read, or NULL.
 * AZ_NOT_FOUND: no such entry. AZ_CONFLICT: it is listed no longer, or has another description.
 */
enum az_status listing_approve(struct op *op, enum listing_kind kind,
                               const struct managed_resource *resource, const char *name,
                               const char *sha256);

#endif
