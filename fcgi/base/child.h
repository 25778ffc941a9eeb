/* A program that runs as a child process, without a shell, with the environment that the caller
 * names and within limits. */
#ifndef AZ_BASE_CHILD_H
#define AZ_BASE_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

struct child_call {
    const char *program;          /* absolute path */
    const char *const *arguments; /* after its name; ends with NULL */
    const char *const *variables; /* its environment, NAME=value; ends with NULL */
    const char *dir;              /* where it runs */
    const char *output;           /* file in `dir` that gets what it prints */
    unsigned cpu_seconds;         /* of processor time */
    size_t memory_octets;         /* that it may write to */
    size_t file_octets;           /* of each file */
};

struct child;

/* The ways in which a child ends, or does not. */
enum child_end {
    CHILD_DONE,    /* with status 0 */
    CHILD_FAILED,  /* with another status, or a program that cannot be run */
    CHILD_STOPPED, /* by a signal: a limit was reached, or another process stopped it */
    CHILD_RUNS,    /* it still runs */
};

/* Start a program. Freeing the result kills and reaps it if it is still running; so does the end of
 * this process. NULL: no memory, or no process can be made. */
struct child *child_start(TALLOC_CTX *mem, const struct child_call *call);

/* Wait for the end, at most until a time of clock_monotonic_ms(). */
enum child_end child_wait(struct child *child, int64_t until_ms);

#endif
