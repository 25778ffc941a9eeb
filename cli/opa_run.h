/* The policy engine's own program, run here for tests of rules. */
#ifndef AZ_CLI_OPA_RUN_H
#define AZ_CLI_OPA_RUN_H

#include <signal.h>

#include "cli.h"

/*
 * Where it is: --opa, else AUTHZ_OPA, else PATH, else where contrib/quickstart keeps it. Absolute,
 * on cli->mem. CLI_UNAVAILABLE, with what to do printed, when there is none.
 */
int opa_find(const struct cli *cli, const char **ret_program);

/* Holds back the signals that end a program, so that what was made can be removed first. */
void opa_hold_signals(sigset_t *ret_before);

/*
 * `opa test .` in a directory, its output ours. It gets none of our settings: a rule may read the
 * environment, and there are secrets in it. Signals must be held; one that comes goes on to the
 * engine and into *ret_signal. CLI_OK when all tests pass, CLI_FAILED otherwise.
 */
int opa_run_tests(const struct cli *cli, const char *program, const char *dir, int *ret_signal);

#endif
