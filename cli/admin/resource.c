/* resource show as a person reads it: the facts as a table, then the routes, the tools, and whole
 * the tools that wait for approval. With --json it prints the answer of the API. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "cli/admin/admin.h"
#include "cli/verbs.h"

static const struct output_column route_columns[] = {
    {"id",      "ROUTE"  },
    {"methods", "METHODS"},
    {"path",    "PATH"   },
    {"scopes",  "SCOPES" },
    {"enabled", "ENABLED"},
    {NULL,      NULL     }
};
static const struct output_column tool_columns[] = {
    {"name",     "TOOL"    },
    {"route",    "ROUTE"   },
    {"scopes",   "SCOPES"  },
    {"enabled",  "ENABLED" },
    {"approval", "APPROVAL"},
    {NULL,       NULL      }
};

/* Return the words of a list with blanks between them, as a new reference; NULL: out of memory. */
static json_t *
words_of(const struct cli *cli, const json_t *list)
{
    size_t i;
    json_t *word;
    char *text = talloc_strdup(cli->mem, "");
    json_array_foreach (list, i, word)
        if (text != NULL && json_is_string(word))
            text = talloc_asprintf_append_buffer(text, "%s%s", i > 0 ? " " : "",
                                                 json_string_value(word));
    return text != NULL ? json_string(text) : NULL;
}

/* Return the state of a tool's description: approved, new, changed or missing; NULL: it needs no
 * approval. */
static const char *
approval_of(const json_t *tool)
{
    return json_string_value(json_object_get(json_object_get(tool, "pin"), "status"));
}

/* Print a list of routes or tools under a heading; one that is empty is left out. */
static void
print_list(const struct cli *cli, const char *heading, const json_t *list,
           const struct output_column *columns)
{
    struct jsonx_build rows = {jsonx_own(cli->mem, json_array()), false};
    size_t i;
    json_t *entry;
    json_array_foreach (list, i, entry) {
        struct jsonx_build row = {jsonx_copy(entry), false};
        jsonx_set(&row, "methods", words_of(cli, json_object_get(entry, "methods")));
        jsonx_set(&row, "scopes", words_of(cli, json_object_get(entry, "scopes")));
        jsonx_set(&row, "enabled",
                  json_string(json_is_false(json_object_get(entry, "enabled")) ? "no" : "yes"));
        if (approval_of(entry) != NULL)
            jsonx_set(&row, "approval", json_string(approval_of(entry)));
        rows.lost = rows.lost || row.lost;
        jsonx_append(&rows, row.value);
    }
    if (json_array_size(list) == 0)
        return;
    output_heading(cli, talloc_asprintf(cli->mem, "%s:", heading));
    output_rows(cli, jsonx_built(&rows), columns);
}

/* Print the tools whose descriptions an administrator has to read. */
static void
print_waiting(const struct cli *cli, const json_t *tools)
{
    size_t i;
    json_t *tool;
    json_array_foreach (tools, i, tool) {
        const char *state = approval_of(tool);
        const char *name = json_string_value(json_object_get(tool, "name"));
        if (name == NULL || state == NULL || strcmp(state, "approved") == 0)
            continue;
        output_heading(cli, talloc_asprintf(cli->mem, "tool %s, %s:", name, state));
        output_json(tool);
    }
}

int
resource_show_run(struct cli *cli)
{
    struct answer answer;
    int status = admin_ask(cli, &answer);
    if (status != CLI_OK || cli->choice.json || !json_is_object(answer.json))
        return status == CLI_OK ? admin_show(cli, &answer) : status;
    const json_t *routes = admin_take(cli, answer.json, "routes"),
                 *tools = admin_take(cli, answer.json, "tools");
    admin_print_object(cli, answer.json);
    print_list(cli, "routes", routes, route_columns);
    print_list(cli, "tools", tools, tool_columns);
    print_waiting(cli, tools);
    return CLI_OK;
}
