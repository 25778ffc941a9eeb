#include "config.h"

#include "cli/lib/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Temporary name of a new file. It has the process id, so that two runs in one directory do not
 * rename each other's files, and it is hidden, so that a walk skips it. */
#define NEW_NAME ".authzctl.%ld.new"

/* Name of the lock of a directory, which a walk skips, too. */
#define LOCK_NAME ".authzctl.lock"

/* Most directories open while one is removed. */
#define REMOVE_OPEN_MAX 16

static int
dir_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Return the next entry; NULL with errno 0 at the end. */
static struct dirent *
next_entry(DIR *handle)
{
    errno = 0;
    return readdir(handle);
}

/* Return the names in a directory that are not hidden, sorted, so that the order does not depend on
 * the file system. NULL, with errno, when out of memory or when the directory cannot be read to its
 * end: `--mode replace` would delete the rules that were missed. */
static const char **
dir_names(TALLOC_CTX *mem, DIR *handle, size_t most, size_t *ret_count)
{
    size_t size = 16, count = 0;
    const char **names = talloc_array(mem, const char *, size);
    for (struct dirent *entry; names != NULL && (entry = next_entry(handle)) != NULL;) {
        if (entry->d_name[0] == '.' || count > most)
            continue;
        if (count == size)
            names = talloc_realloc(mem, names, const char *, size *= 2);
        if (names != NULL && (names[count++] = talloc_strdup(names, entry->d_name)) == NULL)
            names = NULL;
    }
    if (names == NULL)
        errno = ENOMEM;
    else if (errno != 0)
        names = NULL;
    else
        qsort(names, count, sizeof(names[0]), dir_compare_names);
    *ret_count = count;
    return names;
}

static void walk_directory(struct dir_walk *walk, int fd, const char *path);

static void
enter(struct dir_walk *walk, int at, const char *name, const char *path)
{
    if (strlen(path) > DIR_PATH_MAX) {
        walk->fault(walk->arg, path, "the path is longer than 512 octets; shorten it");
        return;
    }
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        walk->fault(walk->arg, path, strerror(errno));
    else
        walk_directory(walk, fd, path);
}

static void
visit(struct dir_walk *walk, int at, const char *name, const char *path)
{
    struct stat about;
    if (fstatat(at, name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        walk->fault(walk->arg, path, strerror(errno));
    } else if (S_ISDIR(about.st_mode)) {
        enter(walk, at, name, path);
    } else {
        const struct dir_entry entry = {
            .path = path, .name = name, .at = at, .regular = S_ISREG(about.st_mode)};
        walk->take(walk->arg, &entry);
    }
}

/* Walk an open directory; closes fd. */
static void
walk_directory(struct dir_walk *walk, int fd, const char *path)
{
    DIR *handle = fdopendir(fd);
    size_t count = 0, left = DIR_ENTRIES_MAX - walk->seen;
    const char **names = handle != NULL ? dir_names(walk->mem, handle, left, &count) : NULL;
    int why = errno;
    if (handle == NULL)
        close(fd);
    if (names == NULL) {
        walk->fault(walk->arg, path, strerror(why));
        count = 0;
    } else if (count > left) {
        if (walk->seen < DIR_ENTRIES_MAX)
            walk->fault(walk->arg, path,
                        "contains more than 100000 files; name the directory of a policy");
        walk->seen = DIR_ENTRIES_MAX;
        count = 0;
    }
    walk->seen += count;
    for (size_t i = 0; i < count; i++) {
        const char *below =
            talloc_asprintf(walk->mem, "%s%s%s", path, *path != '\0' ? "/" : "", names[i]);
        if (below != NULL)
            visit(walk, fd, names[i], below);
        else
            walk->fault(walk->arg, path, "out of memory");
    }
    if (handle != NULL)
        closedir(handle);
}

void
dir_walk(struct dir_walk *walk)
{
    int fd = open(walk->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        walk_directory(walk, fd, "");
    else
        walk->fault(walk->arg, "", strerror(errno));
}

/* Read up to max octets and one more, which shows that the file has grown. */
static ssize_t
dir_read_all(int fd, char *text, size_t max)
{
    size_t length = 0;
    for (;;) {
        ssize_t got = read(fd, text + length, max + 1 - length);
        if (got > 0)
            length += (size_t) got;
        else if (got == 0 || errno != EINTR)
            return got == 0 ? (ssize_t) length : -1;
        if (length > max)
            return (ssize_t) length;
    }
}

char *
dir_read(TALLOC_CTX *mem, int at, const char *name, size_t max, size_t *ret_length,
         const char **ret_why)
{
    struct stat about;
    int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0) {
        *ret_why = strerror(errno);
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    bool fits = S_ISREG(about.st_mode) && about.st_size >= 0 && (size_t) about.st_size <= max;
    char *text = fits ? talloc_size(mem, (size_t) about.st_size + 2) : NULL;
    ssize_t length = text != NULL ? dir_read_all(fd, text, (size_t) about.st_size) : -1;
    if (!fits)
        *ret_why = S_ISREG(about.st_mode) ? "is too large" : "is not a regular file";
    else if (text == NULL)
        *ret_why = "out of memory";
    else if (length < 0)
        *ret_why = strerror(errno);
    else if (length > about.st_size)
        *ret_why = "changed while it was read; try again";
    close(fd);
    if (length < 0 || length > about.st_size) {
        talloc_free(text);
        return NULL;
    }
    text[length] = '\0';
    *ret_length = (size_t) length;
    return text;
}

/* Open the directory of the last segment of path, and make the directories that are missing. */
static int
open_parent(TALLOC_CTX *mem, int root, const char *path)
{
    int at = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash; at >= 0 && (slash = strchr(path, '/')) != NULL; path = slash + 1) {
        const char *name = talloc_strndup(mem, path, (size_t) (slash - path));
        int next = -1;
        if (name == NULL)
            errno = ENOMEM;
        else if (mkdirat(at, name, DIR_MODE) == 0 || errno == EEXIST)
            next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int saved = errno;
        close(at);
        errno = saved;
        at = next;
    }
    return at;
}

/* Open the file of the lock. -1 with errno; EPERM: somebody else made it. */
static int
open_lock(int root)
{
    struct stat about;
    int fd = openat(root, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                    DIR_FILE_MODE);
    if (fd < 0)
        return -1;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid()
        && fchmod(fd, DIR_FILE_MODE) == 0)
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* True if the name still leads to the open file: its holder deletes it when it has finished. */
static bool
is_lock(int root, int fd)
{
    struct stat ours, named;
    return fstat(fd, &ours) == 0 && fstatat(root, LOCK_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0
           && ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

enum dir_holding
dir_hold(const char *dir, struct dir_held *ret, const char **ret_why)
{
    *ret = DIR_HELD_NONE;
    if (mkdir(dir, DIR_MODE) == 0 || errno == EEXIST)
        ret->root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (ret->root >= 0 && (ret->lock = open_lock(ret->root)) >= 0) {
        if (flock(ret->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            close(ret->lock); /* the holder deletes it */
            ret->lock = -1;
            return DIR_BUSY;
        }
        if (is_lock(ret->root, ret->lock))
            return DIR_HELD;
        close(ret->lock);
    }
    *ret_why = ret->root >= 0 && errno == EPERM ? "its file " LOCK_NAME
                                                  " belongs to another account; delete it"
                                                : strerror(errno);
    return DIR_NOT_HELD;
}

void
dir_release(struct dir_held *held)
{
    if (held->lock >= 0) {
        unlinkat(held->root, LOCK_NAME, 0);
        close(held->lock);
    }
    if (held->root >= 0)
        close(held->root);
    *held = DIR_HELD_NONE;
}

static bool
dir_write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t sent = write(fd, text, length);
        if (sent < 0 && errno != EINTR)
            return false;
        text += sent > 0 ? sent : 0;
        length -= sent > 0 ? (size_t) sent : 0;
    }
    return true;
}

/* Replace a file in one step; remove first what a killed run with our process id left behind. */
static bool
replace(int at, const char *name, const char *text, size_t length)
{
    char new_name[sizeof(NEW_NAME) + 20];
    snprintf(new_name, sizeof(new_name), NEW_NAME, (long) getpid());
    unlinkat(at, new_name, 0);
    int fd =
        openat(at, new_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, DIR_FILE_MODE);
    if (fd < 0)
        return false;
    bool done = dir_write_all(fd, text, length);
    done = close(fd) == 0 && done;
    done = done && renameat(at, new_name, at, name) == 0;
    if (!done) {
        int saved = errno;
        unlinkat(at, new_name, 0);
        errno = saved;
    }
    return done;
}

enum dir_written
dir_write(TALLOC_CTX *mem, int root, const char *path, const char *text, size_t length,
          const char **ret_why)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path, *why = NULL;
    size_t there = 0;
    int at = open_parent(mem, root, path);
    if (at < 0) {
        *ret_why = strerror(errno);
        return DIR_FAILED;
    }
    char *old = dir_read(mem, at, name, length, &there, &why);
    bool same = old != NULL && there == length && memcmp(old, text, length) == 0;
    bool done = same || replace(at, name, text, length);
    if (!done)
        *ret_why = strerror(errno);
    talloc_free(old);
    close(at);
    return same ? DIR_UNCHANGED : done ? DIR_WRITTEN : DIR_FAILED;
}

static int
remove_one(const char *path, const struct stat *about, int type, struct FTW *at)
{
    (void) about;
    (void) at;
    return type == FTW_DP || type == FTW_D ? rmdir(path) : unlink(path);
}

bool
dir_remove(const char *dir)
{
    return nftw(dir, remove_one, REMOVE_OPEN_MAX, FTW_DEPTH | FTW_PHYS) == 0;
}
