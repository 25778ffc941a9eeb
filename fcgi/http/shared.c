#include "config.h"

#include "http/shared.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "crypto/digest.h"
#include "host/slot.h"
#include "http/address.h"

/* Addresses that are counted at a time: 65,536 words of 8 octets. An attack from a whole /16 takes
 * half a megabyte. */
#define SLOTS 65536u
/* Addresses whose sign-ins to the console are counted at a time. */
#define SIGN_INS 4096u
/* Slots that are tried for one address. */
#define PROBES 16u
/* Long polls held on one host at a time, and trials of policy; far above any sensible pool. */
#define PLACES 64
/* First slots of both. */
#define HOLDS_AT 0
#define TRIALS_AT PLACES
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
/* One word per number that pauses: print 20 bits | end of the pause in milliseconds 44 bits. */
#define PAUSE_SHIFT 44
#define UNTIL_MASK ((1ULL << PAUSE_SHIFT) - 1)

/* One word per address, so that a single compare-and-swap decides: print 24 bits | window 20 bits |
 * count 20 bits. */
#define PRINT_SHIFT 40
#define WINDOW_SHIFT 20
#define FIELD_MASK 0xfffffULL

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
    struct host_file *file; /* its slots are those of who holds a long poll or a trial */
    struct map *map;
};

enum az_status
shared_open(TALLOC_CTX *mem, const char *dir, struct shared **ret, const char **ret_why)
{
    struct shared *shared = talloc_zero(mem, struct shared);
    if (shared == NULL)
        return AZ_SERVER_ERROR;
    enum az_status st =
        host_file_open(shared, dir, "shared", MAGIC, sizeof(struct map), &shared->file, ret_why);
    if (st != AZ_OK) {
        talloc_free(shared);
        return st;
    }
    shared->map = shared->file->at;
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

static uint64_t
word_make(uint64_t print, uint64_t window, uint64_t count)
{
    return print << PRINT_SHIFT | window << WINDOW_SHIFT | count;
}

/*
 * True if a counter of window `its` counts now. The next window counts too, because another process
 * may have read the clock a moment later. Any other window is old, even one that seems to be ahead:
 * the window's length or the clock was changed.
 */
static bool
window_counts(uint64_t its, uint64_t now)
{
    return its == now || its == ((now + 1) & FIELD_MASK);
}

enum verdict { ADMITTED, REFUSED, TAKEN };

/* Count in the slot if it is ours, or claim it if it is free or of an older window. */
static enum verdict
count_in_slot(_Atomic uint64_t *slot, uint64_t print, uint64_t window, uint64_t limit, bool claim)
{
    uint64_t word = atomic_load_explicit(slot, memory_order_relaxed);
    for (;;) {
        uint64_t its_window = word >> WINDOW_SHIFT & FIELD_MASK, count = word & FIELD_MASK, next;
        bool ours = word >> PRINT_SHIFT == print && word != 0;
        if (ours && window_counts(its_window, window)) {
            if (count >= limit)
                return REFUSED;
            next = word + 1;
        } else if (claim && (word == 0 || !window_counts(its_window, window))) {
            next = word_make(print, window, 1);
        } else {
            return TAKEN;
        }
        if (atomic_compare_exchange_weak(slot, &word, next))
            return ADMITTED;
    }
}

/* A table of counters whose windows have one length. */
struct table {
    _Atomic uint64_t *slot, *overflow;
    unsigned slots;
};

/* Count in the slot of a hash. */
static bool
count_hash(const struct table *table, uint64_t hash, uint64_t window, uint64_t limit)
{
    uint64_t print = hash >> PRINT_SHIFT | 1;
    for (int pass = 0; pass < 2; pass++) /* first look for our counter, then for a free slot */
        for (unsigned i = 0; i < PROBES; i++) {
            enum verdict verdict = count_in_slot(&table->slot[(hash + i) % table->slots], print,
                                                 window, limit, pass == 1);
            if (verdict != TAKEN)
                return verdict == ADMITTED;
        }
    return count_in_slot(table->overflow, 1, window, limit, true) == ADMITTED;
}

/* Return the number of a window, as a counter keeps it. */
static uint64_t
window_of(int64_t now, long window)
{
    return (uint64_t) (now / window) & FIELD_MASK;
}

/* Count a request of the number under which it is counted. */
static bool
admit(struct shared *shared, uint64_t number, int64_t now, long window, long limit,
      long *ret_retry_after)
{
    uint64_t most = (uint64_t) limit < FIELD_MASK ? (uint64_t) limit : FIELD_MASK;
    *ret_retry_after = window - (long) (now % window);
    const struct table table = {shared->map->slot, &shared->map->overflow, SLOTS};
    return count_hash(&table, number, window_of(now, window), most);
}

bool
shared_rate_admit(struct shared *shared, const char *address, int64_t now, long window, long limit,
                  long *ret_retry_after)
{
    return admit(shared, address_hash(shared->map, address, window), now, window, limit,
                 ret_retry_after);
}

bool
shared_check_admit(struct shared *shared, const char *address, int64_t now, long window, long limit,
                   long *ret_retry_after)
{
    return admit(shared, address_hash(shared->map, address, FOR_CHECKS(window)), now, window, limit,
                 ret_retry_after);
}

bool
shared_sign_in_begin(struct shared *shared, const char *address, int64_t now, long *ret_retry_after)
{
    *ret_retry_after = SHARED_SIGN_IN_WINDOW - (long) (now % SHARED_SIGN_IN_WINDOW);
    const struct table table = {shared->map->sign_in, &shared->map->sign_in_overflow, SIGN_INS};
    return count_hash(&table, address_hash(shared->map, address, FOR_SIGN_INS),
                      window_of(now, SHARED_SIGN_IN_WINDOW), SHARED_SIGN_INS_MAX);
}

/* A counter of another window, or one that became free, is left alone. */
void
shared_sign_in_good(struct shared *shared, const char *address, int64_t now)
{
    struct map *map = shared->map;
    uint64_t hash = address_hash(map, address, FOR_SIGN_INS);
    uint64_t head =
        (hash >> PRINT_SHIFT | 1) << WINDOW_SHIFT | window_of(now, SHARED_SIGN_IN_WINDOW);
    for (unsigned i = 0; i < PROBES; i++) {
        _Atomic uint64_t *slot = &map->sign_in[(hash + i) % SIGN_INS];
        uint64_t word = atomic_load(slot);
        while (word >> WINDOW_SHIFT == head && (word & FIELD_MASK) > 0)
            if (atomic_compare_exchange_weak(slot, &word, word - 1))
                return;
    }
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
    struct map *map = shared->map;
    uint64_t print = number >> PAUSE_SHIFT | 1;
    uint64_t next = print << PAUSE_SHIFT | ((uint64_t) (now_ms + ms) & UNTIL_MASK);
    for (unsigned i = 0; i < PROBES; i++) {
        _Atomic uint64_t *slot = &map->pause[(number + i) % PAUSES];
        uint64_t word = atomic_load(slot);
        bool free = word >> PAUSE_SHIFT == print || (int64_t) (word & UNTIL_MASK) <= now_ms;
        if (free && atomic_compare_exchange_strong(slot, &word, next))
            return;
    }
    atomic_store(&map->pause[number % PAUSES], next);
}

bool
shared_is_paused(const struct shared *shared, uint64_t number, int64_t now_ms, long longest)
{
    struct map *map = shared->map;
    uint64_t print = number >> PAUSE_SHIFT | 1;
    for (unsigned i = 0; i < PROBES; i++) {
        uint64_t word = atomic_load(&map->pause[(number + i) % PAUSES]);
        int64_t until = (int64_t) (word & UNTIL_MASK);
        if (word >> PAUSE_SHIFT == print && until > now_ms && until <= now_ms + longest)
            return true;
    }
    return false;
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

/* Take one of the first `limit` places from a slot on, unless this process has one of them. */
static bool
take_place(struct shared *shared, int first, int limit)
{
    for (int i = first; i < first + PLACES; i++)
        if (slot_is_ours(shared->file, i))
            return true;
    return slot_take_one(shared->file, first, limit < PLACES ? limit : PLACES, 0) >= 0;
}

static void
drop_place(struct shared *shared, int first)
{
    for (int i = first; i < first + PLACES; i++)
        slot_drop(shared->file, i);
}

bool
shared_hold_take(struct shared *shared, int limit)
{
    return take_place(shared, HOLDS_AT, limit);
}

void
shared_hold_drop(struct shared *shared)
{
    drop_place(shared, HOLDS_AT);
}

bool
shared_trial_take(struct shared *shared, int limit)
{
    return take_place(shared, TRIALS_AT, limit);
}

void
shared_trial_drop(struct shared *shared)
{
    drop_place(shared, TRIALS_AT);
}
