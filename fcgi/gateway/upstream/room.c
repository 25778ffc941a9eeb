#include "config.h"

#include "gateway/upstream/room.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/settings/settings.h"
#include "gateway/upstream/credential.h"
#include "http/shared.h"

/* Time between two tries of a worker that waits, in milliseconds. */
#define ROOM_LOOK_MS 2

/* After a refusal, requests within this time are refused without a wait, in milliseconds: otherwise
 * each would wait for those before it. */
#define ROOM_FULL_MS 1000

/*
 * A place is a lock on one octet of the pool's file. The lock belongs to the descriptor
 * (F_OFD_SETLK), so it ends with the process, however that ends. What a client, a person and a
 * resource hold is counted in the same way: each has its own octets, far behind the places, at a
 * keyed hash of its name. The file stays empty.
 */
#define PLACES_AT 0
#define LINGER_AT (1LL << 19)
#define SHARES_AT (1LL << 20)
#define SHARE_MASK ((1ULL << 40) - 1)
#define SHARE_OCTETS 256

/* Shares of one request: of its client, its person and its resource. */
#define SHARES_MAX 3

struct room_place {
    struct az *az;
    int fd;
};

/* One attempt to take a place. */
struct attempt {
    int fd;                   /* the descriptor that gets the locks */
    off_t at;                 /* first octet of the places */
    int places;               /* how many there are */
    int most;                 /* places of one share */
    off_t share[SHARES_MAX];  /* first octet of each */
    bool counted[SHARES_MAX]; /* the lock of that share is ours */
    size_t shares;
    bool greedy; /* the last try failed because of a share */
};

int
upstream_room(int workers)
{
    return workers > 1 ? workers - 1 : 1;
}

int
upstream_room_share(int workers)
{
    int half = upstream_room(workers) / 2;
    return half > 0 ? half : 1;
}

static int
room_free(struct room_place *place)
{
    close(place->fd);
    place->az->at_upstream = false;
    return 0;
}

/* Lock one of `count` octets. AZ_BUSY: all are locked by others. */
static enum az_status
room_lock(int fd, off_t at, int count)
{
    /* Begin at another octet in each process, so that the first is usually free. */
    int first = (int) getpid() % count;
    for (int i = 0; i < count; i++) {
        struct flock lock = {.l_type = F_WRLCK,
                             .l_whence = SEEK_SET,
                             .l_start = at + (first + i) % count,
                             .l_len = 1};
        if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
            return AZ_OK;
        if (errno != EAGAIN && errno != EACCES)
            return AZ_SERVER_ERROR;
    }
    return AZ_BUSY;
}

/* Lock what is still missing of the shares, and then a place. */
static enum az_status
room_try(struct attempt *attempt)
{
    enum az_status st = AZ_OK;
    attempt->greedy = false;
    for (size_t i = 0; i < attempt->shares && st == AZ_OK; i++) {
        if (attempt->counted[i])
            continue;
        st = room_lock(attempt->fd, attempt->share[i], attempt->most);
        attempt->counted[i] = st == AZ_OK;
        attempt->greedy = st == AZ_BUSY;
    }
    return st == AZ_OK ? room_lock(attempt->fd, attempt->at, attempt->places) : st;
}

/* Return the share that the last try failed for; 0: a place of the pool. */
static off_t
missing_share(const struct attempt *attempt)
{
    for (size_t i = 0; i < attempt->shares && attempt->greedy; i++)
        if (!attempt->counted[i])
            return attempt->share[i];
    return 0;
}

/*
 * Wait for what is missing. After a refusal the requests for the same share (or for any place) are
 * refused at once for a while: otherwise those of a greedy client would hold the workers that
 * others need, waiting.
 */
static enum az_status
room_wait(const struct op *op, struct attempt *attempt)
{
    const struct timespec look = {.tv_sec = 0, .tv_nsec = ROOM_LOOK_MS * 1000000L};
    struct az *az = op->az;
    int64_t now = clock_monotonic_ms(), until = now + UPSTREAM_ROOM_WAIT_MS;
    enum az_status st = room_try(attempt);
    if (az->upstream_refused_ms != 0 && now - az->upstream_refused_ms < ROOM_FULL_MS
        && az->upstream_refused_share == missing_share(attempt))
        until = now;
    while (st == AZ_BUSY && now < until && !*az->stopping) {
        nanosleep(&look, NULL);
        st = room_try(attempt);
        now = clock_monotonic_ms();
    }
    if (st == AZ_BUSY) {
        az->upstream_refused_ms = now;
        az->upstream_refused_share = missing_share(attempt);
    } else if (az->upstream_refused_share == 0) {
        az->upstream_refused_ms = 0;
    }
    return st;
}

/* Add a share. The kind keeps a client from counting as a resource of the same name. */
static enum az_status
add_share(struct op *op, struct attempt *attempt, char kind, const char *name, const char *of)
{
    char *key = talloc_asprintf(op->mem, "%c %s %s", kind, of != NULL ? of : "", name);
    if (key == NULL)
        return AZ_SERVER_ERROR;
    uint64_t number = shared_name_number(op->az->shared, key) & SHARE_MASK;
    attempt->share[attempt->shares++] = (off_t) (SHARES_AT + (long long) (number * SHARE_OCTETS));
    return AZ_OK;
}

/* `kinds` are those of resource, client and person. */
static enum az_status
add_shares(struct op *op, struct attempt *attempt, const char *kinds, const char *resource,
           const struct upstream_caller *caller)
{
    enum az_status st = add_share(op, attempt, kinds[0], resource, NULL);
    if (st == AZ_OK && caller != NULL && caller->client_id != NULL)
        st = add_share(op, attempt, kinds[1], caller->client_id, NULL);
    if (st == AZ_OK && caller != NULL && caller->subject != NULL)
        st = add_share(op, attempt, kinds[2], caller->subject, caller->idp);
    return st;
}

/* Open the file of the pool. False: it cannot be opened. */
static bool
open_room(struct op *op, struct attempt *attempt)
{
    char *path = talloc_asprintf(op->mem, "%s/gateway-room", op->az->cfg->runtime_dir);
    attempt->fd = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    return attempt->fd >= 0;
}

/* Return the reason of a failure, for the operator. */
static const char *
room_why(enum az_status st, const struct attempt *attempt)
{
    if (st != AZ_BUSY)
        return "the file in SVC_RUNTIME_DIR cannot be opened or locked";
    return attempt->greedy
               ? "the client, the person or the resource has its share of the gateway's workers"
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
    if (az->at_upstream || !is_counted(az))
        return AZ_OK;
    struct room_place *place = talloc(op->mem, struct room_place);
    struct attempt attempt = {.fd = -1,
                              .at = PLACES_AT,
                              .places = upstream_room(az->pool_workers),
                              .most = upstream_room_share(az->pool_workers)};
    enum az_status st =
        place != NULL ? add_shares(op, &attempt, "rcp", resource, caller) : AZ_SERVER_ERROR;
    if (st == AZ_OK)
        st = open_room(op, &attempt) ? room_wait(op, &attempt) : AZ_SERVER_ERROR;
    if (st == AZ_OK) {
        *place = (struct room_place){az, attempt.fd};
        az->at_upstream = true;
        talloc_set_destructor(place, room_free);
        return AZ_OK;
    }
    if (attempt.fd >= 0)
        close(attempt.fd);
    return op_fail(op, st, NULL, "%s", room_why(st, &attempt));
}

/* ---- workers that wait for people */

/* Return the workers that may wait for people, who take minutes: half of those that may wait for
 * upstreams, so that people who think never stop calls that need none. */
static int
lingering_places(int workers)
{
    return workers >= 2 ? upstream_room(workers) / 2 : 0;
}

bool
upstream_room_lingers(const struct az *az)
{
    return is_counted(az) && lingering_places(az->pool_workers) > 0;
}

static int
lingering_free(struct room_place *place)
{
    close(place->fd);
    return 0;
}

enum az_status
upstream_room_linger(struct op *op, TALLOC_CTX *mem, const char *resource,
                     const struct upstream_caller *caller)
{
    struct room_place *place = talloc(mem, struct room_place);
    int places = lingering_places(op->az->pool_workers);
    struct attempt attempt = {
        .fd = -1, .at = LINGER_AT, .places = places, .most = places / 2 > 0 ? places / 2 : 1};
    enum az_status st = place != NULL && upstream_room_lingers(op->az)
                            ? add_shares(op, &attempt, "RCP", resource, caller)
                            : AZ_SERVER_ERROR;
    if (st == AZ_OK)
        st = open_room(op, &attempt) ? room_try(&attempt) : AZ_SERVER_ERROR;
    if (st == AZ_OK) {
        *place = (struct room_place){op->az, attempt.fd};
        talloc_set_destructor(place, lingering_free);
        return AZ_OK;
    }
    if (attempt.fd >= 0)
        close(attempt.fd);
    return st == AZ_BUSY ? op_fail(op, AZ_RESOURCE_UNAVAILABLE,
                                   "Too many calls wait for answers of people; try again later",
                                   "as many workers of the gateway wait for people as may")
                         : op_fail(op, st, NULL, "%s", room_why(st, &attempt));
}
