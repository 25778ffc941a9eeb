/* The errors of the engine's check, in words for the author of a rule. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/lib/output.h"
#include "cli/policy/opa_check.h"
#include "cli/policy/refusal.h"
#include "policy/rows/hooks.h"
#include "policy/rows/rego_text.h"
#include "policy/trial/members.h"

/* Most errors printed: a person reads a few at a time. */
#define REPORT_ERRORS_MAX 20

/* A report that is being printed. */
struct report {
    const struct cli *cli;
    const struct opa_candidate *candidate;
    json_t *hooks;             /* hooks that were reported, by path */
    struct jsonx_build errors; /* for --json */
    size_t refused;            /* errors, without warnings */
};

/* Return a name for people: a part of a reference after its first. */
static char *
add_part(char *name, const json_t *part)
{
    const char *text = json_string_value(json_object_get(part, "value"));
    const char *type = json_string_value(json_object_get(part, "type"));
    if (text == NULL || type == NULL || strcmp(type, "string") != 0)
        return talloc_asprintf_append_buffer(name, "[%s]", text != NULL ? text : "_");
    if (*text != '\0' && rego_word_length(text) == strlen(text))
        return talloc_asprintf_append_buffer(name, ".%s", text);
    return talloc_asprintf_append_buffer(name, "[\"%s\"]", text);
}

/* Return the first `count` parts of a reference; NULL: no memory. */
static char *
reference(TALLOC_CTX *mem, const json_t *parts, size_t count)
{
    const char *first = json_string_value(json_object_get(json_array_get(parts, 0), "value"));
    char *name = talloc_strdup(mem, first != NULL ? first : "_");
    for (size_t i = 1; name != NULL && i < count && i < json_array_size(parts); i++)
        name = add_part(name, json_array_get(parts, i));
    return name;
}

/* Return the words of a list, ended by NULL. NULL: no memory. */
static const char *const *
listed(TALLOC_CTX *mem, const json_t *words)
{
    const char **list = talloc_zero_array(mem, const char *, (unsigned) json_array_size(words) + 1);
    const json_t *word;
    size_t i, count = 0;
    json_array_foreach (words, i, word)
        if (list != NULL && json_is_string(word))
            list[count++] = json_string_value(word);
    return list;
}

static const char *
opa_report_type(const json_t *details, const char *name)
{
    const char *type = json_string_value(json_object_get(json_object_get(details, name), "type"));
    return type != NULL ? type : "another type";
}

/* Return what is wrong with a reference to a member that is not there; NULL: another error. */
static char *
missing_member(TALLOC_CTX *mem, const json_t *details)
{
    const json_t *parts = json_object_get(details, "ref"),
                 *known = json_object_get(details, "oneOf");
    size_t at = (size_t) json_integer_value(json_object_get(details, "pos"));
    if (at >= json_array_size(parts))
        return NULL;
    const char *const *names = listed(mem, known);
    const char *whole = reference(mem, parts, at + 1), *parent = reference(mem, parts, at);
    if (json_array_size(known) > 0)
        return whole != NULL && parent != NULL && names != NULL
                   ? members_text(mem, whole, parent, names)
                   : NULL;
    if (json_object_get(details, "have") == NULL)
        return NULL;
    return talloc_asprintf(mem, "there is no %s; the type of %s is %s",
                           reference(mem, parts, at + 2), reference(mem, parts, at + 1),
                           opa_report_type(details, "have"));
}

/* Return the words for an error. *ret_schema: only the schema check finds it. */
static const char *
opa_report_describe(TALLOC_CTX *mem, const json_t *error, bool *ret_schema)
{
    const json_t *details = json_object_get(error, "details");
    const char *code = json_string_value(json_object_get(error, "code")),
               *message = json_string_value(json_object_get(error, "message"));
    char *text = NULL;
    if (code == NULL || message == NULL)
        return "an error without a message";
    *ret_schema = strcmp(code, "rego_type_error") == 0;
    if (strncmp(message, "undefined ref: ", 15) == 0)
        text = missing_member(mem, details);
    else if (strcmp(message, "match error") == 0)
        text = talloc_asprintf(mem, "a value of type %s never equals one of type %s",
                               opa_report_type(details, "a"), opa_report_type(details, "b"));
    return text != NULL ? text : talloc_asprintf(mem, "%s: %s", code, message);
}

/* ---- places */

static const struct opa_module *
module_at(const struct report *report, const char *file)
{
    const size_t length = strlen(OPA_CHECK_RULES);
    if (file == NULL || strncmp(file, OPA_CHECK_RULES, length) != 0)
        return NULL;
    for (size_t i = 0; i < report->candidate->modules; i++)
        if (strcmp(report->candidate->module[i].path, file + length) == 0)
            return &report->candidate->module[i];
    return NULL;
}

/* Return the files of the package of a hook, separated by commas. */
static const char *
files_of_hook(const struct report *report, const struct policy_hook *hook)
{
    size_t length = (size_t) (strrchr(hook->path, '.') - hook->path);
    char *files = NULL;
    for (size_t i = 0; i < report->candidate->modules; i++) {
        const struct opa_module *module = &report->candidate->module[i];
        if (module->package == NULL || strncmp(module->package, hook->path, length) != 0
            || module->package[length] != '\0')
            continue;
        files = files == NULL ? talloc_strdup(report->cli->mem, module->file)
                              : talloc_asprintf_append_buffer(files, ", %s", module->file);
    }
    return files != NULL ? files : "package custom";
}

/* Return the hook that an error is about: one in the file of the check, or one that a shipped rule
 * cannot use. */
static const struct policy_hook *
hook_of(const json_t *error, const char *file, const struct opa_module *module)
{
    if (file != NULL && strcmp(file, OPA_CHECK_HOOKS) == 0)
        return policy_hooks_at(error, OPA_CHECK_HOOKS_ABOVE);
    const char *message = json_string_value(json_object_get(error, "message"));
    return module != NULL && !module->ours && message != NULL
                   && strncmp(module->path, "svc/", 4) == 0
               ? policy_hooks_blamed(message)
               : NULL;
}

/* ---- printing */

/* Print an error, and keep it for --json. */
static void
print_error(struct report *report, const char *file, size_t row, const char *text, bool warning)
{
    const char *place = row > 0 ? talloc_asprintf(report->cli->mem, "%s:%zu", file, row) : file;
    report->refused += !warning;
    if (warning || report->refused <= REPORT_ERRORS_MAX)
        output_error("%s: %s%s: %s", report->cli->path, warning ? "warning: " : "", place, text);
    if (!warning)
        jsonx_append(&report->errors, json_pack("{s:o,s:i,s:o}", "file", output_string(file), "row",
                                                (int) row, "message", output_string(text)));
}

static void
report_hook(struct report *report, const struct policy_hook *hook, const json_t *error)
{
    if (json_object_get(report->hooks, hook->path) != NULL
        || json_object_set_new(report->hooks, hook->path, json_true()) != 0)
        return;
    const char *had = policy_hooks_had(error);
    char *fault = policy_hooks_fault(report->cli->mem, hook, had);
    print_error(report, files_of_hook(report, hook), 0, fault != NULL ? fault : hook->path, false);
}

static void
report_error(struct report *report, const json_t *error)
{
    const json_t *place = json_object_get(error, "location");
    const char *file = json_string_value(json_object_get(place, "file"));
    size_t row = (size_t) json_integer_value(json_object_get(place, "row")), length;
    const struct opa_module *module = module_at(report, file);
    const struct policy_hook *hook = hook_of(error, file, module);
    bool schema = false;
    if (hook != NULL) {
        report_hook(report, hook, error);
        return;
    }
    const char *text = opa_report_describe(report->cli->mem, error, &schema);
    bool stored = module != NULL && !module->ours && strncmp(module->path, "svc/", 4) != 0;
    print_error(report,
                module != NULL ? module->file
                : file != NULL ? file
                               : "the rules",
                row, text != NULL ? text : "out of memory", stored && schema);
    const char *line = module != NULL ? refusal_line(module->text, &row, &length) : NULL;
    if (line != NULL && report->refused <= REPORT_ERRORS_MAX)
        output_source(row, line, length, module->file);
}

int
opa_report(const struct cli *cli, const char *program, const struct opa_candidate *candidate,
           const json_t *errors)
{
    struct report report = {
        .cli = cli,
        .candidate = candidate,
        .hooks = jsonx_own(cli->mem, json_object()),
        .errors = {jsonx_own(cli->mem, json_array()), false}
    };
    const json_t *error;
    size_t i;
    json_array_foreach (errors, i, error)
        report_error(&report, error);
    if (report.refused == 0)
        return CLI_OK;
    if (cli->choice.json)
        output_json(jsonx_own(cli->mem, json_pack("{s:s,s:O}", "error", "policy_check_failed",
                                                  "errors", jsonx_built(&report.errors))));
    output_error("%s: %zu error%s, found by `%s check`; correct %s and run this again", cli->path,
                 report.refused, report.refused == 1 ? "" : "s", program,
                 report.refused == 1 ? "it" : "them");
    return CLI_FAILED;
}
