/* Lines of rules that the tests of a directory evaluate. */
#ifndef AZ_CLI_POLICY_POLICY_COVERAGE_H
#define AZ_CLI_POLICY_POLICY_COVERAGE_H

#include "cli/lib/opa_run.h"
#include "cli/lib/temp_dir.h"
#include "cli/policy/bundle_dir.h"

/*
 * Run the tests again with the program's coverage, and print for each rule in Rego of the directory
 * the part of its lines that they evaluate and the other lines. CLI_OK, or the exit status after
 * printing the error. The tests have passed before.
 */
int policy_coverage(const struct cli *cli, const char *program, const struct temp_dir *place,
                    const struct bundle_dir *dir, int *ret_signal);

#endif
