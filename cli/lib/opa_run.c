#include "config.h"

#include "cli/lib/opa_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/lib/dir.h"
#include "cli/lib/output.h"

/* Environment variables that are passed to the engine. */
static const char *const passed[] = {"PATH", "HOME",       "TMPDIR",     "LANG", "LC_ALL",
                                     "TERM", "GOMAXPROCS", "GOMEMLIMIT", "GOGC", "NO_COLOR"};
#define PASSED (sizeof(passed) / sizeof(passed[0]))

/* Exit status of a child whose program could not be run, as in a shell. */
#define NOT_RUN 127

/* Return the absolute path of an executable file, or NULL. */
static const char *
runnable(TALLOC_CTX *mem, const char *file)
{
    struct stat about;
    char *whole = NULL;
    if (file != NULL && stat(file, &about) == 0 && S_ISREG(about.st_mode)
        && access(file, X_OK) == 0)
        whole = realpath(file, NULL);
    const char *program = whole != NULL ? talloc_strdup(mem, whole) : NULL;
    free(whole);
    return program;
}

/* Return the absolute path of the program `name` on PATH, or NULL. Relative entries of PATH are
 * skipped: they would run a file of the current directory. */
static const char *
on_path(TALLOC_CTX *mem, const char *name)
{
    const char *path = getenv("PATH"), *program = NULL;
    for (size_t length; path != NULL && *path != '\0' && program == NULL;
         path += length + (path[length] == ':')) {
        length = strcspn(path, ":");
        if (*path == '/')
            program = runnable(mem, talloc_asprintf(mem, "%.*s/%s", (int) length, path, name));
    }
    return program;
}

/* Return the program that contrib/quickstart has downloaded, or NULL. */
static const char *
search_cache(TALLOC_CTX *mem)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache != NULL && *cache == '/')
        return runnable(mem, talloc_asprintf(mem, "%s/authz/bin/opa", cache));
    return home != NULL && *home == '/'
               ? runnable(mem, talloc_asprintf(mem, "%s/.cache/authz/bin/opa", home))
               : NULL;
}

int
opa_find(const struct cli *cli, const char **ret_program)
{
    const char *named = cli->choice.opa, *variable = getenv("AUTHZ_OPA"), *program;
    bool by_option = named != NULL;
    if (named == NULL && variable != NULL && *variable != '\0')
        named = variable;
    if (named != NULL)
        program = runnable(cli->mem, named);
    else if ((program = on_path(cli->mem, "opa")) == NULL)
        program = search_cache(cli->mem);
    if (program != NULL) {
        *ret_program = program;
        return CLI_OK;
    }
    if (named != NULL)
        output_error("%s: %s: %s is not an executable file; name an opa 1.x program", cli->path,
                     by_option ? "--opa" : "AUTHZ_OPA", named);
    else
        output_error("%s: no opa program found; put an opa 1.x on PATH, or name it with --opa FILE "
                     "or AUTHZ_OPA",
                     cli->path);
    return CLI_UNAVAILABLE;
}

void
opa_hold_signals(sigset_t *ret_before)
{
    static const int ending[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        sigaddset(&held, ending[i]);
    signal(SIGCHLD, SIG_DFL); /* if ignored, the child's status would be lost */
    sigprocmask(SIG_BLOCK, &held, ret_before);
}

/* Become the engine, in the child; does not return. */
static void
become_engine(const struct opa_call *call, char **arguments, char **environment)
{
    sigset_t none;
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool ready = chdir(call->dir) == 0 && input >= 0 && dup2(input, STDIN_FILENO) >= 0;
    if (call->output >= 0)
        ready = ready && dup2(call->output, STDOUT_FILENO) >= 0
                && dup2(call->output, STDERR_FILENO) >= 0;
    sigemptyset(&none);
    if (ready && sigprocmask(SIG_SETMASK, &none, NULL) == 0)
        execve(call->program, arguments, environment);
    _exit(NOT_RUN);
}

/* Return the arguments of the program, its name first; NULL: no memory. */
static char **
make_arguments(TALLOC_CTX *mem, const char *program, const char *const *given)
{
    const char *slash = strrchr(program, '/'), *name = slash != NULL ? slash + 1 : program;
    size_t count = 0;
    while (given[count] != NULL)
        count++;
    char **arguments = talloc_zero_array(mem, char *, (unsigned) count + 2);
    for (size_t i = 0; arguments != NULL && i <= count; i++)
        if ((arguments[i] = talloc_strdup(mem, i == 0 ? name : given[i - 1])) == NULL)
            return NULL;
    return arguments;
}

static char **
make_environment(TALLOC_CTX *mem)
{
    char **environment = talloc_zero_array(mem, char *, PASSED + 1);
    size_t count = 0;
    for (size_t i = 0; environment != NULL && i < PASSED; i++) {
        const char *value = getenv(passed[i]);
        if (value != NULL)
            environment[count++] = talloc_asprintf(environment, "%s=%s", passed[i], value);
    }
    return environment;
}

/* Wait for the child, and pass on to it the signals that would end this program. */
static int
await(pid_t child, int *ret_signal)
{
    sigset_t held;
    int status = 0;
    sigprocmask(SIG_SETMASK, NULL, &held);
    for (;;) {
        pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child || (got < 0 && errno != EINTR))
            return got == child ? status : -1;
        int signal = sigwaitinfo(&held, NULL);
        if (signal > 0 && signal != SIGCHLD) {
            *ret_signal = signal;
            kill(child, signal);
        }
    }
}

int
opa_run(const struct cli *cli, const struct opa_call *call, int *ret_signal)
{
    char **environment = make_environment(cli->mem),
         **arguments = make_arguments(cli->mem, call->program, call->arguments);
    fflush(stdout);
    pid_t child = environment != NULL && arguments != NULL ? fork() : -1;
    if (child == 0)
        become_engine(call, arguments, environment);
    int status = child > 0 ? await(child, ret_signal) : -1;
    if (child > 0 && status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) != NOT_RUN)
        return WEXITSTATUS(status) == 0 ? CLI_OK : CLI_FAILED;
    if (*ret_signal == 0)
        output_error(
            "%s: %s: %s; %s", cli->path, call->program,
            child > 0 && status >= 0 && WIFSIGNALED(status) ? "was killed" : "cannot be run",
            call->remedy != NULL ? call->remedy : "name an opa 1.x program with --opa FILE");
    return CLI_UNAVAILABLE;
}

char *
opa_run_read(const struct cli *cli, struct opa_call *call, int root, size_t max, const char *what,
             size_t *ret_length, int *ret_signal)
{
    const char *why = "out of memory";
    call->output = openat(root, "answers", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (call->output < 0) {
        output_error("%s: %s: cannot be written", cli->path, call->dir);
        return NULL;
    }
    int status = opa_run(cli, call, ret_signal);
    close(call->output);
    char *text = status != CLI_UNAVAILABLE
                     ? dir_read(cli->mem, root, "answers", max, ret_length, &why)
                     : NULL;
    if (status == CLI_OK && text != NULL)
        return text;
    if (*ret_signal == 0 && status != CLI_UNAVAILABLE)
        output_error("%s: %s: %s", cli->path, what, text != NULL ? text : why);
    return NULL;
}

int
opa_run_tests(const struct cli *cli, const char *program, const char *dir, int *ret_signal)
{
    const char *const arguments[] = {"test", ".", cli->choice.json ? "--format=json" : NULL, NULL};
    const struct opa_call call = {
        .program = program, .dir = dir, .arguments = arguments, .output = -1};
    return opa_run(cli, &call, ret_signal) == CLI_OK ? CLI_OK : CLI_FAILED;
}
