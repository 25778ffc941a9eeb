/* A program or a function that runs as a child process within limits: a program without a shell and
 * with the environment that the caller names, a function with what this process has in memory. */
#ifndef AZ_BASE_CHILD_H
#define AZ_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

struct child_limits {
    unsigned cpu_seconds; /* of processor time */
    size_t memory_octets; /* that it may write to */
    size_t file_octets;   /* of each file */
};

struct child_call {
    const char *program;          /* absolute path */
    const char *const *arguments; /* after its name; ends with NULL */
    const char *const *variables; /* its environment, NAME=value; ends with NULL */
    const char *dir;              /* where it runs */
    const char *output;           /* file in `dir` that gets what it prints */
    struct child_limits limits;
};

struct child;

/* The ways in which a child ends, or does not. */
enum child_end {
    CHILD_DONE,    /* with status 0 */
    CHILD_FAILED,  /* with another status, or a program that cannot be run */
    CHILD_STOPPED, /* by a signal: a limit was reached, or another process stopped it */
    CHILD_RUNS,    /* it still runs */
};

/* Start a program. Freeing the result kills it, with all processes that it started, and reaps it if
 * it is still running; so does the end of this process. NULL: no memory, or no process can be made.
 */
struct child *child_start(TALLOC_CTX *mem, const struct child_call *call);

/* Run a function in the same way. It has no descriptor of this process, so it uses no connection,
 * and says what it found in memory that both share (mmap(2), MAP_SHARED). It ends when the function
 * returns. */
struct child *child_fork(TALLOC_CTX *mem, const struct child_limits *limits,
                         void (*work)(void *arg), void *arg);

/* Wait for the end, at most until a time of clock_monotonic_ms(). */
enum child_end child_wait(struct child *child, int64_t until_ms);

/* Files for a program, in a directory that no other user can enter. */

/* Make a directory below TMPDIR, or /tmp, and return its path on mem; NULL: it cannot be made. */
char *child_directory_make(TALLOC_CTX *mem, const char *name);

/* Remove these files of it, and the directory. One that stays is logged. */
void child_directory_remove(const char *dir, const char *const *files, size_t count);

/* Write a new file, which this user alone can read. False: it exists, or cannot be written. */
bool child_file_write(const char *path, const unsigned char *octets, size_t length);

/* Read a file of at most `max` octets, on mem, with NUL after it. NULL: it is missing, larger, no
 * plain file, not read to its end, or no memory. */
char *child_file_read(TALLOC_CTX *mem, const char *path, size_t max, size_t *ret_length);

#endif
