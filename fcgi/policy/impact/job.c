#include "config.h"

#include "policy/impact/job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/background.h"
#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "store/db/db.h"
#include "store/db/keep/locks.h"
#include "store/policy/impact.h"

/* Time in which the process must have its connection and its lock, in milliseconds. */
#define BEGIN_MS 10000
/* Intervals at which the job notes its progress and is looked up, in milliseconds. */
#define NOTE_MS 200
#define LOOK_MS 50
/* Processor time that the process may take beside the limit of the run. */
#define CPU_FACTOR 2
/* The descriptor over which the process says that it has begun. */
#define TELL_FD (STDERR_FILENO + 1)

/* The first message of the process: the id of its row, or one of these. */
#define TOLD_BUSY ((int64_t) 0)
#define TOLD_FAILED ((int64_t) -1)

/* A run in its process. */
struct job {
    struct op op;
    const struct impact_pair *pair;
    const struct impact_selection *selection;
    const struct impact_label *label;
    int64_t id;
    int64_t noted_ms; /* of the last note; clock_monotonic_ms() */
};

/* ---- the process */

/* Leave the worker behind: its descriptors, its signals and its priority. */
static void
leave_worker(const struct settings *cfg, int tell)
{
    sigset_t none;
    setsid();
    int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0
        || dup2(tell, TELL_FD) < 0)
        _exit(1);
    closefrom(TELL_FD + 1);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    background_begin("authz-impact", IMPACT_MEMORY);
    const rlim_t seconds = (rlim_t) (cfg->impact_seconds * CPU_FACTOR);
    const struct rlimit most = {seconds, seconds};
    setrlimit(RLIMIT_CPU, &most);
}

static void
tell(int64_t what)
{
    if (write(TELL_FD, &what, sizeof(what)) != (ssize_t) sizeof(what))
        _exit(1); /* the worker has gone: no row names this run */
    close(TELL_FD);
}

/* Note the progress now and then, and learn that the run was ended. */
static enum az_status
note_progress(struct op *op, void *arg, int64_t done)
{
    struct job *job = arg;
    bool wanted = true;
    enum az_status st = AZ_OK;
    if (clock_monotonic_ms() - job->noted_ms >= NOTE_MS) {
        job->noted_ms = clock_monotonic_ms();
        st = impact_note(op, job->id, done, &wanted);
    }
    return st == AZ_OK && !wanted ? op_fail(op, AZ_NOT_FOUND, NULL, "the run was ended") : st;
}

/* Return the text of a result; one that is too long has no examples. */
static const char *
result_text(struct op *op, json_t *result)
{
    const char *text = jsonx_dump(op->mem, result);
    if (text == NULL || strlen(text) <= IMPACT_RESULT_MAX)
        return text;
    json_object_del(result, "examples");
    text = jsonx_dump(op->mem, result);
    return text != NULL && strlen(text) <= IMPACT_RESULT_MAX ? text : NULL;
}

/* Take the lock and store the row. */
static int64_t
begin(struct job *job)
{
    const struct impact_new row = {.who = job->label->who,
                                   .base = job->pair->base.revision,
                                   .candidate = job->pair->candidate.revision,
                                   .selection = job->label->selection};
    bool got = false;
    enum az_status st = lock_session_try(&job->op, LOCK_IMPACT, "", &got);
    if (st == AZ_OK && !got)
        return TOLD_BUSY;
    if (st == AZ_OK)
        st = impact_insert(&job->op, &row, &job->id);
    if (st != AZ_OK)
        log_text(AZ_SEV_ERROR, "policy impact not begun", "%s", job->op.fault.detail);
    return st == AZ_OK ? job->id : TOLD_FAILED;
}

/* Run, and store the result. A run that was ended has no row. */
static void
work(struct job *job)
{
    json_t *result = NULL;
    const char *text = NULL, *note = NULL;
    enum az_status st =
        impact_run(&job->op, job->pair, job->selection, note_progress, job, &result);
    if (st == AZ_OK && (text = result_text(&job->op, result)) == NULL)
        note = "the result is too large";
    else if (st != AZ_OK)
        note = job->op.fault.detail;
    struct op after = op_beside(&job->op, job->op.mem);
    if (st != AZ_NOT_FOUND && impact_end(&after, job->id, text, note) != AZ_OK)
        log_text(AZ_SEV_ERROR, "policy impact not stored", "%s", after.fault.detail);
    if (note != NULL && st != AZ_NOT_FOUND)
        log_text(AZ_SEV_WARN, "policy impact failed", "%s", note);
}

/* The process. The handles of the worker stay untouched: they belong to connections of its. */
static void
become(const struct op *op, struct job *job, int fd)
{
    static volatile int stopping;
    leave_worker(op->az->cfg, fd);
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az *az = talloc_zero(mem, struct az);
    if (az == NULL)
        _exit(1);
    az->cfg = op->az->cfg;
    az->stopping = &stopping;
    az->pool = "impact";
    az->metrics = op->az->metrics;
    az->db = db_new_beside(az, op->az->db);
    if (az->db == NULL)
        _exit(1);
    job->op = (struct op){.mem = mem, .az = az, .request_id = op->request_id, .now_ms = op->now_ms};
    int64_t begun = begin(job);
    tell(begun);
    if (begun > 0)
        work(job);
    db_close(az->db);
    _exit(0);
}

/* ---- the worker */

/* Read what the process says first. */
static int64_t
read_told(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int64_t told = TOLD_FAILED, until = clock_monotonic_ms() + BEGIN_MS;
    int got = 0;
    while (got == 0 && clock_monotonic_ms() < until) {
        got = poll(&wait, 1, (int) (until - clock_monotonic_ms()));
        if (got < 0 && errno == EINTR)
            got = 0;
    }
    if (got <= 0 || read(fd, &told, sizeof(told)) != (ssize_t) sizeof(told))
        told = TOLD_FAILED;
    return told;
}

/* Start the process, which is no child of this one. False: it cannot be made. */
static bool
start_process(const struct op *op, struct job *job, const int pair[2])
{
    signal(SIGCHLD, SIG_DFL); /* if a web server had us ignore it, waitpid() would fail */
    pid_t pid = fork();
    if (pid == 0) {
        pid_t own = fork();
        if (own == 0)
            become(op, job, pair[1]);
        _exit(own < 0);
    }
    int status = 1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

enum az_status
impact_start(struct op *op, const struct impact_pair *pair,
             const struct impact_selection *selection, const struct impact_label *label,
             int64_t *ret_id)
{
    struct job job = {.pair = pair, .selection = selection, .label = label};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "policy impact: no pipe: %s", strerror(errno));
    bool started = start_process(op, &job, ends);
    close(ends[1]);
    *ret_id = started ? read_told(ends[0]) : TOLD_FAILED;
    close(ends[0]);
    if (*ret_id == TOLD_BUSY)
        return op_fail(op, AZ_BUSY, "Another measurement is running; try again when it has ended",
                       NULL);
    return *ret_id > 0 ? AZ_OK
                       : op_fail(op, AZ_UNAVAILABLE, NULL,
                                 "policy impact: the process that measures cannot begin");
}

enum az_status
impact_wait(struct op *op, int64_t id, int64_t ms, const char **ret, bool *ret_running)
{
    const struct timespec pause = {0, LOOK_MS * 1000000L};
    int64_t until = clock_monotonic_ms() + ms;
    for (;;) {
        enum az_status st = impact_fetch(op, id, ret, ret_running);
        if (st != AZ_OK || !*ret_running || *op->az->stopping || clock_monotonic_ms() >= until)
            return st;
        nanosleep(&pause, NULL);
    }
}
