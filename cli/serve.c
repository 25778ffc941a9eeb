/* serve: the first process of a container, which runs the service and a web server, and stops them
 * in the order in which no request is lost. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digits.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"

#define SERVICE AUTHZ_LIBEXECDIR "/authz.fcgi"

/* Time that a web server has for the requests that it has in hand; its own configuration ends them
 * earlier. The service keeps its limit itself (SHUTDOWN_PHASE_TIMEOUT). */
#define WEB_STOP_MS 20000
/* Time after which the service is told to end although the web server still runs. Its configuration
 * has ended every request by then (5 s), but Apache keeps a process for each that waits in the
 * service, such as the long poll of the engine, and kills it only after 9 s more. */
#define WEB_WAIT_MS 6000
/* Interval at which that time is looked at. */
#define LOOK_NS 250000000L
/* Processes of the core pool: those of authz.service, and the most (fcgi/pools.h). A container sees
 * all processors of its host, so their number says nothing. */
#define WORKERS "6"
#define WORKERS_MOST 256
/* Freed blocks of each size that the C library keeps at hand; authz.service sets the same. */
#define MEMORY "glibc.malloc.tcache_count=128"
/* Words of the command line of the service. */
#define WORDS_MAX 16

/* A web server that can be run. */
struct web {
    const char *name;    /* as SERVER */
    const char *program; /* of Debian */
    const char *mode;    /* option that keeps it in the foreground */
    const char *config;  /* unless --web-config is given */
    const char *uploads; /* its environment: where bodies wait, if no file of its own says so */
    int stop;            /* signal upon which it finishes its requests and ends */
};

static const struct web webs[] = {
    {"lighttpd", "/usr/sbin/lighttpd", "-D",           "/etc/lighttpd/lighttpd.conf", NULL, SIGINT  },
    {"apache",   "/usr/sbin/apache2",  "-DFOREGROUND", "/etc/apache2/apache2.conf",
     "TMPDIR=/run/authz-uploads",                                                           SIGWINCH},
};

/* clang-format off */
const struct cli_option serve_options[] = {
    {"sockets",    0, "DIR",  offsetof(struct cli_choices, sockets),    false,
     "Directory of the sockets of the service, which the configuration of the web server names "
       "(default /run/authz-fcgi)"},
    {"web-config", 0, "FILE", offsetof(struct cli_choices, web_config), false,
     "Configuration of the web server (default the main file of its Debian package)"},
    {"workers",    0, "N",    offsetof(struct cli_choices, workers),    false,
     "Processes that serve tokens and decisions (default 6)"},
    {NULL,         0, NULL,   0,                                        false, NULL},
};
/* clang-format on */

/* One run. */
struct serving {
    struct cli *cli;
    const struct web *web;
    pid_t web_pid, service_pid; /* 0: it has ended */
    bool stopping;              /* a signal came, or one of both ended */
    bool told;                  /* the service was told to end */
    int64_t began_ms;           /* of the stop */
    int status;                 /* exit status */
    sigset_t waited, before;    /* signals that the loop waits for; those blocked before */
};

/* Start a program, which ends with this process. -1: no process can be made. */
static pid_t
serve_start(const struct serving *serving, char *const *words, char *const *environment)
{
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(CLI_FAILED);
    sigprocmask(SIG_SETMASK, &serving->before, NULL);
    execve(words[0], words, environment);
    output_error("serve: %s cannot be run: %s; install its package", words[0], strerror(errno));
    _exit(CLI_FAILED);
}

/* Start the web server. The settings are no business of it, so its environment has no more than the
 * directory of bodies in transit, which Apache takes from there alone: /tmp may be read-only. */
static pid_t
serve_start_web(const struct serving *serving)
{
    const struct web *web = serving->web;
    const char *config = serving->cli->choice.web_config;
    char *words[] = {(char *) (uintptr_t) web->program, (char *) (uintptr_t) web->mode,
                     (char[]){"-f"}, (char *) (uintptr_t) (config != NULL ? config : web->config),
                     NULL};
    char *environment[] = {(char *) (uintptr_t) web->uploads, NULL};
    return serve_start(serving, words, environment);
}

static pid_t
serve_start_service(const struct serving *serving, const char *workers)
{
    static const char *const pools[] = {"core", "web", "bundles", "gateway"};
    const char *dir =
        serving->cli->choice.sockets != NULL ? serving->cli->choice.sockets : "/run/authz-fcgi";
    char program[] = SERVICE, option[] = "--workers", listen[] = "--listen";
    char *words[WORDS_MAX] = {program, option, (char *) (uintptr_t) workers};
    size_t count = 3;
    for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++) {
        char *socket =
            talloc_asprintf(serving->cli->mem, "%s=unix:%s/%s.sock", pools[i], dir, pools[i]);
        if (socket == NULL)
            return -1;
        words[count++] = listen;
        words[count++] = socket;
    }
    setenv("GLIBC_TUNABLES", MEMORY, false); /* unless the operator has set others */
    return serve_start(serving, words, environ);
}

/* Take the next step of a stop: the web server first, then the service. */
static void
serve_stop(struct serving *serving)
{
    if (!serving->stopping) {
        serving->stopping = true;
        serving->began_ms = clock_monotonic_ms();
        if (serving->web_pid > 0)
            kill(serving->web_pid, serving->web->stop);
    }
    int64_t since_ms = clock_monotonic_ms() - serving->began_ms;
    if (serving->web_pid > 0 && since_ms > WEB_STOP_MS)
        kill(serving->web_pid, SIGKILL);
    bool due = serving->web_pid == 0 || since_ms > WEB_WAIT_MS;
    if (due && serving->service_pid > 0 && !serving->told) {
        serving->told = true;
        kill(serving->service_pid, SIGTERM);
    }
}

/* Note the end of one of both. One that was not asked to end fails the run. */
static void
serve_note(struct serving *serving, pid_t *pid, const char *name, int ended)
{
    int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : CLI_FAILED;
    *pid = 0;
    if (serving->stopping)
        return;
    output_error("serve: %s ended by itself, %s %d; the container ends too", name,
                 WIFSIGNALED(ended) ? "signal" : "status",
                 WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended));
    serving->status = status != CLI_OK ? status : CLI_FAILED;
}

/* Collect what has ended; as the first process of a container that is any process in it. */
static void
serve_reap(struct serving *serving)
{
    int ended;
    for (pid_t pid; (pid = waitpid(-1, &ended, WNOHANG)) > 0;) {
        if (pid == serving->web_pid)
            serve_note(serving, &serving->web_pid, serving->web->name, ended);
        else if (pid == serving->service_pid)
            serve_note(serving, &serving->service_pid, "authz.fcgi", ended);
    }
}

static void
serve_wait(struct serving *serving)
{
    const struct timespec look = {0, LOOK_NS};
    while (serving->web_pid > 0 || serving->service_pid > 0) {
        int signal = sigtimedwait(&serving->waited, NULL, &look);
        serve_reap(serving);
        bool asked = signal == SIGTERM || signal == SIGINT;
        if (asked || serving->stopping || serving->web_pid == 0 || serving->service_pid == 0)
            serve_stop(serving);
    }
}

/* Return the number of workers as text, or NULL after printing why there is none. */
static const char *
serve_workers(const struct cli *cli)
{
    int64_t count;
    if (cli->choice.workers == NULL)
        return WORKERS;
    if (digits_read(cli->choice.workers, WORKERS_MOST, &count) && count > 0)
        return cli->choice.workers;
    output_error("serve: --workers must be a number from 1 to %d", WORKERS_MOST);
    return NULL;
}

int
serve_run(struct cli *cli)
{
    struct serving serving = {.cli = cli, .web = NULL};
    const char *workers = serve_workers(cli);
    for (size_t i = 0; i < sizeof(webs) / sizeof(webs[0]); i++)
        if (strcmp(webs[i].name, cli->args[0]) == 0)
            serving.web = &webs[i];
    if (serving.web == NULL)
        output_error("serve: SERVER must be lighttpd or apache, not %s", cli->args[0]);
    if (serving.web == NULL || workers == NULL)
        return CLI_USAGE;
    signal(SIGCHLD, SIG_DFL); /* if ignored, the ends of both would not be told */
    sigemptyset(&serving.waited);
    sigaddset(&serving.waited, SIGTERM);
    sigaddset(&serving.waited, SIGINT);
    sigaddset(&serving.waited, SIGCHLD);
    sigprocmask(SIG_BLOCK, &serving.waited, &serving.before);
    serving.service_pid = serve_start_service(&serving, workers);
    serving.web_pid = serving.service_pid > 0 ? serve_start_web(&serving) : 0;
    if (serving.service_pid < 0 || serving.web_pid < 0) {
        output_error("serve: no process can be made: %s", strerror(errno));
        serving.status = CLI_FAILED;
        serving.web_pid = 0;
        serving.service_pid = serving.service_pid > 0 ? serving.service_pid : 0;
    }
    serve_wait(&serving);
    return serving.status;
}
