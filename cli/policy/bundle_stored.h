/* The rules and data rows that are stored, as the verbs that compare or copy them need them. */
#ifndef AZ_CLI_POLICY_BUNDLE_STORED_H
#define AZ_CLI_POLICY_BUNDLE_STORED_H

#include <jansson.h>

#include "cli/lib/cli.h"

struct bundle_stored {
    json_t *rules, *rows; /* DTOs, including shipped and disabled ones */
    const char *revision; /* of the newest bundle, "" if none was published */
};

/* Read all of them, with no save in between. Returns the exit status. */
int bundle_stored_read(struct cli *cli, struct bundle_stored *ret);

#endif
