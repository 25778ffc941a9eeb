/* The parent of the worker processes (--workers): one pool per socket. It replaces workers that end
 * and runs housekeeping. */
#ifndef AZ_POOLS_H
#define AZ_POOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/op.h"

#define POOL_WORKERS_MAX 256 /* per pool; each holds a database connection */

/* One pool: a bulkhead with its own socket (architecture.md 3). */
struct pool {
    const char *name;            /* core, web, bundles or gateway */
    int workers;                 /* processes */
    const char *listen;          /* unix:PATH as given, or NULL: the pool does not run */
    int socket;                  /* listening descriptor */
    pid_t pid[POOL_WORKERS_MAX]; /* 0: to be started */
};

/* Open the listening sockets named by `listen`. The first failure prints one line on stderr and
 * returns false. */
bool pools_listen(struct pool *pools, size_t count, const char *group);

/* Take over the sockets that systemd passed (LISTEN_FDS, LISTEN_FDNAMES). Return the number of
 * pools that got one. */
int pools_inherit(struct pool *pools, size_t count);

/* Run the pools until SIGTERM or SIGINT. Return the exit status. */
int pools_run(struct az *az, struct pool *pools, size_t count);

/* Install the signal handlers of a worker: SIGTERM sets *az->stopping, and the process ends after
 * at most SHUTDOWN_PHASE_TIMEOUT. */
void pools_worker_signals(struct az *az);

#endif
