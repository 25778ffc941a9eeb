#include "config.h"

#include "gateway/calls.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "host/slot.h"

#define KEY_WORDS (SHA256_OCTETS / sizeof(uint64_t))

/* A worker's place, which is its slot of the memory. `call` counts its calls, and is odd during
 * one, which the key identifies. Numbers are not used again, so that a cancellation that comes late
 * reaches no other call. */
struct place {
    _Atomic uint64_t call, cancelled;
    _Atomic uint64_t key[KEY_WORDS];
};

struct calls {
    struct host_file *memory;
    struct place *place; /* CALLS_MAX */
    struct place *own;   /* of this process, or NULL */
    pid_t pid;           /* owner of the slot; a child process starts without one */
};

struct calls *
calls_new(TALLOC_CTX *mem)
{
    struct calls *calls = talloc_zero(mem, struct calls);
    if (calls == NULL)
        return NULL;
    calls->memory = host_file_memory(calls, "authz-calls", CALLS_MAX * sizeof(*calls->place));
    if (calls->memory == NULL)
        TALLOC_FREE(calls);
    else
        calls->place = calls->memory->at;
    return calls;
}

/* Return the slot of this process, and take one if it has none yet; NULL: all are taken. */
static struct place *
own_place(struct calls *calls)
{
    pid_t pid = getpid();
    int64_t number = calls->pid != pid ? slot_take_one(calls->memory, 0, CALLS_MAX, 0) : -1;
    if (number >= 0) {
        calls->own = &calls->place[number];
        calls->pid = pid;
        calls_end(calls); /* the last worker may have died in a call */
    }
    return calls->pid == pid ? calls->own : NULL;
}

void
calls_begin(struct calls *calls, const unsigned char key[SHA256_OCTETS])
{
    struct place *own = calls != NULL ? own_place(calls) : NULL;
    uint64_t words[KEY_WORDS];
    if (own == NULL)
        return;
    memcpy(words, key, sizeof(words));
    for (size_t i = 0; i < KEY_WORDS; i++)
        atomic_store(&own->key[i], words[i]);
    atomic_fetch_or(&own->call, 1);
}

void
calls_end(struct calls *calls)
{
    struct place *own = calls != NULL && calls->pid == getpid() ? calls->own : NULL;
    if (own != NULL && (atomic_load(&own->call) & 1) != 0)
        atomic_fetch_add(&own->call, 1);
}

bool
calls_is_cancelled(const struct calls *calls)
{
    const struct place *own = calls != NULL && calls->pid == getpid() ? calls->own : NULL;
    uint64_t call = own != NULL ? atomic_load(&own->call) : 0;
    return (call & 1) != 0 && atomic_load(&own->cancelled) == call;
}

/* True if a place has this key, and `call` is still its number then. */
static bool
has_key(const struct place *place, const uint64_t *words, uint64_t call)
{
    bool same = true;
    for (size_t i = 0; i < KEY_WORDS; i++)
        same = same && atomic_load(&place->key[i]) == words[i];
    return same && atomic_load(&place->call) == call;
}

bool
calls_cancel(struct calls *calls, const unsigned char key[SHA256_OCTETS])
{
    uint64_t words[KEY_WORDS];
    bool found = false;
    memcpy(words, key, sizeof(words));
    for (size_t i = 0; calls != NULL && i < CALLS_MAX; i++) {
        struct place *place = &calls->place[i];
        uint64_t call = atomic_load(&place->call);
        if ((call & 1) == 0 || !has_key(place, words, call))
            continue;
        atomic_store(&place->cancelled, call);
        found = true;
    }
    return found;
}
