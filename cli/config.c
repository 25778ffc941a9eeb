/* config: settings checked, shown and described, all from the table of base/settings.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/jsonx.h"
#include "base/log.h"
#include "output.h"
#include "policy/decide/engine.h"
#include "process.h"
#include "run.h"
#include "store/db/db.h"
#include "store/db/schema.h"
#include "store/tokens/signing_keys.h"
#include "verbs.h"

const struct cli_option config_check_options[] = {
    {"offline", 0, NULL, offsetof(struct cli_choices, offline), false,
     "Look at the settings only, not at database and policy engine"},
    {NULL,         0,       NULL,  0,                   false,                         NULL      },
};

/* What a check has found so far. */
struct findings {
    struct cli *cli;
    json_t *problems; /* lines */
    int status;       /* worst exit status: configuration before unavailable */
};

static void
find(struct findings *findings, int status, const char *line)
{
    json_array_append_new(findings->problems, output_string(line));
    if (!findings->cli->choice.json)
        output_error("%s", line);
    if (findings->status != CLI_CONFIG)
        findings->status = status;
}

static void
find_fault(struct findings *findings, int status, const struct op *op)
{
    find(findings, status, output_reason(findings->cli, &op->fault));
}

/* Each look is an operation of its own, so that one failure does not hide the next. */
static struct op
look(struct findings *findings)
{
    return process_op(findings->cli->mem, findings->cli->az);
}

/* Database, then its schema, then whether the credential key opens what is stored. */
static void
check_database(struct findings *findings)
{
    struct op op = look(findings);
    enum az_status st = db_connect(&op);
    if (st != AZ_OK) {
        find_fault(findings, CLI_UNAVAILABLE, &op);
        return;
    }
    output_line(findings->cli, "database: answers");
    if ((st = schema_check(&op)) != AZ_OK) {
        find_fault(findings, st == AZ_UNAVAILABLE ? CLI_UNAVAILABLE : CLI_CONFIG, &op);
        return;
    }
    output_line(findings->cli, "schema: %d, as this program needs it", SCHEMA_VERSION);
    if (findings->cli->az->keyring == NULL)
        return; /* told already: a key is missing */
    if ((st = signing_keys_check(&op)) != AZ_OK)
        find_fault(findings, st == AZ_UNAVAILABLE ? CLI_UNAVAILABLE : CLI_CONFIG, &op);
    else
        output_line(findings->cli, "signing keys: open with SVC_CREDENTIAL_KEY");
}

static void
check_engine(struct findings *findings)
{
    struct op op = look(findings);
    struct engine_status status = {.active_revision = NULL};
    if (engine_revision(&op, &status) != AZ_OK) {
        find_fault(findings, CLI_UNAVAILABLE, &op);
    } else if (*status.active_revision == '\0') {
        find(findings, CLI_UNAVAILABLE,
             talloc_asprintf(op.mem,
                             "policy engine: has loaded no bundle%s%s; see that it reaches "
                             "/bundles/svc of this service with SVC_BUNDLE_API_KEY",
                             *status.message != '\0' ? ": " : "", status.message));
    } else {
        output_line(findings->cli, "policy engine: decides by bundle %s", status.active_revision);
        if (*status.message != '\0')
            find(findings, CLI_FAILED,
                 talloc_asprintf(op.mem,
                                 "policy engine: refused the newest bundle: %s; correct "
                                 "the rule or row it names and save that",
                                 status.message));
    }
}

/* With an address in doubt, what answers there would say nothing about the service. */
static bool
addresses_right(const struct findings *findings)
{
    static const char *const addresses[] = {"SVC_DATABASE_URL", "SVC_OPA_URL", NULL};
    size_t i;
    json_t *line;
    json_array_foreach (findings->problems, i, line)
        if (run_problem_counts(json_string_value(line), addresses))
            return false;
    return true;
}

int
config_check_run(struct cli *cli)
{
    struct findings findings = {
        .cli = cli, .problems = jsonx_own(cli->mem, json_array()), .status = CLI_OK};
    struct az *az = cli->az = process_new(cli->mem, false, &cli->problems);
    if (az == NULL) {
        output_error("config check: no memory");
        return CLI_FAILED;
    }
    log_level_set("error");
    for (size_t i = 0; i < cli->problems.count; i++)
        find(&findings, CLI_CONFIG, cli->problems.line[i]);
    if (db_url_fault(az->cfg->database_url) != NULL)
        find(&findings, CLI_CONFIG, run_database_url_problem);
    if (findings.status == CLI_OK)
        output_line(cli, "settings: right (%s)",
                    az->cfg->source_file != NULL ? az->cfg->source_file : "no file");
    if (!cli->choice.offline && addresses_right(&findings)) {
        check_database(&findings);
        check_engine(&findings);
    }
    if (cli->choice.json)
        output_json(jsonx_own(cli->mem, json_pack("{s:b,s:O}", "ok", findings.status == CLI_OK,
                                                  "problems", findings.problems)));
    return findings.status;
}

/* Where a value comes from; the public values of the development switch have no origin. */
static const char *
origin_text(const struct settings *cfg, const struct setting *row)
{
    const char *origin = cfg->origin[row - settings_table];
    if (origin != NULL)
        return origin;
    return *(const char *const *) (const void *) ((const char *) cfg + row->offset) != NULL
               ? "development"
               : "unset";
}

int
config_show_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"name",   "NAME"  },
        {"value",  "VALUE" },
        {"origin", "ORIGIN"},
        {NULL,     NULL    }
    };
    struct problems unread = {NULL, 0}, unfit = {NULL, 0};
    struct settings *cfg = settings_load(cli->mem, AUTHZ_CONF, &unread);
    json_t *rows = jsonx_own(cli->mem, json_array());
    if (cfg == NULL || rows == NULL) {
        output_error("config show: no memory");
        return CLI_FAILED;
    }
    /* Fills in the development values; what it finds is told by `config check`. */
    settings_check(cli->mem, cfg, &unfit);
    for (const struct setting *row = settings_table; row->name != NULL; row++) {
        json_t *value = output_string(settings_text(cli->mem, cfg, row));
        json_t *origin = output_string(origin_text(cfg, row));
        json_array_append_new(
            rows, json_pack("{s:s,s:o,s:o}", "name", row->name, "value", value, "origin", origin));
    }
    output_rows(cli, rows, columns);
    for (size_t i = 0; i < unread.count; i++)
        output_error("%s", unread.line[i]);
    return unread.count == 0 ? CLI_OK : CLI_CONFIG;
}

/* What --help of a setting calls each type. */
static const char *const type_names[] = {
    [SETTING_TEXT] = "text",     [SETTING_SECRET] = "secret",     [SETTING_BOOL] = "boolean",
    [SETTING_NUMBER] = "number", [SETTING_DURATION] = "duration", [SETTING_ISSUER] = "issuer URL",
    [SETTING_CHOICE] = "choice",
};

static bool
has_limits(const struct setting *row)
{
    return row->type == SETTING_NUMBER || row->type == SETTING_DURATION;
}

static json_t *
doc_object(const struct setting *row)
{
    json_t *object =
        json_pack("{s:s,s:s,s:s*,s:s*,s:s}", "name", row->name, "type", type_names[row->type],
                  "default", row->fallback, "alias", row->alias, "help", row->help);
    if (has_limits(row)) {
        json_object_set_new(object, "minimum", json_integer(row->minimum));
        json_object_set_new(object, "maximum", json_integer(row->maximum));
    }
    if (row->type == SETTING_CHOICE) {
        json_t *choices = json_array();
        for (const char *const *word = row->choices; *word != NULL; word++)
            json_array_append_new(choices, json_string(*word));
        json_object_set_new(object, "choices", choices);
    }
    return object;
}

/* Type, limits and default on one line. */
static void
put_facts(const struct setting *row)
{
    printf("    %s", type_names[row->type]);
    if (row->type == SETTING_CHOICE)
        for (const char *const *word = row->choices; *word != NULL; word++)
            printf("%s %s", word == row->choices ? ":" : ",", *word);
    if (has_limits(row))
        printf(" from %ld to %ld%s", row->minimum, row->maximum,
               row->type == SETTING_DURATION ? " seconds, or with s, m, h, d" : "");
    if (row->fallback != NULL)
        printf("; default %s", row->fallback);
    else
        printf("; no default");
    if (row->alias != NULL)
        printf("; also read as %s", row->alias);
    putchar('\n');
}

int
config_doc_run(struct cli *cli)
{
    json_t *rows = jsonx_own(cli->mem, json_array());
    for (const struct setting *row = settings_table; row->name != NULL; row++) {
        if (cli->choice.json) {
            json_array_append_new(rows, doc_object(row));
            continue;
        }
        printf("%s%s\n    %s\n", row == settings_table ? "" : "\n", row->name, row->help);
        put_facts(row);
    }
    if (cli->choice.json)
        output_json(rows);
    return CLI_OK;
}
