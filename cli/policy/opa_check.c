#include "config.h"

#include "cli/policy/opa_check.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "cli/lib/dir.h"
#include "cli/lib/opa_run.h"
#include "cli/lib/output.h"
#include "cli/lib/temp_dir.h"
#include "policy/rows/hooks.h"
#include "policy/rows/rego_annotations.h"
#include "policy/rows/rego_text.h"

/* Largest schema in octets; the largest one now has 16 kilobytes. */
#define SCHEMA_MAX (1 << 20)
#define SCHEMA_NESTING_MAX 64

/* Largest report of the engine, in octets, and its nesting: types are described in full. */
#define REPORT_MAX (32 << 20)
#define REPORT_NESTING_MAX 200

/* Octets of an output that is no report, as far as it is quoted. */
#define REPORT_QUOTE_MAX 200

/* Name of the schema that all inputs match. */
#define ANY "any"

/* One check. */
struct check {
    struct cli *cli;
    const struct opa_candidate *candidate;
    const char *program;
    const char *inputs;    /* directory of the schemas */
    struct temp_dir place; /* where the program runs */
    json_t *schemas;       /* name to schema */
    int signal;            /* signal that ended the run, or 0 */
    bool failed;           /* an error was printed */
};

static void
check_fail(struct check *check, const char *what, const char *why)
{
    output_error("%s: %s: %s", check->cli->path, what, why != NULL ? why : "out of memory");
    check->failed = true;
}

static void
check_put(struct check *check, const char *path, const char *text)
{
    if (!temp_dir_put(&check->place, path, text, text != NULL ? strlen(text) : 0))
        check->failed = true;
}

/* ---- schemas */

static void
hear_schema_fault(void *arg, const char *path, const char *why)
{
    struct check *check = arg;
    check_fail(check, talloc_asprintf(check->cli->mem, "%s/%s", check->inputs, path),
               talloc_asprintf(check->cli->mem, "%s; check SVC_DATA_DIR", why));
}

static void
opa_check_take_schema(void *arg, const struct dir_entry *entry)
{
    struct check *check = arg;
    TALLOC_CTX *mem = check->cli->mem;
    size_t length = 0;
    json_t *schema = NULL;
    const char *why = NULL;
    if (!words_end(entry->name, ".json"))
        return;
    char *text = dir_read(mem, entry->at, entry->name, SCHEMA_MAX, &length, &why);
    if (text == NULL
        || jsonx_parse(mem, text, length, SCHEMA_NESTING_MAX, &schema, &why) != AZ_OK) {
        hear_schema_fault(check, entry->path, why);
        return;
    }
    check_put(check, talloc_asprintf(mem, "schemas/%s", entry->path), text);
    char *name = talloc_strndup(mem, entry->name, strlen(entry->name) - strlen(".json"));
    if (name == NULL || json_object_set(check->schemas, name, schema) != 0)
        check_fail(check, entry->path, NULL);
}

/* Write the schema of packages that may see any input: one of the schemas. Their definitions have
 * the same meaning everywhere, so they are put together. */
static void
put_any_schema(struct check *check)
{
    struct jsonx_build any = {jsonx_own(check->cli->mem, json_array()), false},
                       definitions = {jsonx_own(check->cli->mem, json_object()), false};
    const char *name, *inner;
    json_t *schema, *definition;
    json_object_foreach (check->schemas, name, schema) {
        json_object_foreach (json_object_get(schema, "$defs"), inner, definition)
            jsonx_set(&definitions, inner, json_incref(definition));
        json_t *bare = jsonx_copy(schema);
        json_object_del(bare, "$defs");
        jsonx_append(&any, bare);
    }
    json_t *whole = jsonx_own(check->cli->mem, json_pack("{s:O,s:O}", "anyOf", jsonx_built(&any),
                                                         "$defs", jsonx_built(&definitions)));
    check_put(check, "schemas/" ANY ".json",
              whole != NULL ? jsonx_dump(check->cli->mem, whole) : NULL);
}

static void
put_schemas(struct check *check)
{
    struct dir_walk walk = {.mem = check->cli->mem,
                            .dir = check->inputs,
                            .take = opa_check_take_schema,
                            .fault = hear_schema_fault,
                            .arg = check};
    dir_walk(&walk);
    if (!check->failed)
        put_any_schema(check);
}

/* ---- rules */

/* Return a package's name as it is declared; members that are no words go into brackets. */
static char *
declared_name(TALLOC_CTX *mem, const char *package)
{
    size_t length = strcspn(package, ".");
    char *name = talloc_strndup(mem, package, length);
    while (name != NULL && package[length] == '.') {
        package += length + 1;
        length = strcspn(package, ".");
        name = talloc_asprintf_append_buffer(name, "[\"%.*s\"]", (int) length, package);
    }
    return name;
}

/* Return the schema of a package: custom.issue sees the input of issue, and another one below
 * custom may be used by rules of several. NULL: a package elsewhere may serve other users of the
 * engine, with inputs of their own. */
static const char *
schema_of_package(const struct check *check, const char *package)
{
    static const char custom[] = "custom";
    const size_t length = sizeof(custom) - 1;
    if (package == NULL || strncmp(package, custom, length) != 0
        || (package[length] != '\0' && package[length] != '.'))
        return NULL;
    const char *name = package[length] == '.' ? package + length + 1 : "";
    return json_object_get(check->schemas, name) != NULL ? name : ANY;
}

/* Write the annotation that names the schema of a package, in a file of its own. */
static void
put_annotation(struct check *check, const char *package, size_t number)
{
    TALLOC_CTX *mem = check->cli->mem;
    check_put(check, talloc_asprintf(mem, "check/package-%zu.rego", number),
              talloc_asprintf(mem,
                              "# METADATA\n# scope: package\n# schemas:\n"
                              "#   - input: schema.%s\npackage %s\n",
                              schema_of_package(check, package), declared_name(mem, package)));
}

static void
put_rules(struct check *check)
{
    TALLOC_CTX *mem = check->cli->mem;
    json_t *seen = jsonx_own(mem, json_object());
    for (size_t i = 0; !check->failed && i < check->candidate->modules; i++) {
        const struct opa_module *module = &check->candidate->module[i];
        check_put(check, talloc_asprintf(mem, OPA_CHECK_RULES "%s", module->path),
                  rego_without_annotations(mem, module->text));
        if (schema_of_package(check, module->package) == NULL
            || json_object_get(seen, module->package) != NULL)
            continue;
        if (json_object_set_new(seen, module->package, json_true()) != 0)
            check_fail(check, module->file, NULL);
        put_annotation(check, module->package, i);
    }
    char *hooks = policy_hooks_typed(mem, "hook if ");
    check_put(check, OPA_CHECK_HOOKS,
              hooks != NULL ? talloc_asprintf(mem, "package authzctl_check\n\n%s", hooks) : NULL);
}

/* ---- the run */

/* Print that the program reported no errors although it failed, and the first line that it said. */
static void
say_no_report(const struct check *check, const char *told)
{
    size_t length = told != NULL ? strcspn(told, "\n") : 0;
    output_error(
        "%s: `%s check` gave no report of errors%s%.*s; name an opa 1.x program with --opa "
        "FILE",
        check->cli->path, check->program, length > 0 ? ": " : "",
        (int) (length < REPORT_QUOTE_MAX ? length : REPORT_QUOTE_MAX), told != NULL ? told : "");
}

/* Run the program, and return the errors that it reports; NULL without a report. */
static json_t *
run_check(struct check *check, int *ret_status)
{
    static const char *const arguments[] = {
        "check", "--format=json", "--max-errors=0", "--schema", "schemas", "rules", "check", NULL};
    TALLOC_CTX *mem = check->cli->mem;
    size_t length = 0;
    json_t *report = NULL;
    const char *why = NULL;
    int output = openat(check->place.root, "report", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const struct opa_call call = {.program = check->program,
                                  .dir = check->place.path,
                                  .arguments = arguments,
                                  .output = output};
    *ret_status = output >= 0 ? opa_run(check->cli, &call, &check->signal) : CLI_UNAVAILABLE;
    if (output >= 0)
        close(output);
    if (*ret_status != CLI_FAILED || check->signal != 0)
        return NULL;
    char *text = dir_read(mem, check->place.root, "report", REPORT_MAX, &length, &why);
    if (text != NULL)
        jsonx_parse(mem, text, length, REPORT_NESTING_MAX, &report, &why);
    json_t *errors = json_object_get(report, "errors");
    if (json_array_size(errors) == 0)
        say_no_report(check, text != NULL ? text : why);
    return errors;
}

static int
check_in_place(struct check *check, json_t **ret_errors)
{
    int status = CLI_UNAVAILABLE;
    if (!temp_dir_make(check->cli, &check->place))
        return status;
    put_schemas(check);
    put_rules(check);
    if (!check->failed)
        *ret_errors = run_check(check, &status);
    return status == CLI_FAILED && json_array_size(*ret_errors) == 0 ? CLI_UNAVAILABLE : status;
}

/* Remove the temporary directory however the check ends, and only then obey a signal. */
int
opa_check(struct cli *cli, const char *program, const char *inputs,
          const struct opa_candidate *candidate)
{
    struct check check = {.cli = cli,
                          .candidate = candidate,
                          .program = program,
                          .inputs = inputs,
                          .place = {.root = -1}};
    json_t *errors = NULL;
    sigset_t before;
    if ((check.schemas = jsonx_own(cli->mem, json_object())) == NULL)
        return output_no_memory(cli);
    opa_hold_signals(&before);
    int status = check_in_place(&check, &errors);
    temp_dir_remove(&check.place);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (check.signal != 0) {
        raise(check.signal);
        return CLI_FAILED;
    }
    return status == CLI_FAILED ? opa_report(cli, program, candidate, errors) : status;
}

int
opa_check_deploy(struct cli *cli, const struct deploy *deploy, const char *dir)
{
    struct opa_candidate candidate;
    const char *program;
    struct problems ignored = {NULL, 0};
    /* Over the admin API no other setting is needed, and no problem of another one counts. */
    const struct settings *cfg =
        cli->az != NULL ? cli->az->cfg : settings_load(cli->mem, AUTHZ_CONF, &ignored);
    char *inputs =
        cfg != NULL ? talloc_asprintf(cli->mem, "%s/policy/inputs", cfg->data_dir) : NULL;
    int status = opa_find(cli, &program);
    if (status == CLI_OK && inputs == NULL)
        return output_no_memory(cli);
    if (status == CLI_OK && (status = opa_candidate_make(cli, deploy, dir, &candidate)) != CLI_OK)
        return status;
    if (status == CLI_OK)
        status = opa_check(cli, program, inputs, &candidate);
    if (status == CLI_UNAVAILABLE) {
        output_error("%s: the rules were not compiled here and not checked against the input "
                     "schemas%s",
                     cli->path,
                     deploy->dry_run ? "" : "; the policy engine of the service compiles them");
        status = CLI_OK;
    }
    return status;
}
