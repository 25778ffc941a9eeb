/* connector sync: one connector, or all of them. */
#include "config.h"

#include <string.h>

#include "cli/lib/call.h"
#include "cli/lib/limits.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"

#define CONNECTORS "/admin/api/connectors"

const struct cli_option connector_sync_options[] = {
    {"force", 0, NULL, offsetof(struct cli_choices, force), false,
     "Sync also if a scope implies others than before"},
    LIMITS_IMPACT_OPTION,
    LIMITS_OPTIONS,
    LIMITS_OVERRIDE_OPTION,
    LIMITS_SINCE_OPTION,
    {NULL,       0,     NULL,  0,                     false,                         NULL    },
};

int
connector_sync_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"connectorId", "CONNECTOR"},
        {"version",     "VERSION"  },
        {"resources",   "RESOURCES"},
        {"warnings",    "WARNINGS" },
        {NULL,          NULL       }
    };
    const char *id = cli->args[0];
    bool all = strcmp(id, "all") == 0;
    struct query_pair query[LIMITS_QUERY_MAX + 1];
    size_t limits = limits_query(cli, query);
    query[limits] = (struct query_pair){"force", cli->choice.force ? "true" : NULL};
    const struct call call = {
        .method = "POST",
        .path = all ? CONNECTORS "/sync"
                    : talloc_asprintf(cli->mem, CONNECTORS "/%s/sync", call_escape(cli->mem, id)),
        .query = query,
        .queries = limits + 1,
    };
    struct answer answer;
    int status = call_run(cli, &call,
                          talloc_asprintf(cli->mem,
                                          "'%s' is not an installed connector; see `authzctl "
                                          "connector list`",
                                          id),
                          &answer);
    if (status != CLI_OK)
        return status;
    if (cli->choice.json)
        output_json(answer.json);
    else
        output_rows(cli, json_object_get(answer.json, "connectors"), columns);
    return CLI_OK;
}
