/* Run the program of the policy engine, for tests of rules. */
#ifndef AZ_CLI_OPA_RUN_H
#define AZ_CLI_OPA_RUN_H

#include <signal.h>

#include "cli.h"

/*
 * Find the program: --opa, else AUTHZ_OPA, else PATH, else the place where contrib/quickstart keeps
 * it. Absolute, on cli->mem. CLI_UNAVAILABLE, with the error printed, if there is none.
 */
int opa_find(const struct cli *cli, const char **ret_program);

/* Block the signals that end a program, so that temporary files can be removed first. */
void opa_hold_signals(sigset_t *ret_before);

/*
 * Run `opa test .` in a directory; its output goes to ours. The engine gets none of our settings,
 * because a rule may read the environment and there are secrets in it. Signals must be blocked; one
 * that arrives is passed on to the engine and stored in *ret_signal. CLI_OK if all tests pass,
 * CLI_FAILED otherwise.
 */
int opa_run_tests(const struct cli *cli, const char *program, const char *dir, int *ret_signal);

#endif
