#include "config.h"

#include "http/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/digest.h"
#include "crypto/random.h"
#include "http/address.h"

/* Addresses that are counted at a time: 65,536 words of 8 octets. An attack from a whole /16 takes
 * half a megabyte and no more. */
#define SLOTS 65536u
/* Slots that are tried for one address. */
#define PROBES 16u
/* Long polls held on one host at a time; far above any sensible pool. */
#define PLACES 64
/* Changes with the layout of struct map, so that a file of another layout is replaced. */
#define MAGIC (0x617a7368617265ULL + 1)

/* One word per address, so that a single compare-and-swap decides: print 24 bits | window 20 bits |
 * count 20 bits. */
#define PRINT_SHIFT 40
#define WINDOW_SHIFT 20
#define FIELD_MASK 0xfffffULL

struct map {
    _Atomic uint64_t magic;       /* MAGIC once the key is in place */
    unsigned char key[32];        /* random, so that no caller can aim at a slot */
    _Atomic uint64_t overflow;    /* counter of all addresses that find no slot */
    _Atomic int place[PLACES];    /* process ids of the holders of long polls */
    _Atomic uint64_t slot[SLOTS]; /* counters */
};

struct shared {
    struct map *map; /* the mapped file */
};

#define CANNOT_BE_CREATED                                                                          \
    "cannot be created; create it yourself, owned by the service's user, mode 0700"

static int
shared_destroy(struct shared *shared)
{
    munmap(shared->map, sizeof(*shared->map));
    return 0;
}

static enum az_status
shared_refuse(TALLOC_CTX *mem, const char **ret_why, const char *dir, const char *what)
{
    *ret_why = talloc_asprintf(mem, "SVC_RUNTIME_DIR: %s %s", dir, what);
    return AZ_SERVER_ERROR;
}

/* Make the file under another name and link it into place, so that no process maps one without its
 * key. */
static int
make_file(const char *path)
{
    char fresh[4096];
    struct {
        uint64_t magic;
        unsigned char key[32];
    } head = {.magic = MAGIC};
    if (snprintf(fresh, sizeof(fresh), "%s.%ld", path, (long) getpid()) >= (int) sizeof(fresh))
        return -1;
    int fd = open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || random_octets(head.key, sizeof(head.key)) != AZ_OK
        || ftruncate(fd, sizeof(struct map)) != 0
        || pwrite(fd, &head, sizeof(head), 0) != (ssize_t) sizeof(head)
        || (link(fresh, path) != 0 && errno != EEXIST)) {
        if (fd >= 0)
            close(fd);
        unlink(fresh);
        return -1;
    }
    close(fd);
    unlink(fresh);
    return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

static int
open_file(const char *path)
{
    struct stat st;
    uint64_t magic;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? make_file(path) : -1;
    if (fstat(fd, &st) == 0 && st.st_size == (off_t) sizeof(struct map) && st.st_uid == geteuid()
        && pread(fd, &magic, sizeof(magic), 0) == (ssize_t) sizeof(magic) && magic == MAGIC)
        return fd;
    close(fd);
    return unlink(path) == 0 ? make_file(path) : -1;
}

/* Refuse a directory that another user made or may enter. */
static enum az_status
check_directory(TALLOC_CTX *mem, const char *dir, const char **ret_why)
{
    struct stat st;
    if (lstat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
        return shared_refuse(mem, ret_why, dir, "is not a directory");
    if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return shared_refuse(mem, ret_why, dir,
                             "must belong to the service's user with mode 0700 (chown, chmod 700)");
    return AZ_OK;
}

enum az_status
shared_check(TALLOC_CTX *mem, const char *dir, const char **ret_why)
{
    struct stat st;
    const char *slash = strrchr(dir, '/');
    const char *parent = slash == NULL  ? "."
                         : slash == dir ? "/"
                                        : talloc_strndup(mem, dir, (size_t) (slash - dir));
    bool missing = lstat(dir, &st) != 0 && errno == ENOENT;
    if (missing && parent != NULL && access(parent, W_OK | X_OK) == 0)
        return AZ_OK;
    if (missing)
        return shared_refuse(mem, ret_why, dir, CANNOT_BE_CREATED);
    return check_directory(mem, dir, ret_why);
}

enum az_status
shared_open(TALLOC_CTX *mem, const char *dir, struct shared **ret, const char **ret_why)
{
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return shared_refuse(mem, ret_why, dir, CANNOT_BE_CREATED);
    enum az_status status = check_directory(mem, dir, ret_why);
    if (status != AZ_OK)
        return status;
    char *path = talloc_asprintf(mem, "%s/shared", dir);
    int fd = path != NULL ? open_file(path) : -1;
    if (fd < 0)
        return shared_refuse(mem, ret_why, dir,
                             "is not writable: the file `shared` cannot be created in it");
    struct map *map = mmap(NULL, sizeof(struct map), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    struct shared *shared = map != MAP_FAILED ? talloc_zero(mem, struct shared) : NULL;
    if (shared == NULL)
        return shared_refuse(mem, ret_why, dir,
                             "contains the file `shared`, which cannot be mapped");
    shared->map = map;
    talloc_set_destructor(shared, shared_destroy);
    *ret = shared;
    return AZ_OK;
}

static uint64_t
address_hash(const struct map *map, const char *address, long window)
{
    unsigned char text[32 + sizeof(window) + 16], digest[32];
    uint64_t hash;
    /* The window's length is part of the hash: counters made under another setting must not count.
     */
    const size_t head = 32 + sizeof(window);
    memset(text, 0, sizeof(text));
    memcpy(text, map->key, 32);
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

bool
shared_rate_admit(struct shared *shared, const char *address, int64_t now, long window, long limit,
                  long *ret_retry_after)
{
    struct map *map = shared->map;
    uint64_t hash = address_hash(map, address, window);
    uint64_t print = hash >> PRINT_SHIFT | 1, number = (uint64_t) (now / window) & FIELD_MASK;
    uint64_t most = (uint64_t) limit < FIELD_MASK ? (uint64_t) limit : FIELD_MASK;
    *ret_retry_after = window - (long) (now % window);
    for (int pass = 0; pass < 2; pass++) /* first look for our counter, then for a free slot */
        for (unsigned i = 0; i < PROBES; i++) {
            enum verdict verdict =
                count_in_slot(&map->slot[(hash + i) % SLOTS], print, number, most, pass == 1);
            if (verdict != TAKEN)
                return verdict == ADMITTED;
        }
    return count_in_slot(&map->overflow, 1, number, most, true) == ADMITTED;
}

bool
shared_hold_take(struct shared *shared, int limit)
{
    int self = (int) getpid();
    for (int i = 0; i < limit && i < PLACES; i++) {
        int holder = atomic_load(&shared->map->place[i]);
        bool free = holder == 0 || holder == self || (kill(holder, 0) != 0 && errno == ESRCH);
        if (free && atomic_compare_exchange_strong(&shared->map->place[i], &holder, self))
            return true;
    }
    return false;
}

void
shared_hold_drop(struct shared *shared)
{
    int self = (int) getpid();
    for (int i = 0; i < PLACES; i++) {
        int holder = self;
        atomic_compare_exchange_strong(&shared->map->place[i], &holder, 0);
    }
}
