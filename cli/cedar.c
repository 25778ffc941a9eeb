/* cedar authorize and format: one file of policies. */
#include "config.h"

#include <string.h>

#include "cedar/authorize.h"
#include "cedar/format.h"
#include "cedar/parse.h"
#include "cedar/read.h"
#include "cedar_case.h"
#include "input.h"
#include "output.h"
#include "verbs.h"

#define AT(member) offsetof(struct cli_choices, member)

const struct cli_option cedar_authorize_options[] = {
    {"entities", 0, "FILE", AT(entities), true,  "List of entities in JSON"},
    {"policies", 0, "FILE", AT(policies), true,  "Policies in Cedar"       },
    {"request",  0, "FILE", AT(request),  true,
     "Request in JSON: principal, action, resource, context"               },
    {NULL,       0, NULL,   0,            false, NULL                      },
};

/* Print a fault as FILE:LINE:COLUMN; returns CLI_FAILED. */
static int
print_fault(const struct cli *cli, const char *name, const struct cedar_fault *fault)
{
    output_error("%s: %s:%u:%u: %s", cli->path, name, fault->place.line, fault->place.column,
                 fault->text);
    return CLI_FAILED;
}

static struct cedar_file *
read_policies_file(const struct cli *cli, const char *name)
{
    struct cedar_fault fault;
    size_t length;
    const char *text =
        input_read_file(cli, name, CEDAR_FILE_MAX, "512 KiB", "give policies", &length);
    struct cedar_file *file = text != NULL ? cedar_parse(cli->mem, text, length, &fault) : NULL;
    if (text != NULL && file == NULL)
        print_fault(cli, name, &fault);
    return file;
}

static bool
read_json(const struct cli *cli, const char *name, struct cedar_json *ret)
{
    struct cedar_fault fault;
    size_t length;
    const char *text =
        input_read_file(cli, name, CEDAR_JSON_MAX, "32 MiB", "give one JSON value", &length);
    if (text == NULL)
        return false;
    if (cedar_json_parse(cli->mem, text, length, ret, &fault))
        return true;
    print_fault(cli, name, &fault);
    return false;
}

int
cedar_authorize_run(struct cli *cli)
{
    const char *names[] = {cli->choice.entities, cli->choice.request};
    struct cedar_json json[2];
    struct cedar_reader reader = {.mem = cli->mem};
    struct cedar_entities entities;
    struct cedar_request request;
    struct cedar_answer answer;
    const struct cedar_file *file = read_policies_file(cli, cli->choice.policies);
    if (file == NULL || !read_json(cli, names[0], &json[0]) || !read_json(cli, names[1], &json[1]))
        return CLI_FAILED;
    bool known = cedar_read_entities(&reader, &json[0], &entities);
    if (!known || !cedar_read_request(&reader, &json[1], &request)) {
        output_error("%s: %s: %s", cli->path, names[known], reader.why);
        return CLI_FAILED;
    }
    const char *text = cedar_authorize(cli->mem, file, &entities, &request, &answer)
                           ? cedar_answer_text(cli->mem, &answer)
                           : NULL;
    if (text == NULL)
        return output_no_memory(cli);
    output_text(talloc_asprintf(cli->mem, "%s\n", text));
    return CLI_OK;
}

int
cedar_format_run(struct cli *cli)
{
    const struct cedar_file *file = read_policies_file(cli, cli->args[0]);
    if (file == NULL)
        return CLI_FAILED;
    const char *text = cedar_format(cli->mem, file);
    if (text == NULL)
        return output_no_memory(cli);
    output_text(text);
    return CLI_OK;
}
