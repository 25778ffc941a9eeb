/* cedar authorize, compile and format: one file of policies. */
#include "config.h"

#include <signal.h>
#include <string.h>

#include "cedar/parse.h"
#include "cedar/read.h"
#include "cedar/rego.h"
#include "cli/cedar/authorize.h"
#include "cli/cedar/cedar_opa.h"
#include "cli/cedar/format.h"
#include "cli/lib/input.h"
#include "cli/lib/opa_run.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"

#define AT(member) offsetof(struct cli_choices, member)

const struct cli_option cedar_authorize_options[] = {
    CEDAR_ENGINE_OPTION,
    {"entities", 0, "FILE", AT(entities), false, "List of entities in JSON (default: none)"},
    OPA_OPTION,
    {"policies", 0, "FILE", AT(policies), true,  "Policies in Cedar"                       },
    {"request",  0, "FILE", AT(request),  true,
      "Request in JSON: principal, action, resource, context"                               },
    {NULL,       0, NULL,   0,            false, NULL                                      },
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

/* Read the files of the options as a case with one request. */
static bool
read_authorize_files(struct cli *cli, struct cedar_case *ret)
{
    const char *names[] = {cli->choice.entities, cli->choice.request};
    struct cedar_json json[2];
    struct cedar_reader reader = {.mem = cli->mem};
    struct cedar_fault fault;
    ret->file = read_policies_file(cli, cli->choice.policies);
    bool given = names[0] != NULL;
    if (ret->file == NULL
        || !(given ? read_json(cli, names[0], &json[0])
                   : cedar_json_parse(cli->mem, "[]", strlen("[]"), &json[0], &fault))
        || !read_json(cli, names[1], &json[1]))
        return false;
    bool known = cedar_read_entities(&reader, &json[0], &ret->entities);
    if (known && cedar_read_request(&reader, &json[1], &ret->trial->request))
        return true;
    output_error("%s: %s: %s", cli->path, names[known], reader.why);
    return false;
}

int
cedar_authorize_run(struct cli *cli)
{
    struct cedar_trial trial = {.description = CEDAR_TEXT("")};
    struct cedar_case one = {.trial = &trial, .trials = 1}, *cases[] = {&one};
    struct cedar_opa engine;
    bool by_opa;
    int status = cedar_engine(cli, &engine, &by_opa);
    if (status != CLI_OK)
        return status;
    if (!read_authorize_files(cli, &one))
        return CLI_FAILED;
    if (by_opa && !cedar_opa_run(&engine, cli->mem, cases, 1)) {
        if (engine.signal != 0)
            raise(engine.signal);
        return CLI_UNAVAILABLE;
    }
    if (one.refused != NULL) {
        output_error("%s: %s: %s", cli->path, cli->choice.policies, one.refused);
        return CLI_FAILED;
    }
    if (!by_opa && !cedar_authorize(cli->mem, one.file, &one.entities, &trial.request, &trial.seen))
        return output_no_memory(cli);
    const char *text = cedar_answer_text(cli->mem, &trial.seen);
    if (text == NULL)
        return output_no_memory(cli);
    output_text(talloc_asprintf(cli->mem, "%s\n", text));
    return CLI_OK;
}

int
cedar_compile_run(struct cli *cli)
{
    struct cedar_fault fault;
    const struct cedar_file *file = read_policies_file(cli, cli->args[0]);
    const char *text = file != NULL ? cedar_rego(cli->mem, file, "svc.cedar.rule", &fault) : NULL;
    if (file != NULL && text == NULL)
        print_fault(cli, cli->args[0], &fault);
    if (text == NULL)
        return CLI_FAILED;
    output_text(text);
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
