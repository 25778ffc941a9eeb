/* config: check, show and describe the settings, all from the table of base/settings/settings.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/log.h"
#include "cli/help.h"
#include "cli/lib/output.h"
#include "cli/lib/run.h"
#include "cli/verbs.h"
#include "http/page/page.h"
#include "policy/engine/engine.h"
#include "process.h"
#include "store/db/db.h"
#include "store/schema/roles.h"
#include "store/schema/schema.h"
#include "store/tokens/signing_keys.h"

const struct cli_option config_check_options[] = {
    {"offline", 0, NULL, offsetof(struct cli_choices, offline), false,
     "Check the settings only, not the database and the policy engine"},
    {NULL,         0,       NULL,  0,                   false,                         NULL      },
};

/* Result of a check. */
struct config_findings {
    struct cli *cli;
    struct jsonx_build problems; /* one text each */
    struct jsonx_build warnings; /* likewise; they do not change the exit status */
    int status;                  /* exit status; CLI_CONFIG takes precedence */
};

static void
config_report(struct config_findings *findings, int status, const char *line)
{
    jsonx_append(&findings->problems, output_string(line));
    if (!findings->cli->choice.json)
        output_error("%s", line);
    if (findings->status != CLI_CONFIG)
        findings->status = status;
}

static void
config_report_fault(struct config_findings *findings, int status, const struct op *op)
{
    config_report(findings, status, output_reason(findings->cli, &op->fault));
}

/* True if the line is about a setting, or compares with one, whose own fault is reported: it was
 * judged by the default in place of the refused value, so that it would be a second fault made of
 * the first. */
static bool
config_follows(const struct config_findings *findings, const char *line)
{
    const struct problems *problems = &findings->cli->problems;
    for (const struct setting *row = settings_table; row->name != NULL; row++)
        for (size_t i = 0; strstr(line, row->name) != NULL && i < problems->count; i++)
            if (run_problem_names(problems->line[i], row->name))
                return true;
    return false;
}

/* True if the administrator has set a setting. */
static bool
config_is_set(const struct settings *cfg, const char *name)
{
    const char *origin = cfg->origin[settings_find(name) - settings_table];
    return origin != NULL && strcmp(origin, "default") != 0;
}

/* True if the administrator wants the program opa: the engine that decides by its plans was set, or
 * its path. With the defaults alone OPA may be on another host, and decides what has no plan. */
static bool
config_needs_opa(const struct settings *cfg)
{
    return (settings_engine_is_embedded(cfg) && config_is_set(cfg, "SVC_POLICY_ENGINE"))
           || config_is_set(cfg, "SVC_OPA_BINARY");
}

static void
config_warn_line(struct config_findings *findings, const char *line)
{
    jsonx_append(&findings->warnings, output_string(line));
    if (!findings->cli->choice.json)
        output_error("warning: %s", line);
}

static void
config_warn_each(struct config_findings *findings, const struct problems *warnings)
{
    for (size_t i = 0; i < warnings->count; i++) {
        if (config_follows(findings, warnings->line[i]))
            continue;
        /* The service starts without the program, but no policy that is saved has a plan then. */
        if (run_problem_names(warnings->line[i], "SVC_OPA_BINARY")
            && config_needs_opa(findings->cli->az->cfg)) {
            config_report(findings, CLI_CONFIG, warnings->line[i]);
            continue;
        }
        config_warn_line(findings, warnings->line[i]);
    }
}

/* Print what is valid but probably a mistake. */
static void
config_warn(struct config_findings *findings)
{
    const struct az *az = findings->cli->az;
    struct problems warnings = {NULL, 0};
    process_warn(findings->cli->mem, az, &warnings);
    config_warn_each(findings, &warnings);
    if (az->pages != NULL)
        config_warn_each(findings, pages_warnings(az->pages));
}

/* Make an operation for one check, so that one failure does not hide the next. */
static struct op
config_op(struct config_findings *findings)
{
    return process_op(findings->cli->mem, findings->cli->az);
}

/* Say what one role for everything costs. A host may offer no second one, so it is no problem. */
static void
config_warn_owner(struct config_findings *findings)
{
    struct op op = config_op(findings);
    bool owns = false;
    if (roles_owns(&op, &owns) == AZ_OK && owns)
        config_warn_line(findings,
                         "the role of SVC_DATABASE_URL owns the tables: whoever takes over a "
                         "process of the service can delete audit rows and drop tables; give the "
                         "service a role of its own (doc/upgrade.md, Two roles)");
}

/* Check the database, then its schema, then that the credential key opens the stored keys. */
static void
config_check_database(struct config_findings *findings)
{
    struct op op = config_op(findings);
    enum az_status st = db_connect(&op);
    if (st != AZ_OK) {
        config_report_fault(findings, CLI_UNAVAILABLE, &op);
        return;
    }
    output_line(findings->cli, "database: ok");
    if ((st = schema_check(&op)) != AZ_OK) {
        config_report_fault(findings, st == AZ_UNAVAILABLE ? CLI_UNAVAILABLE : CLI_CONFIG, &op);
        return;
    }
    output_line(findings->cli, "schema: ok (%d)", SCHEMA_VERSION);
    config_warn_owner(findings);
    if (findings->cli->az->keyring == NULL)
        return; /* a key is missing; that problem is reported already */
    if ((st = signing_keys_check_stored(&op)) != AZ_OK)
        config_report_fault(findings, st == AZ_UNAVAILABLE ? CLI_UNAVAILABLE : CLI_CONFIG, &op);
    else
        output_line(findings->cli, "signing keys: ok (SVC_CREDENTIAL_KEY decrypts them)");
}

static void
config_check_engine(struct config_findings *findings)
{
    struct op op = config_op(findings);
    struct engine_status status = {.active_revision = NULL};
    if (engine_revision(&op, 0, &status) != AZ_OK) {
        config_report_fault(findings, CLI_UNAVAILABLE, &op);
    } else if (*status.active_revision == '\0') {
        config_report(
            findings, CLI_UNAVAILABLE,
            talloc_asprintf(op.mem,
                            "policy engine: has not loaded a bundle%s%s; check that it can fetch "
                            "/bundles/svc from this service with SVC_BUNDLE_API_KEY",
                            *status.message != '\0' ? ": " : "", status.message));
    } else {
        output_line(findings->cli, "policy engine: ok (bundle %s is active)",
                    status.active_revision);
        if (*status.message != '\0' && status.transport)
            config_report(
                findings, CLI_UNAVAILABLE,
                talloc_asprintf(op.mem,
                                "policy engine: could not fetch the newest bundle: %s; the service "
                                "or its web server does not answer the engine: start it, or see "
                                "/health/ready; no rule is at fault",
                                status.message));
        else if (*status.message != '\0')
            config_report(
                findings, CLI_FAILED,
                talloc_asprintf(op.mem,
                                "policy engine: refused the newest bundle: %s; correct the rule "
                                "or data row that it names and save it again",
                                status.message));
    }
}

/* True if both addresses are valid. Otherwise checking what answers there would be misleading. */
static bool
addresses_right(const struct config_findings *findings)
{
    static const char *const addresses[] = {"SVC_DATABASE_URL", "SVC_OPA_URL", NULL};
    size_t i;
    json_t *line;
    json_array_foreach (findings->problems.value, i, line)
        if (run_problem_counts(json_string_value(line), addresses))
            return false;
    return true;
}

int
config_check_run(struct cli *cli)
{
    struct config_findings findings = {
        .cli = cli,
        .problems = {jsonx_own(cli->mem, json_array()), false},
        .warnings = {jsonx_own(cli->mem, json_array()), false},
        .status = CLI_OK,
    };
    struct az *az = cli->az = process_new(cli->mem, false, &cli->problems);
    if (az == NULL)
        return output_no_memory(cli);
    log_level_set("error");
    run_as_service(az);
    for (size_t i = 0; i < cli->problems.count; i++)
        config_report(&findings, CLI_CONFIG, cli->problems.line[i]);
    if (db_url_fault(az->cfg->database_url) != NULL)
        config_report(&findings, CLI_CONFIG, run_database_url_problem);
    config_warn(&findings);
    if (findings.status == CLI_OK)
        output_line(cli, "settings: ok (%s)",
                    az->cfg->source_file != NULL ? az->cfg->source_file : "no file");
    if (!cli->choice.offline && !az->cfg->source_unread && addresses_right(&findings)) {
        config_check_database(&findings);
        config_check_engine(&findings);
    }
    if (cli->choice.json)
        output_json(jsonx_own(cli->mem, json_pack("{s:b,s:O,s:O}", "ok", findings.status == CLI_OK,
                                                  "problems", jsonx_built(&findings.problems),
                                                  "warnings", jsonx_built(&findings.warnings))));
    return findings.status;
}

/* Return the origin of a value; the public values of the development switch have none recorded. */
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
    struct jsonx_build rows = {jsonx_own(cli->mem, json_array()), false};
    if (cfg == NULL || rows.value == NULL)
        return output_no_memory(cli);
    /* This fills in the development values; `config check` reports the problems. */
    settings_check(cli->mem, cfg, &unfit);
    for (const struct setting *row = settings_table; row->name != NULL; row++) {
        json_t *value = output_string(settings_text(cli->mem, cfg, row));
        json_t *origin = output_string(origin_text(cfg, row));
        jsonx_append(
            &rows, json_pack("{s:s,s:o,s:o}", "name", row->name, "value", value, "origin", origin));
    }
    output_rows(cli, jsonx_built(&rows), columns);
    for (size_t i = 0; i < unread.count; i++)
        output_error("%s", unread.line[i]);
    return unread.count == 0 ? CLI_OK : CLI_CONFIG;
}

static json_t *
doc_object(const struct setting *row)
{
    struct jsonx_build object = {json_pack("{s:s,s:s,s:s*,s:s*,s:s}", "name", row->name, "type",
                                           help_setting_types[row->type], "default", row->fallback,
                                           "alias", row->alias, "help", row->help),
                                 false};
    if (help_setting_has_limits(row)) {
        jsonx_set(&object, "minimum", json_integer(row->minimum));
        jsonx_set(&object, "maximum", json_integer(row->maximum));
    }
    if (row->choices != NULL) {
        struct jsonx_build choices = {json_array(), false};
        for (const char *const *word = row->choices; *word != NULL; word++)
            jsonx_append(&choices, json_string(*word));
        jsonx_set(&object, "choices", choices.value);
        object.lost |= choices.lost;
    }
    if (object.lost)
        json_decref(object.value);
    return jsonx_built(&object);
}

int
config_doc_run(struct cli *cli)
{
    struct jsonx_build rows = {jsonx_own(cli->mem, json_array()), false};
    for (const struct setting *row = settings_table; row->name != NULL; row++) {
        if (cli->choice.json) {
            jsonx_append(&rows, doc_object(row));
            continue;
        }
        printf("%s%s\n    %s\n    %s\n", row == settings_table ? "" : "\n", row->name, row->help,
               help_setting(cli->mem, row, row->fallback));
    }
    if (cli->choice.json)
        output_json(jsonx_built(&rows));
    return CLI_OK;
}
