/* Policies in Cedar, compiled to Rego and evaluated by the program of the policy engine. */
#ifndef AZ_CLI_CEDAR_CEDAR_OPA_H
#define AZ_CLI_CEDAR_CEDAR_OPA_H

#include "cli/cedar/cedar_case.h"
#include "cli/lib/cli.h"

/* Most cases of one run: starting the program costs more than a hundred cases. */
#define CEDAR_BATCH_MAX 200

/* Row of the option --engine. */
#define CEDAR_ENGINE_OPTION                                                                        \
    {                                                                                              \
        "engine", 0, "ENGINE", offsetof(struct cli_choices, engine), false,                        \
            "Evaluator: builtin (the default), or opa, for which policies are compiled to Rego"    \
    }

/* The program, and the runtime of the shipped policy. */
struct cedar_opa {
    struct cli *cli;
    const char *program;
    const char *runtime;
    size_t runtime_length;
    int signal; /* that ended a run, or 0 */
};

/* Read --engine. *ret_opa: it is opa, and the program and the runtime were found. Returns the exit
 * status, with the error printed. */
int cedar_engine(struct cli *cli, struct cedar_opa *ret, bool *ret_opa);

/* Compile the cases of a batch and evaluate their requests in one run of the program. A case that
 * cannot be compiled is refused. False, with the error printed: there are no answers. */
bool cedar_opa_run(struct cedar_opa *opa, TALLOC_CTX *mem, struct cedar_case **cases, size_t count);

#endif
