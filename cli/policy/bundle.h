/* Parts that the verbs which save policy share. */
#ifndef AZ_CLI_POLICY_BUNDLE_H
#define AZ_CLI_POLICY_BUNDLE_H

#include "cli/lib/call.h"
#include "cli/policy/bundle_dir.h"
#include "cli/policy/refusal.h"

/* Read a directory, and print its faults and the files that are ignored. Returns the exit status.
 */
int bundle_read_dir(const struct cli *cli, const char *name, struct bundle_dir *ret);

/* Read the policy in a directory: as above, and refuse a directory without rules and rows. */
int bundle_read_policy(const struct cli *cli, const char *name, struct bundle_dir *ret);

/* bundle diff --dir. Returns 0 if there is no difference, 1 if there is one. */
int bundle_compare(struct cli *cli);

/* Print a difference (bundle_diff.h), with --json as it is. */
void bundle_print_diff(const struct cli *cli, const json_t *diff);

/* Print the result of a deploy, `mode` being its mode; returns the exit status. */
int bundle_report(struct cli *cli, enum az_status st, const struct deploy_result *result,
                  const struct refusal_source *source, const char *mode);

/* Send a save whose answer is a PolicyBundleDeployResult over the admin API, and print it; returns
 * the exit status. */
int bundle_save_remote(struct cli *cli, const struct call *call,
                       const struct refusal_source *source);

/* Return a deploy as PolicyBundleDeployRequest (specification 2.6), on cli->mem; NULL: no memory.
 */
json_t *bundle_deploy_request(struct cli *cli, const struct deploy *deploy, const char *mode);

/* Send a deploy over the admin API; returns the exit status after printing a refusal. */
int bundle_deploy_remote(struct cli *cli, const struct deploy *deploy, const char *mode,
                         const struct refusal_source *source, struct answer *ret);

/* Print a revision and its activation as the function below does; `same`: the bundle did not
 * change. */
void bundle_print_revision(const struct cli *cli, const char *revision, const char *activation,
                           bool same, json_t *what);

/* Print the revision of a save and its activation; with --json the members of `what` (consumed)
 * come first. */
void bundle_print_save(const struct cli *cli, const struct save_outcome *save, json_t *what);

#endif
