#include "config.h"

#include "gateway/mcp/tools/verdict_memory.h"

#include <string.h>

#include "base/b64url.h"
#include "base/clock.h"
#include "base/json/jsonx.h"
#include "gateway/process/gateway_process.h"

/* One list. */
struct verdict_entry {
    struct verdict_key key;
    int64_t until_ms; /* monotonic; 0: the entry is free */
    char *request_id; /* owns the revision and the verdicts; NULL: the entry is free */
    const char *revision;
    size_t tools;
    unsigned char *verdict;
};

struct verdict_memory {
    struct verdict_entry entry[VERDICTS_ENTRIES];
};

/* ---- the key */

static json_t *
resource_key(const struct managed_resource *resource, bool linked)
{
    return json_pack("[I,I,s,b]", (json_int_t) resource->id, (json_int_t) resource->version,
                     managed_status_word(resource->status), (int) linked);
}

enum az_status
verdict_key_make(const struct mcp_exchange *it, const struct mcp_catalogue *catalogue,
                 const bool *linked, struct verdict_key *ret)
{
    struct request *req = it->req;
    const struct own_token *token = it->access.token;
    const char *id = b64url_encode(req->op.mem, token->parts.id, sizeof(token->parts.id));
    struct jsonx_build whole = {
        jsonx_own(req->op.mem,
                  json_pack("[s,s,s?,s?,s,s,O]", id != NULL ? id : "", req->route->path, req->ip,
                            req->user_agent, it->version.name, it->message.method, token->scopes)),
        id == NULL};
    for (size_t i = 0; i < catalogue->resources; i++)
        jsonx_append(&whole, resource_key(catalogue->resource[i], linked[i]));
    const char *text = jsonx_built(&whole) != NULL ? jsonx_dump(req->op.mem, whole.value) : NULL;
    return text != NULL && sha256_hex(text, strlen(text), ret->sha256) == AZ_OK
               ? AZ_OK
               : op_no_memory(&req->op);
}

/* ---- the memory */

static struct verdict_entry *
find_entry(const struct verdict_memory *memory, const struct verdict_key *key)
{
    for (size_t i = 0; memory != NULL && i < VERDICTS_ENTRIES; i++) {
        const struct verdict_entry *entry = &memory->entry[i];
        if (entry->request_id != NULL && strcmp(entry->key.sha256, key->sha256) == 0)
            return (struct verdict_entry *) (uintptr_t) entry;
    }
    return NULL;
}

const char *
verdicts_find(const struct mcp_exchange *it, const struct mcp_catalogue *catalogue,
              const struct verdict_key *key, enum gateway_verdict *ret)
{
    struct op *op = &it->req->op;
    const struct verdict_entry *entry = find_entry(op->az->gateway->verdicts, key);
    if (entry == NULL || entry->until_ms <= clock_monotonic_ms() || entry->tools != catalogue->tools
        || !token_revision_acceptable(it->access.token->lookup.acceptable, entry->revision))
        return NULL;
    for (size_t i = 0; i < entry->tools; i++)
        ret[i] = (enum gateway_verdict) entry->verdict[i];
    return talloc_strdup(op->mem, entry->request_id);
}

/* Return the slot for a key: the slot of its earlier verdicts, a free slot, or the slot of the
 * oldest ones. */
static struct verdict_entry *
take_place(struct verdict_memory *memory, const struct verdict_key *key)
{
    struct verdict_entry *place = find_entry(memory, key);
    for (size_t i = 0; place == NULL && i < VERDICTS_ENTRIES; i++)
        if (memory->entry[i].request_id == NULL)
            place = &memory->entry[i];
    if (place == NULL)
        place = &memory->entry[0];
    for (size_t i = 1; place->request_id != NULL && strcmp(place->key.sha256, key->sha256) != 0
                       && i < VERDICTS_ENTRIES;
         i++)
        if (memory->entry[i].until_ms < place->until_ms)
            place = &memory->entry[i];
    talloc_free(place->request_id);
    *place = (struct verdict_entry){.request_id = NULL};
    return place;
}

void
verdicts_keep(const struct mcp_exchange *it, const struct mcp_catalogue *catalogue,
              const struct verdict_key *key, const char *revision,
              const enum gateway_verdict *verdicts)
{
    struct op *op = &it->req->op;
    if (op->az->gateway->verdicts == NULL)
        op->az->gateway->verdicts = talloc_zero(op->az, struct verdict_memory);
    if (op->az->gateway->verdicts == NULL || revision == NULL)
        return;
    struct verdict_entry *place = take_place(op->az->gateway->verdicts, key);
    char *id = talloc_strdup(op->az->gateway->verdicts, op->request_id);
    struct verdict_entry fresh = {
        .key = *key,
        .until_ms = clock_monotonic_ms() + VERDICTS_SECONDS * 1000,
        .request_id = id,
        .revision = id != NULL ? talloc_strdup(id, revision) : NULL,
        .tools = catalogue->tools,
        .verdict = id != NULL ? talloc_size(id, catalogue->tools + 1) : NULL,
    };
    if (fresh.revision == NULL || fresh.verdict == NULL) {
        talloc_free(id);
        return;
    }
    for (size_t i = 0; i < catalogue->tools; i++)
        fresh.verdict[i] = (unsigned char) verdicts[i];
    *place = fresh;
}
