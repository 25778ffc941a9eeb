/* Run the program of the policy engine, for tests and checks of rules. */
#ifndef AZ_CLI_LIB_OPA_RUN_H
#define AZ_CLI_LIB_OPA_RUN_H

#include <signal.h>

#include "cli/lib/cli.h"

/* Row of the option --opa. */
#define OPA_OPTION                                                                                 \
    {                                                                                              \
        "opa", 0, "FILE", offsetof(struct cli_choices, opa), false,                                \
            "Program of the policy engine (default: AUTHZ_OPA, opa on PATH, or the one of "        \
            "contrib/quickstart)"                                                                  \
    }

/*
 * Find the program: --opa, else AUTHZ_OPA, else PATH, else the place where contrib/quickstart keeps
 * it. Absolute, on cli->mem. CLI_UNAVAILABLE, with the error printed, if there is none.
 */
int opa_find(const struct cli *cli, const char **ret_program);

/* Block the signals that end a program, so that temporary files can be removed first. */
void opa_hold_signals(sigset_t *ret_before);

/* One run of the program. */
struct opa_call {
    const char *program;          /* absolute */
    const char *dir;              /* where it runs */
    const char *const *arguments; /* those after its name; ends with NULL */
    int output;                   /* file that gets all that it prints; -1: our own outputs */
    const char *remedy;           /* end of the error if it cannot be run; NULL: to name an opa */
};

/*
 * Run the program. It gets none of our settings, because a rule may read the environment and there
 * are secrets in it. Signals must be blocked; one that arrives is passed on to the engine and
 * stored in *ret_signal. CLI_OK if it succeeds, CLI_FAILED if it does not, CLI_UNAVAILABLE with the
 * error printed if it cannot be run.
 */
int opa_run(const struct cli *cli, const struct opa_call *call, int *ret_signal);

/*
 * Run the program in a temporary directory, which gets a file `answers` with all that it prints.
 * Returns that text, of at most max octets and on cli->mem. NULL, with the error printed unless a
 * signal ended it, if the program failed; its errors begin with the words `what`.
 */
char *opa_run_read(const struct cli *cli, struct opa_call *call, int root, size_t max,
                   const char *what, size_t *ret_length, int *ret_signal);

/* Run `opa test .` in a directory; its output goes to ours. CLI_OK if all tests pass, CLI_FAILED
 * otherwise. */
int opa_run_tests(const struct cli *cli, const char *program, const char *dir, int *ret_signal);

#endif
