/* policy test: run the tests of a directory with the policy engine, on the policy that a deploy
 * would publish. */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json/jsonx.h"
#include "base/json/schema/json_schema.h"
#include "base/settings/settings.h"
#include "cli/lib/dir.h"
#include "cli/lib/opa_run.h"
#include "cli/lib/output.h"
#include "cli/lib/run.h"
#include "cli/lib/temp_dir.h"
#include "cli/policy/bundle.h"
#include "cli/policy/opa_check.h"
#include "cli/policy/policy_coverage.h"
#include "cli/policy/policy_lint.h"
#include "cli/verbs.h"
#include "policy/rows/cedar_data.h"
#include "policy/rows/cedar_rule.h"
#include "policy/rows/data_check.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"
#include "policy/rows/rule_builtins.h"
#include "policy/rows/rule_places.h"
#include "policy/save/check/rule_check.h"
#include "policy/save/deploy/save_data.h"

/* Largest shipped file in octets; the largest one now has a few kilobytes. */
#define SHIPPED_MAX (1 << 20)

const struct cli_option policy_test_options[] = {
    {"coverage", 0, NULL, offsetof(struct cli_choices, coverage), false,
     "Show the lines of each rule that no test evaluates"},
    OPA_OPTION,
    {NULL,          0,        NULL,  0,                  false,                         NULL       },
};

/* One run. */
struct trial {
    struct cli *cli;
    struct bundle_dir dir;          /* the directory under test */
    const char *shipped;            /* SVC_DATA_DIR/policy */
    const char *part;               /* subdirectory of it that is walked */
    const char *opa;                /* program of the engine */
    struct temp_dir place;          /* the rules and tests */
    struct opa_candidate candidate; /* the rules */
    json_t *rows;                   /* data key to payload */
    int signal;                     /* signal that ended the run, or 0 */
    bool failed;                    /* an error was printed */
};

static void
test_fail(struct trial *trial, const char *what, const char *why)
{
    output_error("%s: %s: %s", trial->cli->path, what, why != NULL ? why : "out of memory");
    trial->failed = true;
}

/* ---- shipped rules and rows ---- */

static void
hear_shipped_fault(void *arg, const char *path, const char *why)
{
    struct trial *trial = arg;
    test_fail(trial,
              talloc_asprintf(trial->cli->mem, "%s/%s%s%s", trial->shipped, trial->part,
                              *path != '\0' ? "/" : "", path),
              talloc_asprintf(trial->cli->mem, "%s; check SVC_DATA_DIR", why));
}

static void
put_file(struct trial *trial, const char *path, const char *text, size_t length)
{
    if (!temp_dir_put(&trial->place, path, text, length))
        trial->failed = true;
}

/* Write a rule, and let the engine check it. */
static void
put_rule(struct trial *trial, const struct opa_module *module)
{
    put_file(trial, module->path, module->text, strlen(module->text));
    if (!opa_candidate_add(trial->cli, &trial->candidate, module))
        test_fail(trial, module->path, NULL);
}

static char *
read_shipped(struct trial *trial, const struct dir_entry *entry, size_t *ret_length)
{
    const char *why = NULL;
    char *text = dir_read(trial->cli->mem, entry->at, entry->name, SHIPPED_MAX, ret_length, &why);
    if (text == NULL)
        hear_shipped_fault(trial, entry->path, why);
    return text;
}

static void
take_shipped_rule(void *arg, const struct dir_entry *entry)
{
    struct trial *trial = arg;
    size_t length = 0;
    if (rule_path_fault(entry->path) != NULL)
        return;
    char *text = read_shipped(trial, entry, &length);
    const struct opa_module module = {
        .path = talloc_asprintf(trial->cli->mem, "svc/%s", entry->path),
        .text = text,
        .file = talloc_asprintf(trial->cli->mem, "svc/%s (shipped)", entry->path),
    };
    if (text != NULL)
        put_rule(trial, &module);
}

/* Add a shipped row; a row of the directory replaces it later. */
static void
take_shipped_row(void *arg, const struct dir_entry *entry)
{
    struct trial *trial = arg;
    size_t length = 0;
    json_t *value = NULL;
    const char *dot = strrchr(entry->name, '.');
    if (dot == NULL || strcmp(dot, ".json") != 0)
        return;
    char *key = talloc_strndup(trial->cli->mem, entry->name, (size_t) (dot - entry->name));
    char *text = read_shipped(trial, entry, &length);
    if (text == NULL)
        return;
    if (key == NULL
        || jsonx_parse(trial->cli->mem, text, length, POLICY_DATA_DEPTH_MAX, &value, NULL) != AZ_OK
        || json_object_set(trial->rows, key, value) != 0)
        hear_shipped_fault(trial, entry->path, "is not JSON");
}

static void
walk_shipped(struct trial *trial, const char *part,
             void (*take)(void *arg, const struct dir_entry *entry))
{
    struct dir_walk walk = {.mem = trial->cli->mem,
                            .dir = talloc_asprintf(trial->cli->mem, "%s/%s", trial->shipped, part),
                            .take = take,
                            .fault = hear_shipped_fault,
                            .arg = trial};
    trial->part = part;
    dir_walk(&walk);
}

/* ---- rules and rows of the directory ---- */

/* Return the text of the schema of a row; NULL if none is shipped. */
static const char *
schema_of(const struct trial *trial, const char *data_key)
{
    TALLOC_CTX *mem = trial->cli->mem;
    char *dir = talloc_asprintf(mem, "%s/schemas", trial->shipped);
    int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t length = 0;
    const char *why = NULL, *text = NULL;
    if (at < 0)
        return NULL;
    text = dir_read(mem, at, talloc_asprintf(mem, "%s.json", data_key), SHIPPED_MAX, &length, &why);
    close(at);
    return text;
}

/* Refuse a payload that the service would refuse. */
static void
test_check_row(struct trial *trial, const struct deploy_data *data, const json_t *value)
{
    struct op op = {.mem = trial->cli->mem};
    json_t *failures = NULL, *failure;
    const char *schema = schema_of(trial, data->data_key);
    size_t i;
    enum az_status st = data_check(&op, data->data_key, schema, value, &failures);
    char *file = talloc_asprintf(op.mem, "%s/%s", trial->dir.name,
                                 bundle_file_of_key(op.mem, data->data_key));
    if (save_key_owner(data->data_key, schema != NULL) != SAVE_OWNER_NONE)
        test_fail(trial, file, "keys below svc and system are reserved; rename the file");
    if (st != AZ_OK && failures == NULL)
        test_fail(trial, file, "the shipped schema is not valid; check SVC_DATA_DIR");
    json_array_foreach (failures, i, failure)
        test_fail(trial, file, output_failure(op.mem, failure));
}

/* Put the entities of Cedar into one row, as in the bundle. */
static void
add_entities(struct trial *trial)
{
    TALLOC_CTX *mem = trial->cli->mem;
    struct cedar_data_row *row =
        talloc_zero_array(mem, struct cedar_data_row, (unsigned) trial->dir.data_rows + 1);
    json_t *value = NULL, *failures = NULL, *failure;
    size_t count = 0, place;
    char *text = NULL;
    enum az_status st = row != NULL ? AZ_OK : AZ_SERVER_ERROR;
    for (size_t i = 0; row != NULL && i < trial->dir.data_rows; i++)
        if (cedar_data_holds_entities(trial->dir.data[i].data_key))
            row[count++] =
                (struct cedar_data_row){trial->dir.data[i].data_key, trial->dir.data[i].payload};
    if (count == 0)
        return;
    for (size_t i = 0; i < count && st != AZ_SERVER_ERROR; i++) {
        st = cedar_data_unite(mem, row, count, row[i].data_key, &text, &failures);
        json_array_foreach (failures, place, failure)
            test_fail(trial,
                      talloc_asprintf(mem, "%s/%s", trial->dir.name,
                                      bundle_file_of_key(mem, row[i].data_key)),
                      output_failure(mem, failure));
        failures = NULL;
    }
    if (st == AZ_OK
        && (jsonx_parse(mem, text, strlen(text), POLICY_DATA_DEPTH_MAX, &value, NULL) != AZ_OK
            || json_object_set(trial->rows, CEDAR_DATA_UNITED, value) != 0))
        st = AZ_SERVER_ERROR;
    if (st == AZ_SERVER_ERROR)
        test_fail(trial, CEDAR_DATA_UNITED, NULL);
}

static void
add_rows(struct trial *trial)
{
    for (size_t i = 0; i < trial->dir.data_rows; i++) {
        const struct deploy_data *data = &trial->dir.data[i];
        json_t *value = NULL;
        if (cedar_data_holds_entities(data->data_key))
            continue;
        if (jsonx_parse(trial->cli->mem, data->payload, strlen(data->payload),
                        POLICY_DATA_DEPTH_MAX, &value, NULL)
                != AZ_OK
            || json_object_set(trial->rows, data->data_key, value) != 0)
            test_fail(trial, data->data_key, NULL);
        else
            test_check_row(trial, data, value);
    }
}

static bool
is_cedar(const struct deploy_rule *rule)
{
    return strcmp(rule_kind(rule->path), "cedar") == 0;
}

/* Put the places of the rules into a row, as in the bundle, so that a reason names its rule
 * (policy/rows/rule_places.h). */
static void
add_places(struct trial *trial)
{
    TALLOC_CTX *mem = trial->cli->mem;
    struct rule_text *text = talloc_array(mem, struct rule_text, (unsigned) trial->dir.rules + 1);
    size_t count = 0;
    for (size_t i = 0; text != NULL && i < trial->dir.rules; i++)
        if (trial->dir.rule[i].enabled && !is_cedar(&trial->dir.rule[i]))
            text[count++] = (struct rule_text){trial->dir.rule[i].path, trial->dir.rule[i].content};
    json_t *places = text != NULL ? rule_places_find(mem, text, count) : NULL;
    if (places == NULL
        || (json_object_size(places) > 0
            && json_object_set(trial->rows, RULE_PLACES_KEY, places) != 0))
        test_fail(trial, RULE_PLACES_KEY, NULL);
}

/* True if a file is the test of a rule: a_test.rego of a.rego, or of a.cedar. */
static bool
is_test_of(const char *test, const char *rule)
{
    size_t length = strlen(test) - strlen("_test.rego");
    return strncmp(test, rule, length) == 0
           && (strcmp(rule + length, ".rego") == 0 || strcmp(rule + length, ".cedar") == 0);
}

static bool
is_of_disabled(const struct trial *trial, const char *test)
{
    for (size_t i = 0; i < trial->dir.rules; i++)
        if (!trial->dir.rule[i].enabled && is_test_of(test, trial->dir.rule[i].path))
            return true;
    return false;
}

/* Write what a Cedar rule is compiled to; the engine's check of the author's Rego does not need
 * it. */
static void
put_cedar_rule(struct trial *trial, const struct deploy_rule *rule)
{
    TALLOC_CTX *mem = trial->cli->mem;
    struct cedar_fault fault = {.text = ""};
    struct cedar_modules modules;
    enum az_status st = cedar_rule_compile(mem, rule->path, rule->content, &modules, &fault);
    if (st != AZ_OK)
        test_fail(trial,
                  talloc_asprintf(mem, "%s/%s:%u:%u", trial->dir.name, rule->path, fault.place.line,
                                  fault.place.column),
                  st == AZ_INVALID ? fault.text : NULL);
    for (size_t i = 0; i < modules.count && st == AZ_OK; i++)
        put_file(trial, modules.module[i].file, modules.module[i].text,
                 strlen(modules.module[i].text));
}

/* Refuse a rule that a deploy would refuse without asking the engine. */
static void
check_rule(struct trial *trial, const struct deploy_rule *rule)
{
    struct op op = {.mem = trial->cli->mem};
    struct rule_builtin_use use;
    const char *file = talloc_asprintf(op.mem, "%s/%s", trial->dir.name, rule->path);
    if (rule_check_text(&op, rule->path, rule->content) != AZ_OK
        || (rule->enabled && rule_check_visible(&op, rule->content) != AZ_OK))
        test_fail(trial, file, op.fault.public_text);
    else if (rule->enabled && !is_cedar(rule) && rule_builtin_find(rule->content, &use))
        output_line(trial->cli, "%s:%d: %s: a deploy refuses it without %s", file, use.line,
                    use.name, "SVC_POLICY_ALLOW_NETWORK_BUILTINS=true");
}

/* Write the rules that a deploy would put into the bundle, and the tests. Leave out the test of a
 * disabled rule. */
static void
add_rules(struct trial *trial)
{
    for (size_t i = 0; i < trial->dir.rules; i++) {
        const struct deploy_rule *rule = &trial->dir.rule[i];
        check_rule(trial, rule);
        if (!rule->enabled)
            output_line(trial->cli, "skipped (disabled): %s", rule->path);
        else if (is_cedar(rule))
            put_cedar_rule(trial, rule);
        else
            put_rule(trial, &(const struct opa_module){
                                .path = rule->path,
                                .text = rule->content,
                                .file = talloc_asprintf(trial->cli->mem, "%s/%s", trial->dir.name,
                                                        rule->path),
                                .ours = true,
                            });
    }
    for (size_t i = 0; i < trial->dir.tests; i++) {
        const struct deploy_rule *test = &trial->dir.test[i];
        if (is_of_disabled(trial, test->path))
            output_line(trial->cli, "skipped (disabled): %s", test->path);
        else
            put_file(trial, test->path, test->content, strlen(test->content));
    }
}

/* ---- data as rules see it ---- */

/* Return the object that contains the last word of a key. NULL: another row has that place. */
static json_t *
find_parent(const struct trial *trial, json_t *document, const char *key)
{
    for (const char *dot = strchr(key, '.'), *word = key; document != NULL && dot != NULL;
         word = dot + 1, dot = strchr(word, '.')) {
        char *name = talloc_strndup(trial->cli->mem, word, (size_t) (dot - word)),
             *above = talloc_strndup(trial->cli->mem, key, (size_t) (dot - key));
        if (name == NULL || above == NULL || json_object_get(trial->rows, above) != NULL)
            return NULL;
        json_t *next = json_object_get(document, name);
        if (next == NULL && json_object_set_new(document, name, next = json_object()) != 0)
            return NULL;
        document = next;
    }
    return document;
}

/* Write data.json with all rows as in the bundle: the row a.b.c is {"a":{"b":{"c":payload}}}. */
static void
put_rows(struct trial *trial)
{
    json_t *document = jsonx_own(trial->cli->mem, json_object()), *value;
    const char *key;
    json_object_foreach (trial->rows, key, value) {
        const char *dot = strrchr(key, '.');
        json_t *parent = find_parent(trial, document, key);
        if (parent == NULL || json_object_set(parent, dot != NULL ? dot + 1 : key, value) != 0)
            test_fail(trial, key,
                      "the key of another row is the beginning of this one; rename one of them");
    }
    char *text = jsonx_dump(trial->cli->mem, document);
    if (text == NULL)
        test_fail(trial, "the data rows", NULL);
    else
        put_file(trial, "data.json", text, strlen(text));
}

/* ---- the run ---- */

/* Write the policy that a deploy would publish, and the tests. */
static void
put_policy(struct trial *trial)
{
    walk_shipped(trial, "svc", take_shipped_rule);
    walk_shipped(trial, "data", take_shipped_row);
    add_rules(trial);
    add_rows(trial);
    add_entities(trial);
    add_places(trial);
    put_rows(trial);
}

/* Run the tests. A directory with rules and no file of tests was checked; one whose files have no
 * test, or that has no rules, is refused: the engine would report success. */
static int
run_tests(struct trial *trial)
{
    if (bundle_dir_has_tests(&trial->dir))
        return opa_run_tests(trial->cli, trial->opa, trial->place.path, &trial->signal);
    if (trial->dir.tests == 0 && trial->dir.rules > 0) {
        output_line(trial->cli,
                    "%zu rule%s compiled and checked; no test: a test is a rule test_... in a file "
                    "that ends in _test.rego",
                    trial->dir.rules, trial->dir.rules == 1 ? "" : "s");
        return CLI_OK;
    }
    output_error("%s: %s: contains no test; a test is a rule test_... in a file that ends in "
                 "_test.rego",
                 trial->cli->path, trial->dir.name);
    return CLI_FAILED;
}

static int
run_in_place(struct trial *trial)
{
    struct cli *cli = trial->cli;
    char *inputs = talloc_asprintf(cli->mem, "%s/inputs", trial->shipped);
    if (!temp_dir_make(cli, &trial->place))
        return CLI_FAILED;
    put_policy(trial);
    if (trial->failed || opa_check(cli, trial->opa, inputs, &trial->candidate) != CLI_OK
        || !policy_lint(cli, trial->shipped, &trial->dir))
        return CLI_FAILED;
    int status = run_tests(trial);
    return status == CLI_OK && cli->choice.coverage && bundle_dir_has_tests(&trial->dir)
               ? policy_coverage(cli, trial->opa, &trial->place, &trial->dir, &trial->signal)
               : status;
}

/* Find the shipped policy. Only SVC_DATA_DIR is needed: tests also run on machines without the
 * service. */
static int
find_shipped(struct trial *trial)
{
    static const char *const needs[] = {"SVC_DATA_DIR", NULL};
    struct cli *cli = trial->cli;
    struct problems problems = {NULL, 0};
    const struct settings *cfg = settings_load(cli->mem, AUTHZ_CONF, &problems);
    int status = CLI_OK;
    for (size_t i = 0; i < problems.count; i++)
        if (run_problem_counts(problems.line[i], needs)) {
            output_error("%s", problems.line[i]);
            status = CLI_CONFIG;
        }
    trial->shipped = cfg != NULL ? talloc_asprintf(cli->mem, "%s/policy", cfg->data_dir) : NULL;
    trial->rows = jsonx_own(cli->mem, json_object());
    if (trial->shipped == NULL || trial->rows == NULL) {
        test_fail(trial, "settings", NULL);
        return CLI_FAILED;
    }
    return status;
}

/* Remove the temporary directory however the run ends, and only then obey a signal. */
int
policy_test_run(struct cli *cli)
{
    struct trial trial = {.cli = cli, .place = {.root = -1}};
    sigset_t before;
    int status = find_shipped(&trial);
    if (status == CLI_OK)
        status = opa_find(cli, &trial.opa);
    if (status == CLI_OK)
        status = bundle_read_dir(cli, cli->args[0], &trial.dir);
    if (status != CLI_OK)
        return status;
    opa_hold_signals(&before);
    status = run_in_place(&trial);
    temp_dir_remove(&trial.place);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (trial.signal != 0)
        raise(trial.signal);
    return status;
}
