/* What the verbs that deploy share. */
#ifndef AZ_CLI_BUNDLE_H
#define AZ_CLI_BUNDLE_H

#include "refusal.h"

/* Prints what became of a deploy, with `mode` for its word; exit status. */
int bundle_report(struct cli *cli, enum az_status st, const struct deploy_result *result,
                  const struct refusal_source *source, const char *mode);

#endif
