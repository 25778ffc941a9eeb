#include "config.h"

#include "pools.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "accept.h"
#include "audit/traces.h"
#include "base/clock.h"
#include "base/digits.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "gateway/feed/feed_serve.h"
#include "gateway/process/gateway_process.h"
#include "gateway/relay/relay_serve.h"
#include "housekeeping.h"
#include "policy/engine/shadow_tap.h"
#include "policy/shadow/serve.h"
#include "process.h"
#include "store/db/db.h"
#include "store/db/rows/audit.h"
#include "store/schema/schema.h"

/* Connections that the kernel queues while all workers are busy; lighttpd opens one per request. */
#define BACKLOG 1024
/* Delay before a worker that ended is replaced, so that one that fails at start does not spin. */
#define RESTART_DELAY_MS 50
/* Interval between two checks for ended children; SIGCHLD cuts it short. */
#define LOOK_MS 100
/* Interval at which a stopping process checks if it may end. */
#define TICK_MS 100
/* Extra time for a worker that ends by its own clock, before it is killed. */
#define GRACE_MS 500
/* First descriptor of systemd's socket activation (sd_listen_fds(3)). */
#define LISTEN_FDS_START 3

/* The only state that signal handlers use. */
static volatile int *stop_flag;
static volatile sig_atomic_t ticks_left;

static void
on_stop(int signal)
{
    (void) signal;
    *stop_flag = 1;
    /* accept(2) may start just after the loop read the flag: tick until the loop reads it again. */
    struct itimerval tick = {
        {0, TICK_MS * 1000},
        {0, TICK_MS * 1000}
    };
    setitimer(ITIMER_REAL, &tick, NULL);
}

static void
on_tick(int signal)
{
    (void) signal;
    if (*stop_flag && --ticks_left <= 0)
        _exit(0);
}

static void
on_child(int signal)
{
    (void) signal; /* the signal only has to interrupt the parent's sleep */
}

static void
handle(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

void
pools_worker_signals(struct az *az)
{
    stop_flag = az->stopping;
    ticks_left = (sig_atomic_t) (az->cfg->shutdown_phase_timeout * 1000 / TICK_MS);
    handle(SIGTERM, on_stop);
    handle(SIGINT, on_stop);
    handle(SIGALRM, on_tick);
    handle(SIGHUP, SIG_IGN); /* settings are not reloaded, and a closed terminal stops nothing */
    handle(SIGPIPE, SIG_IGN);
    handle(SIGCHLD, SIG_DFL);
}

static int
listen_unix(const char *path, const char *group)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path)) {
        fprintf(stderr, "authz.fcgi: --listen: %s: a socket path may have at most %zu octets\n",
                path, sizeof(address.sun_path) - 1);
        return -1;
    }
    strcpy(address.sun_path, path);
    unlink(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mode_t old = umask(0117);
    int bound = fd >= 0 ? bind(fd, (const struct sockaddr *) &address, sizeof(address)) : -1;
    umask(old);
    struct group *entry = group != NULL ? getgrnam(group) : NULL;
    if (bound != 0 || listen(fd, BACKLOG) != 0
        || (group != NULL && (entry == NULL || chown(path, (uid_t) -1, entry->gr_gid) != 0))) {
        fprintf(stderr, "authz.fcgi: --listen: cannot open %s%s%s: %s\n", path,
                group != NULL ? " for group " : "", group != NULL ? group : "", strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

bool
pools_listen(struct pool *pools, size_t count, const char *group)
{
    for (size_t i = 0; i < count; i++) {
        if (pools[i].listen == NULL || pools[i].workers == 0)
            continue;
        if (strncmp(pools[i].listen, "unix:", 5) != 0) {
            fprintf(stderr, "authz.fcgi: --listen: %s: only unix:PATH is supported\n",
                    pools[i].listen);
            return false;
        }
        if ((pools[i].socket = listen_unix(pools[i].listen + 5, group)) < 0)
            return false;
    }
    return true;
}

int
pools_inherit(struct pool *pools, size_t count)
{
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS"),
               *names = getenv("LISTEN_FDNAMES");
    int taken = 0;
    int64_t owner, given;
    if (pid == NULL || fds == NULL || names == NULL || !digits_read(pid, INT_MAX, &owner)
        || owner != getpid() || !digits_read(fds, INT_MAX - LISTEN_FDS_START, &given))
        return 0;
    for (int i = 0; i < given && *names != '\0'; i++) {
        size_t length = strcspn(names, ":");
        for (size_t j = 0; j < count; j++)
            if (strlen(pools[j].name) == length && strncmp(pools[j].name, names, length) == 0) {
                pools[j].socket = LISTEN_FDS_START + i;
                pools[j].listen = "systemd";
                fcntl(pools[j].socket, F_SETFD, FD_CLOEXEC);
                taken++;
            }
        names += length + (names[length] == ':');
    }
    return taken;
}

/* Make the child end when its parent ends. A parent that ended before this call sent no signal, so
 * check for that too. */
static void
child_begin(struct az *az, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(0);
    pools_worker_signals(az);
}

/* Close the listening sockets but that of a pool (NULL: all), in a child. */
static void
close_sockets(const struct pool *pools, size_t count, const struct pool *pool)
{
    for (size_t i = 0; i < count; i++)
        if (&pools[i] != pool && pools[i].socket > 0)
            close(pools[i].socket);
}

static void
worker_main(struct az *az, const struct pool *pools, size_t count, const struct pool *pool)
{
    close_sockets(pools, count, pool);
    az->pool = pool->name;
    az->pool_workers = pool->workers;
    /* Workers that hold requests of engines wait for notifications. */
    if (strcmp(pool->name, "bundles") == 0 && !db_enter_session(az, true))
        _exit(1);
    accept_loop(az, pool->socket);
    db_close(az->db);
    _exit(0);
}

static void
start_workers(struct az *az, struct pool *pools, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int j = 0; pools[i].socket > 0 && j < pools[i].workers; j++) {
            if (pools[i].pid[j] != 0)
                continue;
            pid_t parent = getpid(), pid = fork();
            if (pid == 0) {
                child_begin(az, parent);
                worker_main(az, pools, count, &pools[i]);
            }
            pools[i].pid[j] = pid > 0 ? pid : 0;
        }
}

/* A child that works beside the workers now and then. */
struct keeper {
    void (*work)(struct op *op);            /* NULL: there is nothing to do */
    enum az_status (*check)(struct op *op); /* of the database, before the work, or NULL */
    int every;                              /* seconds between two starts */
    pid_t pid;                              /* 0: it does not run */
    time_t due;                             /* of the next start */
};

/* The keepers of a parent: housekeeping; what waits for other servers, so that one that hangs does
 * not keep the rest waiting; the shadow of the policy, which runs as long as there is one; and the
 * relay of streams, the feeder and the sender of traces, which run always. */
enum { KEEPING, SENDING, SHADOWING, RELAYING, FEEDING, TRACING, KEEPERS };

static void
log_end(const char *what, const char *pool, pid_t pid, int status)
{
    if (!*stop_flag)
        log_text(AZ_SEV_WARN, what, "pool %s, pid %ld, %s %d", pool, (long) pid,
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Note the end of a keeper. *ret_status becomes the exit status of one that found a database which
 * cannot be served. The decisions for a shadow wait in its queue, so one that died starts again. */
static void
reap_keeper(struct keeper keepers[KEEPERS], pid_t pid, int ended, int *ret_status)
{
    for (size_t i = 0; i < KEEPERS; i++) {
        if (pid != keepers[i].pid)
            continue;
        keepers[i].pid = 0;
        if (WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_CONFIG)
            *ret_status = EXIT_CONFIG;
        else if (ended != 0)
            log_end("process beside the workers ended", "none", pid, ended);
        if (i == RELAYING || i == FEEDING || i == TRACING || (i == SHADOWING && WIFSIGNALED(ended)))
            keepers[i].due = time(NULL) + 1;
    }
}

/* Collect the ended children. Return true if one was a worker. */
static bool
reap(struct pool *pools, size_t count, struct keeper keepers[KEEPERS], int *ret_status)
{
    int status;
    bool found = false;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        reap_keeper(keepers, pid, status, ret_status);
        for (size_t i = 0; i < count; i++)
            for (int j = 0; j < pools[i].workers; j++)
                if (pools[i].pid[j] == pid) {
                    pools[i].pid[j] = 0;
                    found = true;
                    log_end("worker ended", pools[i].name, pid, status);
                }
    }
    return found;
}

static int
signal_all(const struct pool *pools, size_t count, int signal)
{
    int alive = 0;
    for (size_t i = 0; i < count; i++)
        for (int j = 0; j < pools[i].workers; j++)
            if (pools[i].pid[j] > 0)
                alive += kill(pools[i].pid[j], signal) == 0;
    return alive;
}

static void
pools_sleep(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void
keep(struct op *op)
{
    housekeeping_run(op->az, false);
}

static void
keep_sending(struct op *op)
{
    housekeeping_run(op->az, true);
}

/*
 * Work in a child process (a keeper), so that a slow database cannot keep the parent from replacing
 * workers. The keeper checks the schema first: a database that could not be reached at start may
 * have a schema of another version, and then the service must stop.
 */
static pid_t
start_keeper(struct az *az, const struct pool *pools, size_t count, const struct keeper *keeper)
{
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid > 0 ? pid : 0;
    child_begin(az, parent);
    close_sockets(pools, count, NULL);
    struct op op = process_op(talloc_new(NULL), az);
    /* The check is of the address that requests use. */
    enum az_status st = keeper->check != NULL ? process_look(&op, keeper->check) : AZ_OK;
    if (!db_enter_session(az, true))
        _exit(1);
    if (st != AZ_OK)
        log_text(AZ_SEV_ERROR, "database check failed", "%s", op.fault.detail);
    else
        keeper->work(&op);
    db_close(az->db);
    _exit(st == AZ_CONFLICT ? EXIT_CONFIG : 0);
}

/* Start the keepers that are due. */
static void
start_keepers(struct az *az, const struct pool *pools, size_t count, struct keeper keepers[KEEPERS])
{
    time_t now = time(NULL);
    if (shadow_tap_is_woken(az->shadow_tap))
        keepers[SHADOWING].due = 0;
    for (size_t i = 0; i < KEEPERS; i++)
        if (keepers[i].work != NULL && keepers[i].pid == 0 && now >= keepers[i].due) {
            keepers[i].pid = start_keeper(az, pools, count, &keepers[i]);
            keepers[i].due = now + keepers[i].every;
        }
}

static void
stop_workers(struct az *az, struct pool *pools, size_t count)
{
    struct keeper none[KEEPERS] = {{.pid = 0}};
    int ignored;
    /* A deadline, not a number of sleeps: each worker that ends interrupts a sleep. */
    int64_t until = clock_monotonic_ms() + az->cfg->shutdown_phase_timeout * 1000 + GRACE_MS;
    signal_all(pools, count, SIGTERM);
    while (signal_all(pools, count, 0) > 0 && clock_monotonic_ms() < until) {
        pools_sleep(TICK_MS);
        reap(pools, count, none, &ignored);
    }
    signal_all(pools, count, SIGKILL);
    for (size_t i = 0; i < count; i++)
        if (pools[i].listen != NULL && strncmp(pools[i].listen, "unix:", 5) == 0)
            unlink(pools[i].listen + 5);
}

int
pools_run(struct az *az, struct pool *pools, size_t count)
{
    struct keeper keepers[KEEPERS] = {
        [KEEPING] = {keep,                                                process_prepare_database, HOUSEKEEPING_EVERY, 0, 0},
        [SENDING] = {settings_sends_audit(az->cfg) ? keep_sending : NULL, schema_check,
                     HOUSEKEEPING_SENDING_EVERY,                                                                        0, 0},
        [SHADOWING] = {az->shadow_tap != NULL ? shadow_serve : NULL,        schema_check,
                     SHADOW_SERVE_EVERY,                                                                                0, 0},
        [RELAYING] = {az->gateway->relay != NULL ? relay_serve : NULL,     NULL,                     RELAY_SERVE_EVERY,  0,
                     0                                                                                                      },
        [FEEDING] = {az->gateway->relay != NULL ? feed_serve : NULL,      NULL,                     FEED_SERVE_EVERY,   0, 0},
        [TRACING] = {az->tracer != NULL ? traces_serve : NULL,            NULL,                     TRACES_SERVE_EVERY, 0, 0},
    };
    int status = 0;
    stop_flag = az->stopping;
    ticks_left = 1 << 30;
    handle(SIGTERM, on_stop);
    handle(SIGINT, on_stop);
    handle(SIGALRM, on_tick);
    handle(SIGCHLD, on_child);
    handle(SIGHUP, SIG_IGN); /* as in the workers */
    handle(SIGPIPE, SIG_IGN);
    db_close(az->db);
    while (!*az->stopping && status == 0) {
        start_workers(az, pools, count);
        start_keepers(az, pools, count, keepers);
        pools_sleep(LOOK_MS);
        while (reap(pools, count, keepers, &status))
            pools_sleep(RESTART_DELAY_MS);
    }
    struct itimerval off = {
        {0, 0},
        {0, 0}
    };
    setitimer(ITIMER_REAL, &off, NULL);
    for (size_t i = 0; i < KEEPERS; i++)
        if (keepers[i].pid > 0)
            kill(keepers[i].pid, SIGTERM);
    stop_workers(az, pools, count);
    db_close(az->db);
    log_text(AZ_SEV_INFO, "stopped", "all workers ended");
    return status;
}
