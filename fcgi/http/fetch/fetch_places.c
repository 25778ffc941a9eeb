#include "config.h"

#include "http/fetch/fetch_places.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/settings.h"

static int
half(int number)
{
    return number / 2 > 0 ? number / 2 : 1;
}

int
fetch_places(int workers, enum fetch_hosts hosts)
{
    int all = workers <= 0 ? FETCH_PLACES_SPAWNED : half(workers);
    return hosts == FETCH_CIMD ? half(all) : all;
}

/*
 * A place is a lock on one octet of the pool's file. The lock belongs to the descriptor
 * (F_OFD_SETLK), so it ends with the process, and a new process with the same number does not
 * inherit it.
 */
enum fetch_fault
fetch_place_take(struct op *op, enum fetch_hosts hosts, struct fetch_place *ret)
{
    struct az *az = op->az;
    if (az->fetching || (az->shared == NULL && az->pool_workers == 0)) {
        *ret = (struct fetch_place){.fd = -1};
        return FETCH_OK;
    }
    const char *path = talloc_asprintf(op->mem, "%s/fetch-%s", az->cfg->runtime_dir, az->pool);
    int fd = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (fd < 0)
        return FETCH_FAULT_OURS;
    /* Take places from the last one down: fetches of client metadata may only use the first ones.
     */
    for (int i = fetch_places(az->pool_workers, hosts) - 1; i >= 0; i--) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = i, .l_len = 1};
        if (fcntl(fd, F_OFD_SETLK, &lock) == 0) {
            *ret = (struct fetch_place){.fd = fd, .az = az};
            az->fetching = true;
            return FETCH_OK;
        }
        if (errno != EAGAIN && errno != EACCES)
            break;
    }
    enum fetch_fault fault =
        errno == EAGAIN || errno == EACCES ? FETCH_FAULT_BUSY : FETCH_FAULT_OURS;
    close(fd);
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
}

const char *
fetch_place_why(enum fetch_fault fault)
{
    return fault == FETCH_FAULT_BUSY
               ? "the maximum number of workers is already fetching"
               : "the counter file in SVC_RUNTIME_DIR cannot be opened or locked";
}
