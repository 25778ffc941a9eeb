#include "config.h"

#include "cli/policy/bundle_stored.h"

#include <string.h>

#include "cli/lib/input.h"
#include "cli/lib/output.h"
#include "cli/policy/stored.h"

/* Attempts to read rules and rows without a save in between. */
#define READ_TRIES 5

static int
read_revision(struct cli *cli, const char *latest, struct bundle_stored *ret)
{
    json_t *bundle;
    ret->revision = "";
    if (latest == NULL)
        return CLI_OK;
    int status = input_list(cli, latest, &bundle);
    const char *revision =
        status == CLI_OK ? json_string_value(json_object_get(bundle, "revision")) : NULL;
    if (revision != NULL)
        ret->revision = revision;
    return status;
}

/* Read everything once. *ret_same: no save came between; each save also changes the newest bundle,
 * in one transaction. */
static int
read_once(struct cli *cli, struct bundle_stored *ret, bool *ret_same)
{
    const char *before = NULL, *rules, *rows, *after = NULL;
    int status = stored_latest(cli, &before);
    if (status == CLI_OK)
        status = stored_rules(cli, &rules);
    if (status == CLI_OK)
        status = stored_rows(cli, &rows);
    if (status == CLI_OK)
        status = stored_latest(cli, &after);
    if (status != CLI_OK)
        return status;
    *ret_same = before == NULL || after == NULL ? before == after : strcmp(before, after) == 0;
    status = input_list(cli, rules, &ret->rules);
    if (status == CLI_OK)
        status = input_list(cli, rows, &ret->rows);
    return status == CLI_OK ? read_revision(cli, after, ret) : status;
}

int
bundle_stored_read(struct cli *cli, struct bundle_stored *ret)
{
    bool same = false;
    int status = CLI_OK;
    for (int i = 0; status == CLI_OK && !same && i < READ_TRIES; i++)
        status = read_once(cli, ret, &same);
    if (status != CLI_OK || same)
        return status;
    output_error("%s: the policy changed while it was read; run this again", cli->path);
    return CLI_FAILED;
}
