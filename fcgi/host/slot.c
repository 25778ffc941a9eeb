#include "config.h"

#include "host/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct flock
lock_of(short type, int64_t number)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = number, .l_len = 1};
}

/* Return the index of a slot that this process has, or -1. */
static int
find(const struct host_file *file, int64_t number)
{
    for (size_t i = 0; file->owner == getpid() && i < file->slots; i++)
        if (file->slot[i] == number)
            return (int) i;
    return -1;
}

static bool
lock(struct host_file *file, int64_t number, short type)
{
    struct flock lock = lock_of(type, number);
    bool ours = slot_is_ours(file, number);
    if (file->owner != getpid()) {
        file->owner = getpid();
        file->slots = 0;
    }
    if (!ours && file->slots == HOST_SLOTS_MAX) {
        errno = ENOLCK;
        return false;
    }
    if (fcntl(file->fd, F_SETLK, &lock) != 0) {
        if (errno == EACCES)
            errno = EAGAIN; /* POSIX allows both */
        return false;
    }
    if (!ours)
        file->slot[file->slots++] = number;
    return true;
}

bool
slot_take(struct host_file *file, int64_t number)
{
    return lock(file, number, F_WRLCK);
}

bool
slot_share(struct host_file *file, int64_t number)
{
    return lock(file, number, F_RDLCK);
}

int64_t
slot_take_one(struct host_file *file, int64_t first, int count, int skip)
{
    errno = EAGAIN;
    for (int i = 0; i < count; i++) {
        int64_t number = first + count - 1 - (skip + i) % count;
        if (slot_is_ours(file, number))
            continue;
        if (slot_take(file, number))
            return number;
        if (errno != EAGAIN)
            return -1;
    }
    return -1;
}

void
slot_drop(struct host_file *file, int64_t number)
{
    struct flock lock = lock_of(F_UNLCK, number);
    int at = find(file, number);
    if (at < 0)
        return;
    fcntl(file->fd, F_SETLK, &lock);
    file->slot[at] = file->slot[--file->slots];
}

bool
slot_is_ours(const struct host_file *file, int64_t number)
{
    return find(file, number) >= 0;
}

bool
slot_lives(const struct host_file *file, int64_t number)
{
    struct flock lock = lock_of(F_WRLCK, number);
    return slot_is_ours(file, number)
           || (fcntl(file->fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
}

void
slots_clean(struct host_file *file, int64_t first, int count,
            void (*clean)(void *arg, int64_t number), void *arg)
{
    for (int64_t number = first; number < first + count; number++) {
        if (slot_is_ours(file, number) || !slot_take(file, number))
            continue;
        clean(arg, number);
        slot_drop(file, number);
    }
}
