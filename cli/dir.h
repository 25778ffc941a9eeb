/* A directory of the operator's: walked, read and written without ever leaving it. */
#ifndef AZ_CLI_DIR_H
#define AZ_CLI_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <talloc.h>

/* Octets of a path below the directory; the longest that a rule can have. */
#define DIR_PATH_MAX 512

/* Files and directories looked at: a bundle has a few thousand, the root of a file system
 * millions. */
#define DIR_ENTRIES_MAX 100000

/* What lies in a directory. Directories themselves are entered, never told. */
struct dir_entry {
    const char *path; /* relative to the directory walked */
    const char *name; /* its last segment */
    int at;           /* the open directory that holds it */
    bool regular;     /* else a symbolic link, FIFO, socket or device */
};

/* A walk. Hidden names are passed over; links are told and never followed. */
struct dir_walk {
    TALLOC_CTX *mem;
    const char *dir; /* where it begins; may itself be a link */
    /* hears of each entry, in the order of names within a directory */
    void (*take)(void *arg, const struct dir_entry *entry);
    /* hears of what cannot be walked; path "" is the directory itself */
    void (*fault)(void *arg, const char *path, const char *why);
    void *arg;   /* theirs */
    size_t seen; /* entries so far */
};

void dir_walk(struct dir_walk *walk);

/*
 * Reads a regular file of 0 to max octets below the open directory `at`, not following a link and
 * not waiting at a FIFO. NUL-terminated, on mem; NULL with a constant text or strerror's in
 * *ret_why.
 */
char *dir_read(TALLOC_CTX *mem, int at, const char *name, size_t max, size_t *ret_length,
               const char **ret_why);

/* What dir_write did. */
enum dir_written {
    DIR_WRITTEN,   /* made or replaced */
    DIR_UNCHANGED, /* had these octets already */
    DIR_FAILED     /* *ret_why says why */
};

/*
 * Writes a file below the open directory `root`, making the directories of its path, following no
 * link: each segment of the path must be a real name of a real directory. In one move: nobody sees
 * half a file.
 */
enum dir_written dir_write(TALLOC_CTX *mem, int root, const char *path, const char *text,
                           size_t length, const char **ret_why);

/* Removes a directory of our own with all that is in it. False, with errno, when something stays.
 */
bool dir_remove(const char *dir);

#endif
