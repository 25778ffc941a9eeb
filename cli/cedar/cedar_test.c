/* cedar test: run the cases of directories and archives through an engine. */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cedar/cedar_opa.h"
#include "cli/lib/dir.h"
#include "cli/lib/opa_run.h"
#include "cli/lib/output.h"
#include "cli/lib/temp_dir.h"
#include "cli/verbs.h"

/* One run. */
struct cedar_run {
    struct cli *cli;
    int root;         /* open directory whose cases are run */
    const char *name; /* argument of the command line */
    int signal;       /* that ended a program, or 0 */
    bool broken;      /* something could not be read, and the error was printed */
    size_t passed, failed, refused;
    bool by_opa; /* --engine opa */
    struct cedar_opa engine;
    TALLOC_CTX *batch;                        /* owns the cases that wait */
    struct cedar_case *wait[CEDAR_BATCH_MAX]; /* for a run of the engine */
    size_t waiting;
};

const struct cli_option cedar_test_options[] = {
    CEDAR_ENGINE_OPTION,
    OPA_OPTION,
    {NULL, 0, NULL, 0, false, NULL},
};

/* Return a text on one line, for output. */
static const char *
one_line(TALLOC_CTX *mem, struct cedar_text text)
{
    char *line = talloc_strndup(mem, text.at, text.length);
    for (char *c = line; c != NULL && *c != '\0'; c++)
        if ((unsigned char) *c < ' ' || *c == 0x7f)
            *c = '?';
    return line != NULL ? line : "";
}

/* Compare the answers of a case, and print each that is wrong. */
static void
judge_case(struct cedar_run *run, TALLOC_CTX *mem, const struct cedar_case *one)
{
    bool right = true;
    for (size_t i = 0; i < one->trials; i++) {
        struct cedar_trial *trial = &one->trial[i];
        cedar_answer_sort(&trial->seen);
        if (cedar_answer_equal(&trial->seen, &trial->expected))
            continue;
        right = false;
        output_text(talloc_asprintf(
            mem, "failed: %s: request %zu (%s)\n  expected: %s\n  seen:     %s\n", one->name, i,
            one_line(mem, trial->description), cedar_answer_text(mem, &trial->expected),
            cedar_answer_text(mem, &trial->seen)));
    }
    run->passed += right;
    run->failed += !right;
}

static void
refuse_case(struct cedar_run *run, TALLOC_CTX *mem, const struct cedar_case *one)
{
    run->refused++;
    output_text(talloc_asprintf(mem, "refused: %s: %s\n", one->name, one->refused));
}

/* Print the result of a case whose requests were answered, or that is refused. */
static void
report_case(struct cedar_run *run, TALLOC_CTX *mem, const struct cedar_case *one)
{
    if (one->refused != NULL)
        refuse_case(run, mem, one);
    else
        judge_case(run, mem, one);
}

/* Ask the engine about the cases that wait. */
static void
run_batch(struct cedar_run *run)
{
    bool fine =
        run->waiting == 0 || cedar_opa_run(&run->engine, run->batch, run->wait, run->waiting);
    for (size_t i = 0; i < run->waiting && fine; i++)
        report_case(run, run->batch, run->wait[i]);
    run->signal = run->engine.signal;
    run->broken = run->broken || !fine;
    run->waiting = 0;
    talloc_free(run->batch);
    run->batch = talloc_new(run->cli->mem);
}

/* Ask the evaluator of this program. */
static void
run_builtin(TALLOC_CTX *mem, struct cedar_case *one)
{
    for (size_t i = 0; i < one->trials && one->refused == NULL; i++)
        if (!cedar_authorize(mem, one->file, &one->entities, &one->trial[i].request,
                             &one->trial[i].seen))
            one->refused = "out of memory";
}

static void
take_case(void *arg, const struct dir_entry *entry)
{
    struct cedar_run *run = arg;
    const char *dot = strrchr(entry->name, '.');
    if (!entry->regular || dot == NULL || strcmp(dot, ".json") != 0 || run->signal != 0
        || strstr(entry->name, ".entities.json") != NULL)
        return;
    TALLOC_CTX *mem = talloc_new(run->batch);
    struct cedar_case *one = talloc_zero(mem, struct cedar_case);
    if (one != NULL)
        cedar_case_read(mem, run->root, entry->path, one);
    else
        run->broken = true;
    if (one == NULL || !one->is_case) {
        talloc_free(mem);
        return;
    }
    if (run->by_opa && one->refused == NULL) {
        run->wait[run->waiting++] = one;
        if (run->waiting == CEDAR_BATCH_MAX)
            run_batch(run);
        return;
    }
    run_builtin(mem, one);
    report_case(run, mem, one);
    talloc_free(mem);
}

static void
hear_fault(void *arg, const char *path, const char *why)
{
    struct cedar_run *run = arg;
    output_error("%s: %s%s%s: %s", run->cli->path, run->name, *path != '\0' ? "/" : "", path, why);
    run->broken = true;
}

/* Run all cases below a directory. */
static void
run_directory(struct cedar_run *run, const char *dir)
{
    struct dir_walk walk = {
        .mem = run->cli->mem, .dir = dir, .take = take_case, .fault = hear_fault, .arg = run};
    run->root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->root >= 0)
        dir_walk(&walk);
    else
        hear_fault(run, "", "cannot be read");
    run_batch(run);
    if (run->root >= 0)
        close(run->root);
}

/* Unpack an archive into a temporary directory by tar, which writes nothing outside, and run the
 * cases there. The walk follows no links. */
static void
run_archive(struct cedar_run *run)
{
    static const char *const programs[] = {"/usr/bin/tar", "/bin/tar"};
    struct cli *cli = run->cli;
    struct temp_dir place = {.root = -1};
    char *file = realpath(run->name, NULL);
    const char *program = programs[access(programs[0], X_OK) != 0];
    sigset_t before;
    opa_hold_signals(&before);
    if (file == NULL || access(program, X_OK) != 0)
        hear_fault(run, "", file == NULL ? "is neither a directory nor a file" : "needs tar");
    else if (temp_dir_make(cli, &place)) {
        const char *const arguments[] = {"--extract",
                                         "--force-local",
                                         "--no-same-owner",
                                         "--no-same-permissions",
                                         "--file",
                                         file,
                                         NULL};
        const struct opa_call call = {
            .program = program, .dir = place.path, .arguments = arguments, .output = -1};
        if (opa_run(cli, &call, &run->signal) == CLI_OK)
            run_directory(run, place.path);
        else
            hear_fault(run, "", "is not an archive that tar can read");
    } else
        run->broken = true;
    free(file);
    temp_dir_remove(&place);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int
cedar_test_run(struct cli *cli)
{
    struct cedar_run run = {.cli = cli, .root = -1, .batch = talloc_new(cli->mem)};
    int status = cedar_engine(cli, &run.engine, &run.by_opa);
    if (status != CLI_OK)
        return status;
    for (int i = 0; i < cli->argc && run.signal == 0; i++) {
        struct stat about;
        run.name = cli->args[i];
        if (stat(run.name, &about) == 0 && S_ISDIR(about.st_mode))
            run_directory(&run, run.name);
        else
            run_archive(&run);
    }
    if (run.signal != 0)
        raise(run.signal);
    if (run.passed + run.failed + run.refused == 0 && !run.broken) {
        output_error("%s: no case was found; a case is a JSON file with `requests`", cli->path);
        return CLI_FAILED;
    }
    output_text(talloc_asprintf(cli->mem, "%zu passed, %zu failed, %zu refused\n", run.passed,
                                run.failed, run.refused));
    return run.failed + run.refused > 0 || run.broken ? CLI_FAILED : CLI_OK;
}
