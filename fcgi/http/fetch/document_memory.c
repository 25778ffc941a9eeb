#include "config.h"

#include "http/fetch/document_memory.h"

#include <string.h>

#include "base/json/jsonx.h"

struct memory_entry {
    unsigned char key[SHA256_OCTETS];
    int64_t until;         /* clock_monotonic_ms() */
    TALLOC_CTX *reference; /* holds our reference to the JSON; NULL: the entry is free */
    struct document_remembered document;
};

struct document_memory {
    struct memory_entry entry[DOCUMENT_MEMORY_MAX];
};

static struct memory_entry *
memory_find(struct document_memory *memory, const unsigned char key[SHA256_OCTETS])
{
    for (size_t i = 0; memory != NULL && i < DOCUMENT_MEMORY_MAX; i++)
        if (memory->entry[i].reference != NULL
            && memcmp(memory->entry[i].key, key, SHA256_OCTETS) == 0)
            return &memory->entry[i];
    return NULL;
}

/* Return a free entry, or the one that ends first. */
static struct memory_entry *
find_room(struct document_memory *memory)
{
    struct memory_entry *room = &memory->entry[0];
    for (size_t i = 0; i < DOCUMENT_MEMORY_MAX; i++) {
        struct memory_entry *entry = &memory->entry[i];
        if (entry->reference == NULL)
            return entry;
        if (entry->until < room->until)
            room = entry;
    }
    return room;
}

/* Drop our reference; a caller that was given the JSON holds its own. */
static void
forget(struct memory_entry *entry)
{
    TALLOC_FREE(entry->reference);
}

/* Add a reference that is dropped with mem. */
static const json_t *
share(TALLOC_CTX *mem, const json_t *json)
{
    return jsonx_own(mem, json_incref((json_t *) (uintptr_t) json));
}

bool
document_recall(struct op *op, const unsigned char key[SHA256_OCTETS], int64_t now,
                struct document_remembered *ret)
{
    struct memory_entry *entry = memory_find(op->az->documents, key);
    if (entry == NULL)
        return false;
    if (now >= entry->until) {
        forget(entry);
        return false;
    }
    if (share(op->mem, entry->document.json) == NULL)
        return false;
    *ret = entry->document;
    return true;
}

void
document_remember(struct op *op, const unsigned char key[SHA256_OCTETS], int64_t now,
                  int64_t seconds, const struct document_remembered *document)
{
    struct az *az = op->az;
    struct memory_entry *entry = memory_find(az->documents, key);
    if (entry != NULL)
        forget(entry);
    if (az->documents == NULL)
        az->documents = talloc_zero(az, struct document_memory);
    TALLOC_CTX *reference = az->documents != NULL ? talloc_new(az->documents) : NULL;
    if (seconds <= 0 || reference == NULL || share(reference, document->json) == NULL) {
        talloc_free(reference);
        return;
    }
    entry = find_room(az->documents);
    forget(entry);
    entry->reference = reference;
    entry->until =
        now + (seconds < DOCUMENT_MEMORY_MS / 1000 ? seconds * 1000 : DOCUMENT_MEMORY_MS);
    entry->document = *document;
    memcpy(entry->key, key, SHA256_OCTETS);
}
