#include "config.h"

#include "gateway/mcp/peer/peer_memory.h"

#include <string.h>

#include "gateway/mcp/message/version.h"
#include "gateway/process/gateway_process.h"
#include "gateway/upstream/credential.h"
#include "managed/managed.h"

/* One server, or one caller at a server of an older revision. */
struct peer_entry {
    const char *key; /* NULL if the entry is free */
    int64_t until;   /* seconds since 1970 */
    struct peer_way way;
};

struct peer_memory {
    struct peer_entry entry[PEER_MEMORY_ENTRIES];
};

/* Return the key of a server, on op->mem. The address is part of it, so that a changed resource
 * begins anew. */
static const char *
server_key(struct op *op, const struct managed_resource *resource)
{
    return talloc_asprintf(op->mem, "%s %s", resource->name, resource->upstream_url);
}

/* Return the key of a caller at a server. The length before each part keeps the parts apart. */
static const char *
caller_key(struct op *op, const struct managed_resource *resource,
           const struct upstream_caller *caller, const char *announced)
{
    const char *person = caller != NULL && caller->person != NULL ? caller->person : "";
    const char *idp = caller != NULL && caller->idp != NULL ? caller->idp : "";
    const char *client = caller != NULL ? caller->client_id : "";
    return talloc_asprintf(op->mem, "%s %s %zu:%s %zu:%s %zu:%s %s", resource->name,
                           resource->upstream_url, strlen(person), person, strlen(idp), idp,
                           strlen(client), client, announced);
}

static struct peer_entry *
find_peer(struct op *op, const char *key)
{
    struct peer_memory *memory = op->az->gateway->peers;
    for (size_t i = 0; memory != NULL && key != NULL && i < PEER_MEMORY_ENTRIES; i++)
        if (memory->entry[i].key != NULL && strcmp(memory->entry[i].key, key) == 0)
            return &memory->entry[i];
    return NULL;
}

static void
free_entry(struct peer_entry *entry)
{
    talloc_free((char *) (uintptr_t) entry->key);
    *entry = (struct peer_entry){.key = NULL};
}

bool
peer_memory_find(struct op *op, const struct managed_resource *resource,
                 const struct upstream_caller *caller, const char *announced, struct peer_way *ret)
{
    const struct peer_entry *server = find_peer(op, server_key(op, resource));
    const struct peer_entry *entry = server;
    if (server == NULL || server->until <= op_now(op))
        return false;
    if (!server->way.modern)
        entry = find_peer(op, caller_key(op, resource, caller, announced));
    if (entry == NULL || entry->until <= op_now(op))
        entry = server;
    *ret = entry->way;
    if (ret->session != NULL)
        ret->session = talloc_strdup(op->mem, ret->session);
    return entry->way.session == NULL || ret->session != NULL;
}

/* Return a free entry, or the oldest one. */
static struct peer_entry *
mcp_take_entry(struct peer_memory *memory)
{
    struct peer_entry *oldest = &memory->entry[0];
    for (size_t i = 0; i < PEER_MEMORY_ENTRIES; i++) {
        if (memory->entry[i].key == NULL)
            return &memory->entry[i];
        if (memory->entry[i].until < oldest->until)
            oldest = &memory->entry[i];
    }
    free_entry(oldest);
    return oldest;
}

static void
keep_entry(struct op *op, const char *key, const struct peer_way *way)
{
    struct peer_memory *memory = op->az->gateway->peers;
    struct peer_entry *entry = find_peer(op, key);
    char *kept = key != NULL ? talloc_strdup(memory, key) : NULL;
    if (entry != NULL)
        free_entry(entry);
    else
        entry = mcp_take_entry(memory);
    if (kept == NULL)
        return;
    *entry = (struct peer_entry){
        .key = kept,
        .until = op_now(op) + PEER_MEMORY_SECONDS,
        .way =
            {
                  .modern = way->modern,
                  /* A constant: the text of the answer ends with the request. */
                .version = way->version != NULL ? mcp_legacy_version(way->version) : NULL,
                  .session = way->session != NULL ? talloc_strdup(kept, way->session) : NULL,
                  },
    };
    if (way->session != NULL && entry->way.session == NULL)
        free_entry(entry);
}

void
peer_memory_keep(struct op *op, const struct managed_resource *resource,
                 const struct upstream_caller *caller, const char *announced,
                 const struct peer_way *way)
{
    const struct peer_way server = {.modern = way->modern};
    if (op->az->gateway->peers == NULL)
        op->az->gateway->peers = talloc_zero(NULL, struct peer_memory);
    if (op->az->gateway->peers == NULL)
        return;
    keep_entry(op, server_key(op, resource), &server);
    if (!way->modern)
        keep_entry(op, caller_key(op, resource, caller, announced), way);
}

void
peer_memory_forget(struct op *op, const struct managed_resource *resource,
                   const struct upstream_caller *caller, const char *announced)
{
    struct peer_entry *server = find_peer(op, server_key(op, resource));
    struct peer_entry *entry = find_peer(op, caller_key(op, resource, caller, announced));
    if (server != NULL)
        free_entry(server);
    if (entry != NULL)
        free_entry(entry);
}
