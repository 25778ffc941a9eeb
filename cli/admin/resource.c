/* resource show as a person reads it: the facts as a table, then the routes, the tools, and what is
 * new in the tools that wait for approval. With --json it prints the answer of the API. */
#include "config.h"

#include <stdint.h>
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

/* Print a text with a mark in front of each line; texts of an upstream have no control characters
 * on a terminal (output_print). */
static void
print_marked(const char *mark, const char *text)
{
    for (size_t length; *text != '\0'; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        output_print("  %s %.*s\n", mark, (int) length, text);
    }
}

/* Return a value as a person reads it: a text as it is, another one as JSON, "" if it is absent. */
static const char *
value_text(const struct cli *cli, const json_t *value)
{
    const char *text = json_is_string(value) ? json_string_value(value)
                       : value != NULL       ? jsonx_dump(cli->mem, value)
                                             : "";
    return text != NULL ? text : "(out of memory)";
}

/* Print a member of a tool under its name, before and after, unless both are the same. */
static void
print_difference(const struct cli *cli, const char *name, const json_t *before, const json_t *after)
{
    if (before == after || (before != NULL && after != NULL && json_equal(before, after)))
        return;
    output_print("  %s\n", name);
    print_marked("-", value_text(cli, before));
    print_marked("+", value_text(cli, after));
}

/* Print the arguments that differ, and the rest of the schema if that does. */
static void
print_arguments(const struct cli *cli, const json_t *before, const json_t *after)
{
    const json_t *was = json_object_get(before, "properties"),
                 *is = json_object_get(after, "properties");
    json_t *names = jsonx_own(cli->mem, json_object()), *value;
    json_t *rest[] = {jsonx_copy(before), jsonx_copy(after)};
    const char *name;
    json_object_update(names, (json_t *) (uintptr_t) was);
    json_object_update(names, (json_t *) (uintptr_t) is);
    json_object_foreach (names, name, value)
        print_difference(cli, talloc_asprintf(cli->mem, "argument %s", name),
                         json_object_get(was, name), json_object_get(is, name));
    for (size_t i = 0; i < 2; i++)
        json_object_del(jsonx_own(cli->mem, rest[i]), "properties");
    print_difference(cli, "form of the arguments", rest[0], rest[1]);
}

/* Print what the upstream changed of a tool against the text that was approved, or of a new tool
 * all that it says. */
static void
print_change(const struct cli *cli, const json_t *tool)
{
    static const char *const members[] = {"title", "description", "outputSchema",
                                          "upstreamAnnotations"};
    const json_t *pin = json_object_get(tool, "pin"), *was = json_object_get(pin, "approvedText");
    const char *sha256 = json_string_value(json_object_get(pin, "sha256"));
    if (sha256 != NULL)
        output_print("  pin %s\n", sha256);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        print_difference(cli, members[i], json_object_get(was, members[i]),
                         json_object_get(tool, members[i]));
    print_arguments(cli, json_object_get(was, "inputSchema"), json_object_get(tool, "inputSchema"));
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
        print_change(cli, tool);
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
