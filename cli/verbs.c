/* THE table of verbs. Sorted by words, so that a reader and --help find them in one order. */
#include "config.h"

#include "verbs.h"

#include "bundle_dir.h"

#define DATABASE "SVC_DATABASE_URL"
/* Sealing and finding keys: the keyring is made of these two. */
#define KEYRING "SVC_CREDENTIAL_KEY", "SVC_ADMIN_PEPPER"

const char *const cli_needs_all[] = {"*", NULL};
static const char *const database[] = {DATABASE, NULL};
static const char *const migrations[] = {DATABASE, "SVC_DATA_DIR", NULL};
static const char *const minting[] = {DATABASE, KEYRING, NULL};
static const char *const rotating[] = {DATABASE, KEYRING, "SVC_OIDC_JWKS_CACHE_SECONDS", NULL};
static const char *const saving[] = {DATABASE,
                                     "SVC_OPA_URL",
                                     "SVC_POLICY_TIMEOUT_MS",
                                     "SVC_BUNDLE_CONFIRM_ACTIVATION",
                                     "SVC_BUNDLE_CONFIRM_POLL_MS",
                                     "SVC_BUNDLE_CONFIRM_TIMEOUT_MS",
                                     NULL};

#define AT(member) offsetof(struct cli_choices, member)

/* clang-format off */
const struct cli_verb cli_verbs[] = {
    {"admin-key list", "", 0, 0, NULL, database, true, false, admin_key_list_run,
     "List the admin keys, revoked ones too",
     "Keys themselves are never shown."},
    {"admin-key mint", "", 0, 0, admin_key_mint_options, minting, true, false, admin_key_mint_run,
     "Make an admin key and print it, this once",
     "The key alone goes to standard output, its id to standard error. It cannot be shown again; who "
     "loses it mints another one and revokes this one."},
    {"admin-key revoke", "ID", 1, 1, NULL, database, true, false, admin_key_revoke_run,
     "Revoke an admin key at once, on all hosts",
     "Refused for the key of SVC_ADMIN_API_KEY, which is changed in the configuration, and for the last "
     "active one."},
    {"bundle deploy", "DIR", 1, 1, bundle_deploy_options, saving, true, false, bundle_deploy_run,
     "Save the rules and data rows of a directory, all of them or none",
     BUNDLE_DIR_LAYOUT " Prints counts, the revision and whether the policy engines have it. When they refuse "
     "it, their message and the line it speaks of are shown and everything is as before."},
    {"bundle diff", "FROM [TO]", 1, 2, NULL, database, true, false, bundle_diff_run,
     "Show what differs between the rules and rows of two bundles",
     "FROM and TO are ids of `bundle history`; without TO the newest one."},
    {"bundle history", "", 0, 0, bundle_history_options, database, true, false, bundle_history_run,
     "List the bundles that were served, newest first", NULL},
    {"bundle pull", "DIR", 1, 1, bundle_pull_options, database, true, false, bundle_pull_run,
     "Write the rules and data rows into a directory, as bundle deploy reads them",
     "Shipped rules are not written, nor rows outside the bundle. DIR is made; in one that is there already only "
     "hidden files, tests, README and files of the same policy may lie. Nothing is removed. Deploying what was "
     "pulled changes nothing."},
    {"bundle rollback", "ID", 1, 1, NULL, saving, true, false, bundle_rollback_run,
     "Save the rules and rows of an earlier bundle again",
     "ID is one of `bundle history`. Disabled rules and rows outside the bundle stay; the rest becomes what it "
     "was, but for what is shipped."},
    {"config check", "", 0, 0, config_check_options, NULL, false, false, config_check_run,
     "Say everything that is wrong with settings, database, schema and policy engine",
     "One line per problem, naming the variable or FILE:LINE. Settings that the service would refuse give "
     "status 78, a database or policy engine that does not answer 69."},
    {"config doc", "", 0, 0, NULL, NULL, false, false, config_doc_run,
     "Describe every setting: type, default, limits", NULL},
    {"config show", "", 0, 0, NULL, NULL, false, false, config_show_run,
     "Show every setting, its value and where it comes from",
     "Secrets are masked. The origin is default, environment, FILE:LINE, unset, or development (the public "
     "values of SVC_ALLOW_INSECURE_DEV_KEY)."},
    {"db migrate", "", 0, 0, NULL, cli_needs_all, false, false, db_migrate_run,
     "Bring the database to the schema of this program and load the shipped policy",
     "Applies migrations, makes partitions and signing keys, registers the configured admin key and loads "
     "the shipped policy. May be run again at any time, also on several hosts at once; what is there stays."},
    {"db status", "", 0, 0, NULL, migrations, false, false, db_status_run,
     "Show which migrations are applied",
     "Status 78 when the schema is not the one this program needs."},
    {"keys list", "", 0, 0, NULL, database, true, false, keys_list_run,
     "List the signing keys: next, active, retired", NULL},
    {"keys rotate", "", 0, 0, keys_rotate_options, rotating, true, false, keys_rotate_run,
     "Sign with the next key, retire the active one, make a new next one",
     "Refused while the next key has not been published for SVC_OIDC_JWKS_CACHE_SECONDS: verifiers could not "
     "know it. The retired key stays published for SVC_OIDC_KEY_RETIREMENT_SECONDS, or for "
     "SVC_OIDC_STATEMENT_KEY_RETIREMENT_SECONDS with --use statement."},
    {"maintain", "", 0, 0, NULL, cli_needs_all, true, false, maintain_run,
     "Run all housekeeping now",
     "For cron or a timer where no authz.fcgi --workers runs, which does it by itself. What each job did is "
     "logged on standard error."},
    {"manual", "", 0, 0, NULL, NULL, false, true, manual_run,
     "Print the manual page of authzctl", NULL},
    {"policy data delete", "KEY", 1, 1, NULL, saving, true, false, policy_data_delete_run,
     "Delete a policy data row, publish that and wait for the policy engines",
     "Refused for rows that are shipped. Prints the revision of the bundle and its state, as policy data set does."},
    {"policy data get", "KEY", 1, 1, NULL, database, true, false, policy_data_get_run,
     "Print the payload of a policy data row",
     "With --json the whole row is printed, its payload as text."},
    {"policy data list", "", 0, 0, NULL, database, true, false, policy_data_list_run,
     "List the policy data rows", NULL},
    {"policy data set", "KEY [FILE|-]", 1, 2, policy_data_set_options, saving, true, false, policy_data_set_run,
     "Check a payload, save it, publish it and wait for the policy engines",
     "The payload is JSON from FILE or standard input. Every path that fails the row's schema is named, and "
     "nothing is saved then. Prints the revision of the bundle and confirmed, or pending when not every "
     "engine has reported it active within SVC_BUNDLE_CONFIRM_TIMEOUT_MS; the save stands either way."},
    {"policy rule delete", "PATH", 1, 1, NULL, saving, true, false, policy_rule_delete_run,
     "Delete a rule, unless the policy engines refuse what is left",
     "Refused for rules that are shipped."},
    {"policy rule get", "PATH", 1, 1, NULL, database, true, false, policy_rule_get_run,
     "Print the text of a rule",
     "With --json the whole rule is printed."},
    {"policy rule list", "", 0, 0, NULL, database, true, false, policy_rule_list_run,
     "List the rules, shipped ones too", NULL},
    {"policy rule set", "PATH [FILE|-]", 1, 2, policy_rule_set_options, saving, true, false, policy_rule_set_run,
     "Save a rule, if the policy engines take it",
     "The text comes from FILE or standard input; PATH ends in .rego or .cedar. Without --disabled the rule is "
     "enabled. Prints the revision of the bundle and whether the policy engines have it. When they refuse it, "
     "their message and the line it speaks of are shown and everything is as before."},
    {"policy test", "DIR", 1, 1, policy_test_options, NULL, false, false, policy_test_run,
     "Run the tests of a directory, as bundle deploy reads it, with the policy engine's program",
     "DIR is laid out as for `bundle deploy`. The shipped rules and rows lie beside it, so that a test may ask "
     "for data.svc.decision.issue.result with an input; DIR's rows take the place of shipped ones and must fit their "
     "schema. Disabled rules and their tests are left out. Needs no database, and of the settings only "
     "SVC_DATA_DIR. The engine sees none of our settings."},
    {NULL, NULL, 0, 0, NULL, NULL, false, false, NULL, NULL, NULL},
};

const struct cli_option cli_options[] = {
    {"config", 0, "FILE", AT(config), false, "Read settings from FILE (sets SVC_CONFIG); the environment still wins"},
    {"help", 'h', NULL, AT(help), false, "Print help on the noun or verb before it"},
    {"json", 0, NULL, AT(json), false, "Print one JSON document instead of text"},
    {"quiet", 'q', NULL, AT(quiet), false, "Print errors and what was asked for, no progress"},
    {"version", 0, NULL, AT(version), false, "Print the version"},
    {NULL, 0, NULL, 0, false, NULL},
};

const struct cli_exit_row cli_exits[] = {
    {CLI_OK, "done"},
    {CLI_FAILED, "refused or failed"},
    {CLI_USAGE, "the command line is wrong"},
    {CLI_UNAVAILABLE, "the database or the policy engine is not there or does not answer; try again"},
    {CLI_CONFIG, "a setting is wrong, or the schema is not the one this program needs"},
    {CLI_OK, NULL},
};
/* clang-format on */
