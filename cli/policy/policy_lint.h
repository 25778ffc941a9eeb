/* Rules of a directory that the service would take and never ask: what `policy test` refuses. */
#ifndef AZ_CLI_POLICY_POLICY_LINT_H
#define AZ_CLI_POLICY_POLICY_LINT_H

#include "cli/lib/cli.h"
#include "cli/policy/bundle_dir.h"

/*
 * Print an error for each rule that nothing reads and each name of a Cedar rule that the service
 * does not have, and a warning for what only an access request or another program can reach
 * (policy/rows/rule_unread.h, cedar_unknown.h). `shipped` is SVC_DATA_DIR/policy. False: an error
 * was printed.
 */
bool policy_lint(struct cli *cli, const char *shipped, const struct bundle_dir *dir);

#endif
