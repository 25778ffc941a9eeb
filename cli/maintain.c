/* maintain: run the housekeeping once, by hand or from cron. */
#include "config.h"

#include "base/json/jsonx.h"
#include "base/log.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"
#include "housekeeping.h"

int
maintain_run(struct cli *cli)
{
    /* Each job logs its result. */
    log_level_set(cli->choice.quiet ? "error" : "info");
    if (housekeeping_all(&cli->op) != AZ_OK)
        return output_fault(cli);
    output_line(cli, "housekeeping: done");
    if (cli->choice.json)
        output_json(jsonx_own(cli->mem, json_pack("{s:b}", "done", 1)));
    return CLI_OK;
}
