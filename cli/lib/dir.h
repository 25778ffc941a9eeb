/* A directory of the administrator: walk, read and write it without ever leaving it. */
#ifndef AZ_CLI_LIB_DIR_H
#define AZ_CLI_LIB_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <talloc.h>

/* Longest path below the directory in octets, that of a rule. */
#define DIR_PATH_MAX 512

/* Most files and directories of a walk: a policy has a few thousand, the root of a file system
 * millions. */
#define DIR_ENTRIES_MAX 100000

/* An entry of a directory. A walk enters directories and does not report them. */
struct dir_entry {
    const char *path; /* relative to the directory walked */
    const char *name; /* its last segment */
    int at;           /* the open directory that contains it */
    bool regular;     /* else a symbolic link, FIFO, socket or device */
};

/* A walk. It skips hidden names, and reports links without following them. */
struct dir_walk {
    TALLOC_CTX *mem;
    const char *dir; /* start; may itself be a link */
    /* called for each entry, sorted by name within a directory */
    void (*take)(void *arg, const struct dir_entry *entry);
    /* called for each path that cannot be read; path "" is the directory itself */
    void (*fault)(void *arg, const char *path, const char *why);
    void *arg;   /* argument of both functions */
    size_t seen; /* entries so far */
};

/* Walk walk->dir and everything below it. */
void dir_walk(struct dir_walk *walk);

/*
 * Read a regular file of 0 to max octets in the open directory `at`, without following a link or
 * waiting at a FIFO. NUL-terminated, on mem; NULL with the reason in *ret_why, a constant text or
 * that of strerror.
 */
char *dir_read(TALLOC_CTX *mem, int at, const char *name, size_t max, size_t *ret_length,
               const char **ret_why);

/* Modes of what is made here: rules, rows and objects of the service are for their owner alone,
 * whichever verb writes them. */
#define DIR_MODE 0700
#define DIR_FILE_MODE 0600

/* A directory that this process alone writes to. */
struct dir_held {
    int root; /* descriptor, or -1 */
    int lock; /* descriptor, or -1 */
};
#define DIR_HELD_NONE ((struct dir_held){-1, -1})

/* Result of dir_hold. */
enum dir_holding {
    DIR_HELD,
    DIR_BUSY,    /* another process holds it */
    DIR_NOT_HELD /* *ret_why has the reason */
};

/*
 * Open a directory, which is made if it is missing, and lock it until dir_release(), so that two
 * runs at once leave no mixture. The lock is a hidden file that no other account can open: whoever
 * can read the directory itself could hold a lock on that for ever. A file system without locks is
 * accepted.
 */
enum dir_holding dir_hold(const char *dir, struct dir_held *ret, const char **ret_why);

/* Delete the lock and close both. */
void dir_release(struct dir_held *held);

/* Result of dir_write. */
enum dir_written {
    DIR_WRITTEN,   /* created or replaced */
    DIR_UNCHANGED, /* had the same content already */
    DIR_FAILED     /* *ret_why has the reason */
};

/*
 * Write a file below the open directory `root` and make the directories of its path. Links are not
 * followed: each segment of the path must be a real directory. The file appears in one step, so no
 * reader sees half of it, with the mode DIR_FILE_MODE.
 */
enum dir_written dir_write(TALLOC_CTX *mem, int root, const char *path, const char *text,
                           size_t length, const char **ret_why);

/* Remove a directory and everything in it. False, with errno, if something could not be removed. */
bool dir_remove(const char *dir);

#endif
