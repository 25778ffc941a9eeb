#include "config.h"

#include "host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define CANNOT_BE_CREATED                                                                          \
    "cannot be created; create it yourself, owned by the service's user, mode 0700"

static int
destroy_file(struct host_file *file)
{
    munmap(file->at, file->size);
    if (file->fd >= 0)
        close(file->fd);
    return 0;
}

static enum az_status
refuse(TALLOC_CTX *mem, const char **ret_why, const char *dir, const char *what)
{
    *ret_why = talloc_asprintf(mem, "SVC_RUNTIME_DIR: %s %s", dir, what);
    return AZ_SERVER_ERROR;
}

/* Write the head of a new file and take the room for all of it. Without its blocks, the first write
 * to a page would end the process by a signal once the file system is full. Return 0, or an errno.
 */
static int
fill_file(int fd, uint64_t magic, size_t size)
{
    struct host_head head = {.magic = magic};
    if (getrandom(head.key, sizeof(head.key), 0) != (ssize_t) sizeof(head.key))
        return EIO;
    int fault;
    do /* a signal may interrupt it on a file system in memory (fallocate(2)) */
        fault = posix_fallocate(fd, 0, (off_t) size);
    while (fault == EINTR);
    if (fault == 0 && pwrite(fd, &head, sizeof(head), 0) != (ssize_t) sizeof(head))
        fault = errno;
    return fault;
}

/* Make the file under another name and link it into place, so that no process maps one without its
 * key. -1 with errno. */
static int
make_file(const char *path, uint64_t magic, size_t size)
{
    char fresh[4096];
    if (snprintf(fresh, sizeof(fresh), "%s.%ld", path, (long) getpid()) >= (int) sizeof(fresh))
        return -1;
    int fd = open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int fault = fd >= 0 ? fill_file(fd, magic, size) : errno;
    if (fault == 0 && link(fresh, path) != 0 && errno != EEXIST)
        fault = errno;
    if (fd >= 0)
        close(fd);
    unlink(fresh);
    if (fault != 0) {
        errno = fault;
        return -1;
    }
    return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

/* True if the file has the blocks of all its octets, or gets them now: one that an earlier version
 * made may have none. False with errno. fallocate(2) changes nothing that other processes write
 * meanwhile. A file system that does not know it promises no room to anybody. */
static bool
has_blocks(int fd, const struct stat *st)
{
    int done = st->st_blocks * 512 >= st->st_size ? 0 : -1;
    while (done != 0 && (done = fallocate(fd, 0, 0, st->st_size)) != 0 && errno == EINTR)
        ;
    return done == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
}

/* Open the file. -1 with errno ESTALE: it is not ours, or has another size or magic. */
static int
open_fitting(const char *path, uint64_t wanted, size_t size)
{
    struct stat st;
    uint64_t magic;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && st.st_size == (off_t) size && st.st_uid == geteuid()
        && pread(fd, &magic, sizeof(magic), 0) == (ssize_t) sizeof(magic) && magic == wanted) {
        if (has_blocks(fd, &st))
            return fd;
    } else
        errno = ESTALE;
    int fault = errno;
    close(fd);
    errno = fault;
    return -1;
}

/* True if a file that could not be opened may be made anew; a link may not be replaced. */
static bool
may_make(int fd)
{
    return fd < 0 && (errno == ENOENT || errno == ESTALE);
}

/*
 * Open the file, or make one in place of a file that does not fit. The directory is locked for
 * that: of two processes that start at once, the second one would replace what the first one made
 * and uses already, and they would count apart.
 */
static int
open_or_make(const char *dir, const char *path, uint64_t wanted, size_t size)
{
    int fd = open_fitting(path, wanted, size);
    if (!may_make(fd))
        return fd;
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0)
        return -1;
    if (flock(lock, LOCK_EX) == 0) {
        fd = open_fitting(path, wanted, size);
        if (may_make(fd) && (unlink(path) == 0 || errno == ENOENT))
            fd = make_file(path, wanted, size);
    }
    int fault = errno;
    close(lock);
    errno = fault;
    return fd;
}

/* Return what is wrong with the directory, by errno of a file that cannot be opened in it. */
static const char *
file_fault(TALLOC_CTX *mem, const char *name, size_t size)
{
    if (errno == ENOSPC || errno == EDQUOT)
        return talloc_asprintf(mem,
                               "has no room for the file `%s` of %zu octets; free as much on its "
                               "file system, or set this to a directory of another one",
                               name, size);
    return talloc_asprintf(mem, "is not writable: the file `%s` cannot be created in it: %s", name,
                           strerror(errno));
}

/* Refuse a directory that another user made or may enter. */
static enum az_status
check_directory(TALLOC_CTX *mem, const char *dir, const char **ret_why)
{
    struct stat st;
    if (lstat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
        return refuse(mem, ret_why, dir, "is not a directory");
    if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return refuse(mem, ret_why, dir,
                      "must belong to the service's user with mode 0700 (chown, chmod 700)");
    return AZ_OK;
}

/* Return the directory above, by the text of the path. */
static const char *
parent_of(TALLOC_CTX *mem, const char *dir)
{
    size_t length = strlen(dir);
    while (length > 1 && dir[length - 1] == '/')
        length--;
    while (length > 0 && dir[length - 1] != '/')
        length--;
    return length == 0 ? "." : talloc_strndup(mem, dir, length);
}

enum az_status
host_file_check(TALLOC_CTX *mem, const char *dir, const char **ret_why)
{
    struct stat st;
    bool missing = lstat(dir, &st) != 0 && errno == ENOENT;
    const char *parent = missing ? parent_of(mem, dir) : NULL;
    if (parent != NULL && access(parent, W_OK | X_OK) == 0)
        return AZ_OK;
    if (missing)
        return refuse(mem, ret_why, dir, CANNOT_BE_CREATED);
    return check_directory(mem, dir, ret_why);
}

enum az_status
host_file_open(TALLOC_CTX *mem, const char *dir, const char *name, uint64_t magic, size_t size,
               struct host_file **ret, const char **ret_why)
{
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return refuse(mem, ret_why, dir, CANNOT_BE_CREATED);
    enum az_status status = check_directory(mem, dir, ret_why);
    if (status != AZ_OK)
        return status;
    char *path = talloc_asprintf(mem, "%s/%s", dir, name);
    int fd = path != NULL ? open_or_make(dir, path, magic, size) : -1;
    if (fd < 0)
        return refuse(mem, ret_why, dir, file_fault(mem, name, size));
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct host_file *file = at != MAP_FAILED ? talloc_zero(mem, struct host_file) : NULL;
    if (file == NULL) {
        close(fd);
        return refuse(mem, ret_why, dir,
                      talloc_asprintf(mem, "contains the file `%s`, which cannot be mapped", name));
    }
    *file = (struct host_file){.at = at, .size = size, .fd = fd};
    talloc_set_destructor(file, destroy_file);
    *ret = file;
    return AZ_OK;
}

/* Seals of memory without a name. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* True if the limits let a file have so many octets; one beyond them would be a signal. */
static bool
file_may_have(size_t octets)
{
    struct rlimit limit;
    errno = EFBIG;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && octets <= limit.rlim_cur;
}

/* Return the descriptor of memory without a name. -1 with errno. */
static int
make_memory(const char *name, size_t size)
{
    int fd = file_may_have(size) ? memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;
    if (fd < 0 || (ftruncate(fd, (off_t) size) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0))
        return fd;
    int fault = errno;
    close(fd);
    errno = fault;
    return -1;
}

struct host_file *
host_file_memory(TALLOC_CTX *mem, const char *slots, size_t size)
{
    struct host_file *memory = talloc_zero(mem, struct host_file);
    int fd = memory != NULL && slots != NULL ? make_memory(slots, size) : -1;
    bool made = memory != NULL && (slots == NULL || fd >= 0);
    int flags = MAP_SHARED | (slots == NULL ? MAP_ANONYMOUS : 0);
    void *at = made ? mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0) : MAP_FAILED;
    if (at == MAP_FAILED) {
        int fault = errno;
        if (fd >= 0)
            close(fd);
        talloc_free(memory);
        errno = fault;
        return NULL;
    }
    *memory = (struct host_file){.at = at, .size = size, .fd = fd};
    talloc_set_destructor(memory, destroy_file);
    return memory;
}

bool
host_file_read(TALLOC_CTX *mem, const char *dir, const char *name, uint64_t magic, void *ret,
               size_t size)
{
    uint64_t found = 0;
    struct stat st;
    char *path = talloc_asprintf(mem, "%s/%s", dir, name);
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    bool whole = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t) size
                 && pread(fd, ret, size, 0) == (ssize_t) size;
    if (fd >= 0)
        close(fd);
    talloc_free(path);
    if (whole)
        memcpy(&found, ret, sizeof(found));
    return whole && found == magic;
}
