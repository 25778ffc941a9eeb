#include "config.h"

#include "gateway/upstream/room.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/settings/settings.h"

/* Time between two tries of a worker that waits, in milliseconds. One worker of the pool waits at
 * a time, because the others have room. */
#define ROOM_LOOK_MS 2

/* After a refusal, those that follow within this time are refused without a wait, in milliseconds:
 * otherwise each would wait for those before it. */
#define ROOM_FULL_MS 1000

/*
 * A place is a lock on one octet of the pool's file. The lock belongs to the descriptor
 * (F_OFD_SETLK), so it ends with the process, however that ends. The file stays empty.
 */
struct room_place {
    int fd;
};

/* The place of this process; an operation has at most one. */
static struct room_place *room_held;
/* clock_monotonic_ms() of the last refusal; 0: there was none. */
static int64_t room_refused_at;

int
upstream_room(int workers)
{
    return workers > 1 ? workers - 1 : 1;
}

static int
room_free(struct room_place *place)
{
    close(place->fd);
    room_held = NULL;
    return 0;
}

/* Lock one of the octets. AZ_BUSY: all are locked by others. */
static enum az_status
room_lock(int fd, int count)
{
    /* Begin at another octet in each process, so that the first is usually free. */
    int first = (int) getpid() % count;
    for (int i = 0; i < count; i++) {
        struct flock lock = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (first + i) % count, .l_len = 1};
        if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
            return AZ_OK;
        if (errno != EAGAIN && errno != EACCES)
            return AZ_SERVER_ERROR;
    }
    return AZ_BUSY;
}

static enum az_status
room_wait(const struct op *op, int fd, int count)
{
    const struct timespec look = {.tv_sec = 0, .tv_nsec = ROOM_LOOK_MS * 1000000L};
    int64_t now = clock_monotonic_ms(), until = now + UPSTREAM_ROOM_WAIT_MS;
    enum az_status st = room_lock(fd, count);
    if (room_refused_at != 0 && now - room_refused_at < ROOM_FULL_MS)
        until = now;
    while (st == AZ_BUSY && now < until && !*op->az->stopping) {
        nanosleep(&look, NULL);
        st = room_lock(fd, count);
        now = clock_monotonic_ms();
    }
    room_refused_at = st == AZ_BUSY ? now : 0;
    return st;
}

enum az_status
upstream_room_keep(struct op *op)
{
    struct az *az = op->az;
    if (room_held != NULL || az->shared == NULL || az->pool_workers < 2
        || strcmp(az->pool, "gateway") != 0)
        return AZ_OK;
    struct room_place *place = talloc(op->mem, struct room_place);
    char *path = talloc_asprintf(op->mem, "%s/gateway-room", az->cfg->runtime_dir);
    int fd = path != NULL && place != NULL
                 ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)
                 : -1;
    enum az_status st =
        fd >= 0 ? room_wait(op, fd, upstream_room(az->pool_workers)) : AZ_SERVER_ERROR;
    if (st == AZ_OK) {
        place->fd = fd;
        room_held = place;
        talloc_set_destructor(place, room_free);
        return AZ_OK;
    }
    if (fd >= 0)
        close(fd);
    return op_fail(op, st, NULL,
                   st == AZ_BUSY ? "all other workers of the gateway wait for upstreams (--gateway)"
                                 : "the file in SVC_RUNTIME_DIR cannot be opened or locked");
}
