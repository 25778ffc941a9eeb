#include "config.h"

#include "gateway/upstream/room.h"

#include <string.h>
#include <unistd.h>

#include "base/settings/settings.h"
#include "gateway/process/gateway_process.h"
#include "gateway/upstream/credential.h"
#include "host/places.h"
#include "http/shared.h"

/* Time between two tries of a worker that waits, in milliseconds. */
#define ROOM_LOOK_MS 2

/* Milliseconds after a refusal in which requests are refused without a wait: otherwise the waiting
 * requests of a greedy client would hold the workers that others need. */
#define ROOM_FULL_MS 1000

/* Slots of the pool's file: first the slots of the workers that wait for upstreams, then of the
 * workers that wait for people, and far behind them the slots of each client, person and resource,
 * at a keyed hash of its name. */
#define PLACES_AT 0
#define LINGER_AT (1LL << 19)
#define SHARES_AT (1LL << 20)
#define SHARE_MASK ((1ULL << 40) - 1)
#define SHARE_SLOTS 256

int
upstream_room(int workers)
{
    return workers > 1 ? workers - 1 : 1;
}

static int
half(int number)
{
    return number / 2 > 0 ? number / 2 : 1;
}

int
upstream_room_share(int workers)
{
    return half(upstream_room(workers));
}

/* Add a share. The kind keeps a client from counting as a resource of the same name. */
static enum az_status
add_share(struct op *op, struct places_ask *ask, int most, char kind, const char *name,
          const char *of)
{
    char *key = talloc_asprintf(op->mem, "%c %s %s", kind, of != NULL ? of : "", name);
    if (key == NULL)
        return AZ_SERVER_ERROR;
    uint64_t number = shared_name_number(op->az->shared, key) & SHARE_MASK;
    ask->need[ask->needs++] =
        (struct places_need){(int64_t) (SHARES_AT + number * SHARE_SLOTS), most};
    return AZ_OK;
}

/* A kind of places: letters for the shares of resource, client and person, which have so many. */
struct room {
    const char *kinds;
    struct places_need place;
    int most;
};

/* Add the shares, and then the place. */
static enum az_status
add_needs(struct op *op, struct places_ask *ask, const struct room *room, const char *resource,
          const struct upstream_caller *caller)
{
    enum az_status st = add_share(op, ask, room->most, room->kinds[0], resource, NULL);
    if (st == AZ_OK && caller != NULL && caller->client_id != NULL)
        st = add_share(op, ask, room->most, room->kinds[1], caller->client_id, NULL);
    if (st == AZ_OK && caller != NULL && caller->subject != NULL)
        st = add_share(op, ask, room->most, room->kinds[2], caller->subject, caller->idp);
    ask->need[ask->needs++] = room->place;
    return st;
}

/* Take what is asked for, until `mem` is freed. *ret_greedy: the caller or the resource has its
 * share. */
static enum az_status
take(struct op *op, TALLOC_CTX *mem, const struct places_ask *ask, bool *ret_greedy)
{
    struct az *az = op->az;
    struct places_hold *hold;
    size_t lacks = 0;
    if (az->gateway->room == NULL)
        az->gateway->room = places_open(az, az->cfg->runtime_dir, "gateway-room");
    enum places_end end = az->gateway->room != NULL
                              ? places_take(mem, az->gateway->room, ask, &hold, &lacks)
                              : PLACES_FAULT;
    *ret_greedy = lacks + 1 < ask->needs;
    return end == PLACES_TAKEN ? AZ_OK : end == PLACES_FULL ? AZ_BUSY : AZ_SERVER_ERROR;
}

/* Return the reason of a failure, for the operator. */
static const char *
room_why(enum az_status st, bool greedy)
{
    if (st != AZ_BUSY)
        return "the file in SVC_RUNTIME_DIR cannot be opened or locked";
    return greedy ? "the client, the person or the resource has its share of the gateway's workers"
                  : "all other workers of the gateway wait for upstreams (--gateway)";
}

/* True if places are counted for this process. */
static bool
is_counted(const struct az *az)
{
    return az->shared != NULL && az->pool_workers >= 2 && strcmp(az->pool, "gateway") == 0;
}

enum az_status
upstream_room_keep(struct op *op, const char *resource, const struct upstream_caller *caller)
{
    struct az *az = op->az;
    struct places_ask ask = {.wait_ms = UPSTREAM_ROOM_WAIT_MS,
                             .look_ms = ROOM_LOOK_MS,
                             .full_ms = ROOM_FULL_MS,
                             .skip = (int) getpid(),
                             .keeps = true,
                             .stopping = az->stopping};
    bool greedy = false;
    if (!is_counted(az) || (az->gateway->room != NULL && places_are_kept(az->gateway->room)))
        return AZ_OK;
    const struct room room = {
        "rcp", {PLACES_AT, upstream_room(az->pool_workers)},
         upstream_room_share(az->pool_workers)
    };
    enum az_status st = add_needs(op, &ask, &room, resource, caller);
    if (st == AZ_OK)
        st = take(op, op->mem, &ask, &greedy);
    return st == AZ_OK ? st : op_fail(op, st, NULL, "%s", room_why(st, greedy));
}

/* ---- workers that wait for people */

/* Return the workers that may wait for people, who take minutes: half of those that may wait for
 * upstreams, so that people who think never stop calls that need none. */
static int
held_places(int workers)
{
    return workers >= 2 ? upstream_room(workers) / 2 : 0;
}

bool
upstream_room_may_hold(const struct az *az)
{
    return is_counted(az) && held_places(az->pool_workers) > 0;
}

enum az_status
upstream_room_hold(struct op *op, TALLOC_CTX *mem, const char *resource,
                   const struct upstream_caller *caller)
{
    int places = held_places(op->az->pool_workers);
    const struct room room = {
        "RCP", {LINGER_AT, places},
         half(places)
    };
    struct places_ask ask = {.skip = (int) getpid(), .stopping = op->az->stopping};
    bool greedy = false;
    enum az_status st = upstream_room_may_hold(op->az)
                            ? add_needs(op, &ask, &room, resource, caller)
                            : AZ_SERVER_ERROR;
    if (st == AZ_OK)
        st = take(op, mem, &ask, &greedy);
    if (st == AZ_OK)
        return st;
    return st == AZ_BUSY ? op_fail(op, AZ_RESOURCE_UNAVAILABLE,
                                   "Too many calls wait for answers of people; try again later",
                                   "as many workers of the gateway wait for people as may")
                         : op_fail(op, st, NULL, "%s", room_why(st, greedy));
}
