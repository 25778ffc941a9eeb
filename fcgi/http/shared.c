#include "config.h"

#include "http/shared.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "crypto/digest.h"
#include "host/rate.h"
#include "host/slot.h"
#include "http/address.h"

/* Addresses that are counted at a time: 65,536 words of 8 octets. An attack from a whole /16 takes
 * half a megabyte. */
#define SLOTS 65536u
/* Addresses whose sign-ins to the console are counted at a time. */
#define SIGN_INS 4096u
/* Places of a kind on one host, a slot each; far above any sensible pool. */
#define PLACES 64
/* Numbers that pause at a time. Each of them held a place for a fetch within the last minute, and a
 * host has at most 128 of those. */
#define PAUSES 1024u
/* Changes with the layout of struct map, so that a file of another layout is replaced. */
#define MAGIC (0x617a7368617265ULL + 4)
/* Purposes of the hash of an address. A positive number is the window of a rate limit in seconds.
 */
#define FOR_LOCKS (-1)
#define FOR_SIGN_INS (-2)
/* Questions of web servers in windows of so many seconds: a number below those above. */
#define FOR_CHECKS(window) (-2 - (window))

struct map {
    struct host_head head;
    _Atomic uint64_t overflow; /* counter of all addresses that find no slot */
    _Atomic int64_t moved;     /* last time that a place for fetches changed hands; monotonic */
    _Atomic uint64_t pause[PAUSES]; /* numbers that pause */
    _Atomic uint64_t slot[SLOTS];   /* counters */
    /* The same for sign-ins: another window makes the counters of a table look old. */
    _Atomic uint64_t sign_in_overflow;
    _Atomic uint64_t sign_in[SIGN_INS];
};

struct shared {
    struct host_file *file; /* its slots are held by long polls or trials */
    struct map *map;
};

enum az_status
shared_open(TALLOC_CTX *mem, const char *dir, struct shared **ret, const char **ret_why)
{
    struct host_file *file;
    enum az_status st =
        host_file_open(mem, dir, "shared", MAGIC, sizeof(struct map), &file, ret_why);
    if (st != AZ_OK)
        return st;
    struct shared *shared = talloc_zero(mem, struct shared);
    if (shared == NULL) {
        talloc_free(file);
        *ret_why = "out of memory";
        return AZ_SERVER_ERROR;
    }
    shared->file = talloc_steal(shared, file);
    shared->map = file->at;
    *ret = shared;
    return AZ_OK;
}

static uint64_t
address_hash(const struct map *map, const char *address, long window)
{
    unsigned char text[32 + sizeof(window) + 16], digest[32];
    uint64_t hash;
    /* The window's length is part of the hash: counters made under another setting must not count,
     * and the same address has another number for each purpose. */
    const size_t head = 32 + sizeof(window);
    memset(text, 0, sizeof(text));
    memcpy(text, map->head.key, HOST_KEY_OCTETS);
    memcpy(text + 32, &window, sizeof(window));
    size_t length = address_counted(address, text + head);
    if (sha256(text, head + length, digest) != AZ_OK)
        return 1; /* all addresses share one slot then, and the limit still holds */
    memcpy(&hash, digest, sizeof(hash));
    return hash;
}

bool
shared_rate_admit(struct shared *shared, const char *address, int64_t now, long window, long limit,
                  long *ret_retry_after)
{
    const struct rate_table table = {shared->map->slot, &shared->map->overflow, SLOTS};
    return rate_count(&table, address_hash(shared->map, address, window), now, window, limit,
                      ret_retry_after);
}

bool
shared_check_admit(struct shared *shared, const char *address, int64_t now, long window, long limit,
                   long *ret_retry_after)
{
    const struct rate_table table = {shared->map->slot, &shared->map->overflow, SLOTS};
    return rate_count(&table, address_hash(shared->map, address, FOR_CHECKS(window)), now, window,
                      limit, ret_retry_after);
}

bool
shared_sign_in_begin(struct shared *shared, const char *address, int64_t now, long *ret_retry_after)
{
    const struct rate_table table = {shared->map->sign_in, &shared->map->sign_in_overflow,
                                     SIGN_INS};
    return rate_count(&table, address_hash(shared->map, address, FOR_SIGN_INS), now,
                      SHARED_SIGN_IN_WINDOW, SHARED_SIGN_INS_MAX, ret_retry_after);
}

void
shared_sign_in_good(struct shared *shared, const char *address, int64_t now)
{
    const struct rate_table table = {shared->map->sign_in, &shared->map->sign_in_overflow,
                                     SIGN_INS};
    rate_uncount(&table, address_hash(shared->map, address, FOR_SIGN_INS), now,
                 SHARED_SIGN_IN_WINDOW);
}

uint64_t
shared_address_number(const struct shared *shared, const char *address)
{
    return address_hash(shared->map, address, FOR_LOCKS);
}

uint64_t
shared_name_number(const struct shared *shared, const char *name)
{
    unsigned char text[HOST_KEY_OCTETS + 1 + SHA256_OCTETS], digest[SHA256_OCTETS];
    uint64_t number;
    memcpy(text, shared->map->head.key, HOST_KEY_OCTETS);
    text[HOST_KEY_OCTETS] = 'n';
    if (sha256(name, strlen(name), text + HOST_KEY_OCTETS + 1) != AZ_OK
        || sha256(text, sizeof(text), digest) != AZ_OK)
        return 1; /* all names have one number then */
    memcpy(&number, digest, sizeof(number));
    return number;
}

void
shared_pause(struct shared *shared, uint64_t number, int64_t now_ms, long ms)
{
    rate_pause(shared->map->pause, PAUSES, number, now_ms, ms);
}

bool
shared_is_paused(const struct shared *shared, uint64_t number, int64_t now_ms, long longest)
{
    return rate_is_paused(shared->map->pause, PAUSES, number, now_ms, longest);
}

void
shared_places_moved(struct shared *shared)
{
    atomic_store(&shared->map->moved, clock_monotonic_ms());
}

bool
shared_places_have_moved(const struct shared *shared, int64_t ms)
{
    int64_t age = clock_monotonic_ms() - atomic_load(&shared->map->moved);
    return age >= 0 && age <= ms; /* below 0: written before the machine was started again */
}

bool
shared_place_take(struct shared *shared, enum shared_place kind, int limit)
{
    const int first = (int) kind * PLACES;
    for (int i = first; i < first + PLACES; i++)
        if (slot_is_ours(shared->file, i))
            return true;
    return slot_take_one(shared->file, first, limit < PLACES ? limit : PLACES, 0) >= 0;
}

void
shared_place_drop(struct shared *shared, enum shared_place kind)
{
    const int first = (int) kind * PLACES;
    for (int i = first; i < first + PLACES; i++)
        slot_drop(shared->file, i);
}
