#include "config.h"

#include "http/fetch/fetch_places.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/settings/settings.h"
#include "crypto/random.h"
#include "http/shared.h"

/* Time between two tries of a process that waits, in milliseconds: 20 tries of some microseconds.
 */
#define LOOK_MS 5

/*
 * A place is a lock on one octet of the pool's file. The lock belongs to the descriptor
 * (F_OFD_SETLK), so it ends with the process, and a new process with the same number does not
 * inherit it. What an address holds is counted in the same way, so no list of holders can be out of
 * date: each address has its own octets, far behind the places, at a keyed hash of the address, and
 * each browser one octet behind those. The file stays empty.
 */
#define PLACES_AT 0
#define WAITS_AT 256
#define ADDRESSES_AT (1LL << 20)
#define NUMBER_MASK ((1ULL << 40) - 1)
#define ADDRESS_OCTETS 1024
/* In the octets of an address. */
#define ITS_PLACES 0
#define ITS_WAITS 256
#define ITS_CLIENTS 512
#define ITS_SLOW 768
#define BROWSERS_AT (1LL << 52)

/* Refresh header, in milliseconds: shortest, and the range above that in which the values are
 * spread, so that browsers which were sent away together do not come back together. While places
 * change hands, a browser may come back soon. While none does, hosts are slow, and it should wait
 * longer. A browser that reads whole seconds only comes back at once or after a second. */
#define SOON_MS 200
#define SOON_SPREAD_MS 700
#define LATER_MS 1000
#define LATER_SPREAD_MS 1000
/* Places change hands if one was taken or given back within this time, in milliseconds. */
#define MOVED_WITHIN_MS 1000

/* Octets of which a place needs one. */
struct share {
    off_t first;
    int count;
};

/* One attempt to take a place. */
struct attempt {
    const char *path;       /* the pool's file */
    int fd;                 /* the descriptor that gets the locks */
    int workers;            /* of the pool */
    enum fetch_hosts hosts; /* whose share of the places and of the waits */
    off_t address;          /* first octet of the client address */
    struct share share[3];  /* what is needed, in this order; the last one is the place */
    int shares;
    int locked; /* so many of them are ours */
};

static int
half(int number)
{
    return number / 2 > 0 ? number / 2 : 1;
}

int
fetch_places(int workers, enum fetch_hosts hosts)
{
    int all = workers <= 0 ? FETCH_PLACES_SPAWNED : half(workers);
    return fetch_hosts_of_clients(hosts) ? half(all) : all;
}

int
fetch_places_of_address(int workers, enum fetch_hosts hosts)
{
    return fetch_hosts_of_clients(hosts) ? 1 : half(fetch_places(workers, hosts));
}

int
fetch_waits(int workers, enum fetch_hosts hosts)
{
    int all =
        workers <= 0 ? FETCH_WAITS_SPAWNED : (workers - fetch_places(workers, FETCH_SAFE_HTTP)) / 2;
    return fetch_hosts_of_clients(hosts) ? all / 2 : all;
}

/* Lock one of `count` octets, the last free one. FETCH_FAULT_BUSY: all are locked by others. */
static enum fetch_fault
lock_one(int fd, off_t first, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        struct flock lock = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first + i, .l_len = 1};
        if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
            return FETCH_OK;
        if (errno != EAGAIN && errno != EACCES)
            return FETCH_FAULT_OURS;
    }
    return FETCH_FAULT_BUSY;
}

/* Lock what the place needs. An address or a browser whose share is taken locks no place. */
static enum fetch_fault
try_place(struct attempt *attempt)
{
    enum fetch_fault fault = FETCH_OK;
    for (; attempt->locked < attempt->shares; attempt->locked++) {
        const struct share *share = &attempt->share[attempt->locked];
        if ((fault = lock_one(attempt->fd, share->first, share->count)) != FETCH_OK)
            return fault;
    }
    return FETCH_OK;
}

static int
open_file(const char *path)
{
    return path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
}

/*
 * Wait until a place is free. The number of waiting workers is limited by locks too, on a
 * descriptor of their own; one address gets half of them, so that it cannot keep others from
 * waiting.
 */
static enum fetch_fault
wait_for_place(struct attempt *attempt, const volatile int *stopping)
{
    const struct timespec look = {.tv_sec = 0, .tv_nsec = LOOK_MS * 1000000L};
    int64_t until = clock_monotonic_ms() + FETCH_WAIT_MS;
    int waits = fetch_waits(attempt->workers, attempt->hosts);
    int fd = waits > 0 ? open_file(attempt->path) : -1;
    if (fd < 0)
        return FETCH_FAULT_BUSY;
    enum fetch_fault fault = lock_one(fd, attempt->address + ITS_WAITS, half(waits));
    if (fault == FETCH_OK)
        fault = lock_one(fd, WAITS_AT, waits);
    bool waiting = fault == FETCH_OK;
    while (waiting && !*stopping) {
        nanosleep(&look, NULL);
        fault = try_place(attempt);
        waiting = fault == FETCH_FAULT_BUSY && clock_monotonic_ms() < until;
    }
    close(fd);
    return fault;
}

static void
need(struct attempt *attempt, off_t first, int count)
{
    attempt->share[attempt->shares++] = (struct share){first, count};
}

/* Add the places of the pool. They are taken from the last one down: fetches from hosts that
 * clients name use the first ones only. */
static void
need_place(struct attempt *attempt)
{
    need(attempt, PLACES_AT, fetch_places(attempt->workers, attempt->hosts));
}

/* Take a place for the attempt, or wait for it. */
static enum fetch_fault
take(struct op *op, struct attempt *attempt, struct fetch_place *ret)
{
    struct az *az = op->az;
    if ((attempt->fd = open_file(attempt->path)) < 0)
        return FETCH_FAULT_OURS;
    enum fetch_fault fault = try_place(attempt);
    if (fault == FETCH_FAULT_BUSY)
        fault = wait_for_place(attempt, az->stopping);
    if (fault != FETCH_OK) {
        close(attempt->fd);
        return fault;
    }
    *ret = (struct fetch_place){.fd = attempt->fd, .az = az, .since = clock_monotonic_ms()};
    az->fetching = true;
    shared_places_moved(az->shared);
    return FETCH_OK;
}

static struct attempt
attempt_of(struct op *op, enum fetch_hosts hosts)
{
    uint64_t number = shared_address_number(op->az->shared, op->address) & NUMBER_MASK;
    return (struct attempt){
        .path = talloc_asprintf(op->mem, "%s/fetch-%s", op->az->cfg->runtime_dir, op->az->pool),
        .workers = op->az->pool_workers,
        .hosts = hosts,
        .address = (off_t) (ADDRESSES_AT + (long long) (number * ADDRESS_OCTETS)),
    };
}

enum fetch_fault
fetch_place_take(struct op *op, enum fetch_hosts hosts, struct fetch_place *ret)
{
    *ret = (struct fetch_place){.fd = -1};
    if (op->az->fetching || op->az->shared == NULL)
        return FETCH_OK;
    struct attempt attempt = attempt_of(op, hosts);
    if (fetch_hosts_of_clients(hosts))
        need(&attempt, attempt.address + ITS_CLIENTS,
             fetch_places_of_address(attempt.workers, hosts));
    need(&attempt, attempt.address + ITS_PLACES,
         fetch_places_of_address(attempt.workers, FETCH_SAFE_HTTP));
    need_place(&attempt);
    return take(op, &attempt, ret);
}

/* Return the number of a browser: the hash of a random text has no other. */
static uint64_t
browser_number(const struct fetch_turn *turn)
{
    uint64_t number;
    memcpy(&number, turn->browser, sizeof(number));
    return number;
}

/* Return the number of a provider for the address of the operation. */
static uint64_t
provider_number(const struct op *op, const struct fetch_turn *turn)
{
    uint64_t address = shared_address_number(op->az->shared, op->address);
    const char *name = talloc_asprintf(op->mem, "%016" PRIx64 " %s", address, turn->provider);
    return name != NULL ? shared_name_number(op->az->shared, name) : address;
}

enum fetch_fault
fetch_place_take_turn(struct op *op, const struct fetch_turn *turn, struct fetch_place *ret)
{
    const struct shared *shared = op->az->shared;
    uint64_t browser = browser_number(turn);
    *ret = (struct fetch_place){.fd = -1};
    if (op->az->fetching || shared == NULL)
        return FETCH_OK;
    if (shared_is_paused(shared, browser, op->now_ms, FETCH_PAUSE_MOST_MS))
        return FETCH_FAULT_BUSY;
    bool slow = shared_is_paused(shared, provider_number(op, turn), op->now_ms, FETCH_SLOW_FOR_MS);
    struct attempt attempt = attempt_of(op, slow ? FETCH_CIMD : FETCH_SAFE_HTTP);
    need(&attempt, (off_t) (BROWSERS_AT + (long long) (browser & NUMBER_MASK)), 1);
    need(&attempt, attempt.address + (slow ? ITS_SLOW : ITS_PLACES),
         fetch_places_of_address(attempt.workers, attempt.hosts));
    need_place(&attempt);
    enum fetch_fault fault = take(op, &attempt, ret);
    ret->turn = *turn;
    return fault;
}

void
fetch_place_drop(struct fetch_place *place)
{
    if (place->fd < 0)
        return;
    close(place->fd);
    place->fd = -1;
    place->az->fetching = false;
    shared_places_moved(place->az->shared);
}

void
fetch_place_pause(const struct op *op, const struct fetch_place *place)
{
    const struct fetch_turn *turn = &place->turn;
    int64_t held = clock_monotonic_ms() - place->since, now = clock_realtime_ms();
    if (place->fd < 0 || turn->browser == NULL)
        return;
    if (held >= FETCH_SLOW_MS)
        shared_pause(op->az->shared, provider_number(op, turn), now, FETCH_SLOW_FOR_MS);
    if (held < FETCH_PAUSE_LEAST_MS)
        held = FETCH_PAUSE_LEAST_MS;
    if (held > FETCH_PAUSE_MOST_MS)
        held = FETCH_PAUSE_MOST_MS;
    shared_pause(op->az->shared, browser_number(turn), now, (long) held);
}

const char *
fetch_place_why(enum fetch_fault fault)
{
    return fault == FETCH_FAULT_BUSY
               ? "the maximum number of workers is already fetching, or that of this address or "
                 "browser is"
               : "the counter file in SVC_RUNTIME_DIR cannot be opened or locked";
}

const char *
fetch_place_refresh(struct op *op)
{
    uint32_t random;
    bool soon = op->az->shared != NULL && shared_places_have_moved(op->az->shared, MOVED_WITHIN_MS);
    if (random_nonce(&random, sizeof(random)) != AZ_OK)
        return NULL;
    unsigned ms = soon ? SOON_MS + random % SOON_SPREAD_MS : LATER_MS + random % LATER_SPREAD_MS;
    return talloc_asprintf(op->mem, "%u.%03u", ms / 1000, ms % 1000);
}
