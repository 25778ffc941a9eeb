/* Parts that the verbs which save policy share. */
#ifndef AZ_CLI_BUNDLE_H
#define AZ_CLI_BUNDLE_H

#include "bundle_dir.h"
#include "refusal.h"

/* Read the directory that argument 0 names, and print its faults and the files that are ignored.
 * Returns the exit status. */
int bundle_read_dir(const struct cli *cli, struct bundle_dir *ret);

/* Print the result of a deploy, `mode` being its mode; returns the exit status. */
int bundle_report(struct cli *cli, enum az_status st, const struct deploy_result *result,
                  const struct refusal_source *source, const char *mode);

/* Print the revision of a save and its activation; with --json the members of `what` (consumed)
 * come first. */
void bundle_print_save(const struct cli *cli, const struct save_outcome *save, json_t *what);

#endif
