/* health: one question to the health routes of a service, without a key. */
#include "config.h"

#include "cli/lib/call.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"

/* Limit for the answer: a check of a container is over before the next one begins. */
#define HEALTH_SECONDS 5

/* clang-format off */
const struct cli_option health_options[] = {
    {"ready", 0, NULL, offsetof(struct cli_choices, ready), false,
     "Ask whether the service can decide, with its database and policy, and not only whether it "
       "runs"},
    {NULL,    0, NULL, 0,                                   false, NULL},
};
/* clang-format on */

int
health_run(struct cli *cli)
{
    struct answer answer = {.status = 0};
    struct call call = {.method = "GET",
                        .path = cli->choice.ready ? "/health/ready" : "/health/live",
                        .seconds = HEALTH_SECONDS};
    cli->choice.server = cli->args[0];
    int status = call_send(cli, &call, &answer);
    if (status != CLI_OK)
        return status;
    const char *told = json_string_value(json_object_get(answer.json, "status"));
    if (answer.status != 200 || told == NULL) {
        output_error("health: %s%s: HTTP status %d, %s; the log of the service has the reason",
                     cli->args[0], call.path, answer.status, told != NULL ? told : "no status");
        return CLI_UNAVAILABLE;
    }
    if (cli->choice.json)
        output_json(answer.json);
    output_line(cli, "%s", told);
    return CLI_OK;
}
