#include "config.h"

#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

/* Status of a child whose program could not be run, as in a shell. */
#define NOT_RUN 127
/* Niceness: a program has a third of the time of a worker that wants all of it, so that requests do
 * not wait for what one save needs. */
#define CHILD_NICENESS 5
/* Interval at which the end is looked for, in nanoseconds: a thirtieth of the shortest run. */
#define LOOK_NS 1000000L

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
set_limits(const struct child_limits *limits)
{
    return set_limit(RLIMIT_CPU, limits->cpu_seconds)
           && set_limit(RLIMIT_DATA, limits->memory_octets)
           && set_limit(RLIMIT_FSIZE, limits->file_octets) && set_limit(RLIMIT_CORE, 0);
}

/* Leave the worker behind, in the child: a process group of its own, signals as at a login, less
 * priority, no program with more rights, and the end when the worker ends. */
static bool
leave_worker(pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    for (int signal_number = 1; signal_number < NSIG; signal_number++)
        signal(signal_number, SIG_DFL);
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + CHILD_NICENESS);
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent
           && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
           && sigprocmask(SIG_SETMASK, &none, NULL) == 0;
}

/* Replace the standard descriptors, and close those of the worker (the database, clients). */
static bool
take_descriptors(int output)
{
    int input = open("/dev/null", O_RDWR);
    if (output < 0)
        output = input;
    bool taken = input >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0
                 && dup2(output, STDERR_FILENO) >= 0;
    closefrom(STDERR_FILENO + 1);
    return taken;
}

/* Become the program, in the child; does not return. */
static void
become(const struct child_call *call, char **arguments, char **variables, pid_t parent)
{
    bool ready = leave_worker(parent) && chdir(call->dir) == 0;
    int output = open(call->output, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (ready && output >= 0 && take_descriptors(output) && set_limits(&call->limits))
        execve(call->program, arguments, variables);
    _exit(NOT_RUN);
}

/* Kill and reap what still runs. */
static int
child_free(struct child *child)
{
    if (child->pid > 0) {
        kill(-child->pid, SIGKILL);
        kill(child->pid, SIGKILL); /* it may not have its group yet */
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

/* Return the child if its process was made; else free it and return NULL. */
static struct child *
keep_child(struct child *child, pid_t pid)
{
    if (pid < 0) {
        talloc_free(child);
        return NULL;
    }
    setpgid(pid, pid); /* both do: whoever comes first */
    child->pid = pid;
    talloc_set_destructor(child, child_free);
    return child;
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
    return keep_child(child, pid);
}

struct child *
child_fork(TALLOC_CTX *mem, const struct child_limits *limits, void (*work)(void *arg), void *arg)
{
    struct child *child = talloc_zero(mem, struct child);
    pid_t parent = getpid();
    signal(SIGCHLD, SIG_DFL);
    pid_t pid = child != NULL ? fork() : -1;
    if (pid == 0) {
        bool ready = leave_worker(parent) && take_descriptors(-1);
#ifndef __SANITIZE_ADDRESS__ /* its shadow counts as memory */
        ready = ready && set_limits(limits);
#endif
        if (ready)
            work(arg);
        _exit(ready ? 0 : NOT_RUN);
    }
    return keep_child(child, pid);
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

/* ---- files */

char *
child_directory_make(TALLOC_CTX *mem, const char *name)
{
    const char *base = getenv("TMPDIR");
    char *path =
        talloc_asprintf(mem, "%s/%s.XXXXXX", base != NULL && *base == '/' ? base : "/tmp", name);
    return path != NULL ? mkdtemp(path) : NULL;
}

void
child_directory_remove(const char *dir, const char *const *files, size_t count)
{
    int at = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (size_t i = 0; i < count && at >= 0; i++)
        unlinkat(at, files[i], 0);
    if (at >= 0)
        close(at);
    if (rmdir(dir) != 0)
        log_text(AZ_SEV_WARN, "directory not removed", "%s: %s; delete it by hand", dir,
                 strerror(errno));
}

bool
child_file_write(const char *path, const unsigned char *octets, size_t length)
{
    int file =
        path != NULL ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    size_t done = 0;
    while (file >= 0 && done < length) {
        ssize_t wrote = write(file, octets + done, length - done);
        if (wrote < 0 && errno != EINTR)
            break;
        done += wrote > 0 ? (size_t) wrote : 0;
    }
    bool closed = file >= 0 && close(file) == 0;
    return closed && done == length;
}

char *
child_file_read(TALLOC_CTX *mem, const char *path, size_t max, size_t *ret_length)
{
    struct stat about;
    int file = path != NULL ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    char *octets = NULL;
    size_t length = 0;
    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode)
        && (uint64_t) about.st_size <= max
        && (octets = talloc_array(mem, char, (unsigned) about.st_size + 1)) != NULL) {
        ssize_t got = 1;
        while (length < (size_t) about.st_size && (got > 0 || (got < 0 && errno == EINTR))) {
            got = read(file, octets + length, (size_t) about.st_size - length);
            length += got > 0 ? (size_t) got : 0;
        }
        octets[length] = '\0';
        if (length < (size_t) about.st_size)
            TALLOC_FREE(octets);
    }
    if (file >= 0)
        close(file);
    *ret_length = length;
    return octets;
}
