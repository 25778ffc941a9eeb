/* db: create and check the schema, and add the rows that the service needs to start. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"
#include "policy/save/deploy/shipped.h"
#include "policy/save/plan/bundle_plan.h"
#include "store/people/admin_keys.h"
#include "store/schema/migration_plan.h"
#include "store/schema/partitions_maintain.h"
#include "store/schema/roles.h"
#include "store/schema/schema.h"
#include "store/tokens/signing_keys_turn.h"

const struct cli_option db_migrate_options[] = {
    {"grant",     0, "ROLE",   offsetof(struct cli_choices, grant),  false,
     "Let ROLE do what the service does, too, as db grant does"},
    {"offline",           0,    NULL, offsetof(struct cli_choices,                     offline), false,
     "Apply all migrations, also those that the service may not run beside; it must be stopped on "
     "all hosts"},
    {NULL, 0,  NULL,       0,                                 false,                                   NULL                                                       },
};

static enum az_status
migrate_schema(struct cli *cli, struct jsonx_build *report)
{
    int applied;
    bool owns = false;
    enum az_status st = roles_owns(&cli->op, &owns);
    if (st == AZ_OK && !owns)
        st =
            op_fail(&cli->op, AZ_CONFLICT, NULL,
                    "the role of SVC_DATABASE_URL does not own the tables: run db migrate as their "
                    "owner, as in runuser -u authz-owner -- authzctl db migrate (doc/upgrade.md, "
                    "Two roles)");
    if (st == AZ_OK && !cli->choice.offline)
        st = schema_plan_check(&cli->op);
    if (st == AZ_OK)
        st = schema_migrate(&cli->op, &applied);
    if (st == AZ_OK)
        st = schema_check(&cli->op);
    if (st != AZ_OK)
        return st;
    output_line(cli, "schema: %d (migrations applied: %d)", SCHEMA_VERSION, applied);
    jsonx_set(report, "schema", json_integer(SCHEMA_VERSION));
    jsonx_set(report, "migrationsApplied", json_integer(applied));
    return AZ_OK;
}

static enum az_status
db_make_partitions(struct cli *cli, struct jsonx_build *report)
{
    int made = 0, dropped = 0;
    enum az_status st = partition_maintain(&cli->op, false, &made, &dropped);
    if (st != AZ_OK)
        return st;
    output_line(cli, "partitions: %d created, %d dropped", made, dropped);
    jsonx_set(report, "partitionsMade", json_integer(made));
    jsonx_set(report, "partitionsDropped", json_integer(dropped));
    return AZ_OK;
}

/* Make the signing keys, and find a wrong credential key now instead of at the first token request.
 */
static enum az_status
make_signing_keys(struct cli *cli, struct jsonx_build *report)
{
    bool made = false;
    enum az_status st = signing_keys_ensure(&cli->op, &made);
    if (st == AZ_OK)
        st = signing_keys_check(&cli->op);
    if (st != AZ_OK)
        return st;
    output_line(cli, "signing keys: %s", made ? "created" : "unchanged");
    jsonx_set(report, "signingKeysMade", json_boolean(made));
    return AZ_OK;
}

static enum az_status
register_admin_key(struct cli *cli, struct jsonx_build *report)
{
    enum az_status st = admin_key_register_configured(&cli->op);
    if (st != AZ_OK)
        return st;
    output_line(cli, "admin key: SVC_ADMIN_API_KEY registered");
    jsonx_set(report, "adminKeyRegistered", json_true());
    return AZ_OK;
}

static enum az_status
load_policy(struct cli *cli, struct jsonx_build *report)
{
    int changed = 0;
    struct save_outcome outcome = {.revision = NULL};
    enum az_status st = save_shipped_policy(&cli->op, "authzctl", &changed, &outcome);
    if (st != AZ_OK)
        return st;
    output_line(cli, "policy: %d rows written, bundle %s", changed, outcome.revision);
    jsonx_set(report, "policyRowsWritten", json_integer(changed));
    jsonx_set(report, "revision", json_string(outcome.revision));
    return AZ_OK;
}

/* Make the plan that the service decides by, so that a first start has it. Without it OPA decides.
 */
static enum az_status
plan_policy(struct cli *cli, struct jsonx_build *report)
{
    bool made = false;
    const char *warning = NULL;
    enum az_status st = plan_served(&cli->op, &made, &warning);
    if (st != AZ_OK)
        return st;
    if (warning != NULL)
        output_error("warning: %s", warning);
    else if (made)
        output_line(cli, "plan of the policy: made");
    jsonx_set(report, "policyPlanned", json_boolean(made && warning == NULL));
    return AZ_OK;
}

/* New tables are given to the roles of the service. */
static enum az_status
grant_roles(struct cli *cli, struct jsonx_build *report)
{
    int roles = 0;
    const char *role = cli->choice.grant;
    enum az_status st = role != NULL ? roles_grant(&cli->op, role) : AZ_OK;
    if (st == AZ_OK)
        st = roles_grant_again(&cli->op, &roles);
    if (st == AZ_OK && roles > 0)
        output_line(cli, "roles of the service: %d granted", roles);
    if (st == AZ_OK)
        jsonx_set(report, "rolesGranted", json_integer(roles));
    return st;
}

int
db_migrate_run(struct cli *cli)
{
    static enum az_status (*const steps[])(struct cli *, struct jsonx_build *) = {
        migrate_schema,     grant_roles, db_make_partitions, make_signing_keys,
        register_admin_key, load_policy, plan_policy};
    struct jsonx_build report = {jsonx_own(cli->mem, json_object()), false};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (steps[i](cli, &report) != AZ_OK)
            return output_fault(cli);
    if (cli->choice.json)
        output_json(jsonx_built(&report));
    return CLI_OK;
}

int
db_grant_run(struct cli *cli)
{
    const char *role = cli->args[0];
    enum az_status st = schema_check(&cli->op);
    if (st == AZ_OK)
        st = roles_grant(&cli->op, role);
    if (st != AZ_OK)
        return output_fault(cli);
    output_line(cli,
                "%s: may do what the service does, and change neither the schema nor the audit log",
                role);
    if (cli->choice.json)
        output_json(jsonx_own(cli->mem, json_pack("{s:s}", "role", role)));
    return CLI_OK;
}

int
db_plan_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"version",  "VERSION" },
        {"kind",     "KIND"    },
        {"rows",     "ROWS"    },
        {"ms",       "MS"      },
        {"offline",  "OFFLINE" },
        {"locks",    "LOCKS"   },
        {"reads",    "READS"   },
        {"rewrites", "REWRITES"},
        {"name",     "NAME"    },
        {NULL,       NULL      }
    };
    json_t *rows;
    bool offline;
    if (schema_plan(&cli->op, &rows, &offline) != AZ_OK)
        return output_fault(cli);
    output_rows(cli, rows, columns);
    if (json_array_size(rows) > 0 && !cli->choice.json)
        output_error(
            "order: %s; programs of this release refuse the previous schema",
            offline
                ? "stop the service on all hosts, `authzctl db migrate --offline`, "
                  "start it with this release"
                : "`authzctl db migrate` once, while the programs of the previous release run on, "
                  "then restart each host with this release");
    return offline ? CLI_NOTABLE : CLI_OK;
}

int
db_status_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"version",   "VERSION"},
        {"name",      "NAME"   },
        {"state",     "STATE"  },
        {"appliedAt", "APPLIED"},
        {NULL,        NULL     }
    };
    json_t *rows, *row;
    size_t i;
    if (schema_status(&cli->op, &rows) != AZ_OK)
        return output_fault(cli);
    output_rows(cli, rows, columns);
    enum az_status st = schema_check(&cli->op);
    if (st != AZ_OK)
        return output_fault(cli) == CLI_UNAVAILABLE ? CLI_UNAVAILABLE : CLI_CONFIG;
    json_array_foreach (rows, i, row)
        if (strcmp(json_string_value(json_object_get(row, "state")), "changed") == 0) {
            output_error("db status: %s was edited after it was applied; undo the edit, or install "
                         "the version that applied it",
                         json_string_value(json_object_get(row, "name")));
            return CLI_FAILED;
        }
    return CLI_OK;
}
