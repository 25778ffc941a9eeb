/*
 * Have the engine's program compile the rules of a candidate, and check them against the schemas of
 * the input documents (etc/policy/inputs): a rule that reads a member which no input has would be
 * undefined, and so let requests through. The engine checks only rules that name a schema, so the
 * check adds a file with that annotation for each package below custom; nothing is added to the
 * author's files, and the rows of errors are theirs.
 */
#ifndef AZ_CLI_POLICY_OPA_CHECK_H
#define AZ_CLI_POLICY_OPA_CHECK_H

#include <jansson.h>

#include "cli/policy/opa_candidate.h"

/*
 * Check a candidate with the program, against the schemas in the directory `inputs`. CLI_OK,
 * perhaps with warnings printed: a stored rule that only the schema check refuses is not part of
 * this change. CLI_FAILED: the errors were printed, with file and line. CLI_UNAVAILABLE: the check
 * could not be made, and the reason was printed.
 */
int opa_check(struct cli *cli, const char *program, const char *inputs,
              const struct opa_candidate *candidate);

/*
 * Check what a deploy of the directory `dir`, or NULL for the one rule of the input, would publish.
 * Returns the exit status; CLI_OK also if
 * there is no program, which is printed: the engine of the service checks each deploy too, but for
 * the schemas.
 */
int opa_check_deploy(struct cli *cli, const struct deploy *deploy, const char *dir);

/* Files of a check, in its temporary directory. */
#define OPA_CHECK_RULES "rules/"
#define OPA_CHECK_HOOKS "check/hooks.rego"

/* Lines before the first hook in OPA_CHECK_HOOKS. */
#define OPA_CHECK_HOOKS_ABOVE 2

/* Print the errors that the engine reported, and warnings; returns CLI_OK if there are only
 * warnings. */
int opa_report(const struct cli *cli, const char *program, const struct opa_candidate *candidate,
               const json_t *errors);

#endif
