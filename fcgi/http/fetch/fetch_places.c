#include "config.h"

#include "http/fetch/fetch_places.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/settings/settings.h"
#include "crypto/random.h"
#include "host/places.h"
#include "http/shared.h"

/* Time between two tries of a process that waits, in milliseconds: 20 tries of some microseconds.
 */
#define LOOK_MS 5

/* Slots of the pool's file: first the slots of fetches and of processes that wait; far behind them
 * the slots of addresses and of browsers, each at a keyed hash, so that no list of holders can be
 * out of date. */
#define PLACES_AT 0
#define WAITS_AT 256
#define ADDRESSES_AT (1LL << 20)
#define NUMBER_MASK ((1ULL << 40) - 1)
#define ADDRESS_SLOTS 1024
/* In the slots of an address. */
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

/* One attempt to take a place. */
struct attempt {
    struct places_ask ask;
    int workers;            /* of the pool */
    enum fetch_hosts hosts; /* whose share of the places and of the waits */
    int64_t address;        /* first slot of the client address */
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

static void
need(struct attempt *attempt, int64_t first, int count)
{
    attempt->ask.need[attempt->ask.needs++] = (struct places_need){first, count};
}

/* Add the place of the pool, and what a process needs that waits for it. Places are taken from the
 * last one down: fetches from hosts that clients name use the first ones only. Of the processes
 * that wait, one address gets half, so that it cannot keep others from waiting. */
static void
need_place(struct attempt *attempt)
{
    int waits = fetch_waits(attempt->workers, attempt->hosts);
    need(attempt, PLACES_AT, fetch_places(attempt->workers, attempt->hosts));
    attempt->ask.wait[0] = (struct places_need){attempt->address + ITS_WAITS, half(waits)};
    attempt->ask.wait[1] = (struct places_need){WAITS_AT, waits};
    attempt->ask.waits = 2;
}

/* Return the places of the pool, opened when they are first needed. NULL: they cannot be. */
static struct places *
places_of(struct op *op)
{
    struct az *az = op->az;
    const char *name = talloc_asprintf(op->mem, "fetch-%s", az->pool);
    if (az->fetch_places == NULL && name != NULL)
        az->fetch_places = places_open(az, az->cfg->runtime_dir, name);
    return az->fetch_places;
}

/* Take a place for the attempt, or wait for it. */
static enum fetch_fault
take(struct op *op, const struct attempt *attempt, struct fetch_place *ret)
{
    struct az *az = op->az;
    struct places *places = places_of(op);
    struct places_hold *hold = NULL;
    size_t lacks;
    enum places_end end =
        places != NULL ? places_take(op->mem, places, &attempt->ask, &hold, &lacks) : PLACES_FAULT;
    if (end != PLACES_TAKEN)
        return end == PLACES_FULL ? FETCH_FAULT_BUSY : FETCH_FAULT_OURS;
    *ret = (struct fetch_place){.hold = hold, .az = az, .since = clock_monotonic_ms()};
    shared_places_moved(az->shared);
    return FETCH_OK;
}

/* True if the process needs no slot: it has one, or does not belong to a pool. */
static bool
needs_none(const struct az *az)
{
    return az->shared == NULL || (az->fetch_places != NULL && places_are_kept(az->fetch_places));
}

static struct attempt
attempt_of(struct op *op, enum fetch_hosts hosts)
{
    uint64_t number = shared_address_number(op->az->shared, op->address) & NUMBER_MASK;
    return (struct attempt){
        .ask = {.wait_ms = FETCH_WAIT_MS,
                .look_ms = LOOK_MS,
                .keeps = true,
                .stopping = op->az->stopping},
        .workers = op->az->pool_workers,
        .hosts = hosts,
        .address = (int64_t) (ADDRESSES_AT + number * ADDRESS_SLOTS),
    };
}

enum fetch_fault
fetch_place_take(struct op *op, enum fetch_hosts hosts, struct fetch_place *ret)
{
    *ret = (struct fetch_place){.hold = NULL};
    if (needs_none(op->az))
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
    *ret = (struct fetch_place){.hold = NULL};
    if (needs_none(op->az))
        return FETCH_OK;
    if (shared_is_paused(shared, browser, op->now_ms, FETCH_PAUSE_MOST_MS))
        return FETCH_FAULT_BUSY;
    bool slow = shared_is_paused(shared, provider_number(op, turn), op->now_ms, FETCH_SLOW_FOR_MS);
    struct attempt attempt = attempt_of(op, slow ? FETCH_CIMD : FETCH_SAFE_HTTP);
    need(&attempt, (int64_t) (BROWSERS_AT + (browser & NUMBER_MASK)), 1);
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
    if (place->hold == NULL)
        return;
    TALLOC_FREE(place->hold);
    shared_places_moved(place->az->shared);
}

void
fetch_place_pause(const struct op *op, const struct fetch_place *place)
{
    const struct fetch_turn *turn = &place->turn;
    int64_t held = clock_monotonic_ms() - place->since, now = clock_realtime_ms();
    if (place->hold == NULL || turn->browser == NULL)
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
