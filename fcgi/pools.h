/* The parent of `--workers`: one pool of worker processes per socket, restarted when they die, and
 * housekeeping. */
#ifndef AZ_POOLS_H
#define AZ_POOLS_H

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
    pid_t pid[POOL_WORKERS_MAX]; /* 0 = to be started */
};

/* Opens the listening sockets named by `listen`; one line on stderr and false for the first that
 * fails. */
int pools_listen(struct pool *pools, size_t count, const char *group);

/* Takes sockets that systemd passed (LISTEN_FDS, LISTEN_FDNAMES); returns how many pools got one.
 */
int pools_inherit(struct pool *pools, size_t count);

/* Runs the pools until SIGTERM or SIGINT. Returns the exit status. */
int pools_run(struct az *az, struct pool *pools, size_t count);

/* Installs SIGTERM handling for a worker: *az->stopping is set, and the process ends after
 * SHUTDOWN_PHASE_TIMEOUT. */
void pools_worker_signals(struct az *az);

#endif
