#include "config.h"

#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* Status of a child whose program could not be run, as in a shell. */
#define NOT_RUN 127
/* Niceness: a program has a third of the time of a worker that wants all of it, so that requests do
 * not wait for what one save needs. */
#define CHILD_NICENESS 5
/* Interval at which the end is looked for, in nanoseconds: a twentieth of the shortest run. */
#define LOOK_NS 5000000L

struct child {
    pid_t pid; /* 0: it has ended */
};

static bool
set_limit(int resource, rlim_t limit)
{
    const struct rlimit both = {limit, limit};
    return setrlimit(resource, &both) == 0;
}

/* Set the limits. The address space is not limited: programs of Go reserve gigabytes of it that
 * they never write to. */
static bool
set_limits(const struct child_call *call)
{
    return set_limit(RLIMIT_CPU, call->cpu_seconds) && set_limit(RLIMIT_DATA, call->memory_octets)
           && set_limit(RLIMIT_FSIZE, call->file_octets) && set_limit(RLIMIT_CORE, 0);
}

/* Become the program, in the child; does not return. Descriptors of ours (the database, clients)
 * are closed, signals are as at a login, and no program with more rights can be run. */
static void
become(const struct child_call *call, char **arguments, char **variables, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    for (int signal_number = 1; signal_number < NSIG; signal_number++)
        signal(signal_number, SIG_DFL);
    bool ready = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent
                 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && chdir(call->dir) == 0;
    int input = open("/dev/null", O_RDONLY);
    int output = open(call->output, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    ready = ready && input >= 0 && output >= 0 && dup2(input, STDIN_FILENO) >= 0
            && dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0;
    closefrom(STDERR_FILENO + 1);
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + CHILD_NICENESS);
    if (ready && set_limits(call) && sigprocmask(SIG_SETMASK, &none, NULL) == 0)
        execve(call->program, arguments, variables);
    _exit(NOT_RUN);
}

/* Kill and reap what still runs. */
static int
child_free(struct child *child)
{
    if (child->pid > 0) {
        kill(child->pid, SIGKILL);
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        child->pid = 0;
    }
    return 0;
}

/* Return a copy of texts that end with NULL, after `first` unless it is NULL; NULL: no memory. */
static char **
copy_texts(TALLOC_CTX *mem, const char *first, const char *const *texts)
{
    size_t count = 0, used = 0;
    while (texts[count] != NULL)
        count++;
    char **copy = talloc_zero_array(mem, char *, (unsigned) count + 2);
    if (copy == NULL || (first != NULL && (copy[used++] = talloc_strdup(copy, first)) == NULL))
        return NULL;
    for (size_t i = 0; i < count; i++)
        if ((copy[used++] = talloc_strdup(copy, texts[i])) == NULL)
            return NULL;
    return copy;
}

struct child *
child_start(TALLOC_CTX *mem, const struct child_call *call)
{
    struct child *child = talloc_zero(mem, struct child);
    char **arguments = child != NULL ? copy_texts(child, call->program, call->arguments) : NULL;
    char **variables = arguments != NULL ? copy_texts(child, NULL, call->variables) : NULL;
    pid_t parent = getpid();
    signal(SIGCHLD, SIG_DFL); /* if a web server had us ignore it, the status would be lost */
    pid_t pid = variables != NULL ? fork() : -1;
    if (pid == 0)
        become(call, arguments, variables, parent);
    if (pid < 0) {
        talloc_free(child);
        return NULL;
    }
    child->pid = pid;
    talloc_set_destructor(child, child_free);
    return child;
}

enum child_end
child_wait(struct child *child, int64_t until_ms)
{
    const struct timespec pause = {0, LOOK_NS};
    int status = 0;
    for (;;) {
        pid_t got = child->pid > 0 ? waitpid(child->pid, &status, WNOHANG) : -1;
        if (got == child->pid)
            break;
        if (got < 0 && errno != EINTR) {
            child->pid = 0;
            return CHILD_FAILED;
        }
        if (clock_monotonic_ms() >= until_ms)
            return CHILD_RUNS;
        nanosleep(&pause, NULL);
    }
    child->pid = 0;
    if (!WIFEXITED(status))
        return CHILD_STOPPED;
    return WEXITSTATUS(status) == 0 ? CHILD_DONE : CHILD_FAILED;
}
