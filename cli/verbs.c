/* The verbs that are more than one request to the admin API, and the table of all verbs. */
#include "config.h"

#include "cli/verbs.h"

#include <stdlib.h>
#include <string.h>

/* The layout of a directory with a policy (cli/policy/bundle_dir.h). */
#define BUNDLE_DIR_LAYOUT                                                                          \
    "A file in DIR that ends in .rego or .cedar is a rule, and its path below DIR is the path of " \
    "the rule. A file that ends in _test.rego is a test and is not deployed. data/KEY.json is "    \
    "the payload of the data row KEY. The optional file bundle.json lists rules to keep out of "   \
    "the bundle: {\"disabled\": [PATH...]}. Hidden files are skipped, other files are listed as "  \
    "ignored, and symbolic links are refused."

/* The layout of a directory with an instance (cli/instance). */
#define INSTANCE_LAYOUT                                                                            \
    "instance.json names the owner. clients/, providers/, resources/ and connectors/ have one "    \
    "file for each object, NAME.json, and policy/ is a directory of `bundle deploy`."

#define IMPORTED                                                                                   \
    "DIR is made; DIR/import.md lists each member of FILE and what became of it. No secret is "    \
    "written."

#define DATABASE "SVC_DATABASE_URL"
/* The secrets of the keyring. */
#define KEYRING "SVC_CREDENTIAL_KEY", "SVC_CREDENTIAL_KEY_PREVIOUS", "SVC_ADMIN_PEPPER"

static const char *const database[] = {DATABASE, NULL};
static const char *const migrations[] = {DATABASE, "SVC_DATA_DIR", NULL};
static const char *const describing[] = {"SVC_OIDC_ISSUER", NULL};
static const char *const minting[] = {DATABASE, KEYRING, "SVC_OIDC_ISSUER", NULL};
#define RETIREMENT "SVC_OIDC_KEY_RETIREMENT_SECONDS", "SVC_OIDC_STATEMENT_KEY_RETIREMENT_SECONDS"
const char *const verbs_signing[] = {DATABASE, "SVC_OIDC_ISSUER", RETIREMENT, NULL};
static const char *const sealing[] = {
    DATABASE, KEYRING, "SVC_OIDC_ISSUER", RETIREMENT, "SVC_AUDIT_CHECKPOINT_FILE", NULL};
static const char *const streaming[] = {DATABASE,
                                        "SVC_OIDC_ISSUER",
                                        "SVC_AUDIT_STREAM",
                                        "SVC_AUDIT_STREAM_URL",
                                        "SVC_AUDIT_STREAM_HEADER",
                                        "SVC_AUDIT_STREAM_DOCUMENTS",
                                        "SVC_AUDIT_CHECKPOINT_URL",
                                        "SVC_SAFE_HTTP_TIMEOUT_SECONDS",
                                        NULL};
static const char *const resealing[] = {DATABASE, KEYRING, NULL};
static const char *const rotating[] = {
    DATABASE, KEYRING, "SVC_OIDC_ISSUER", "SVC_OIDC_JWKS_CACHE_SECONDS", RETIREMENT, NULL};
/* The dispatcher of the service reads these for every request. */
const char *const verbs_asking[] = {DATABASE, "SVC_OIDC_ISSUER", NULL};
#define SAVING                                                                                     \
    DATABASE, "SVC_OPA_URL", "SVC_POLICY_TIMEOUT_MS", "SVC_BUNDLE_CONFIRM_ACTIVATION",             \
        "SVC_BUNDLE_CONFIRM_POLL_MS", "SVC_BUNDLE_FETCH_GRACE_MS",                                 \
        "SVC_POLICY_ALLOW_NETWORK_BUILTINS", "SVC_BUNDLE_CONFIRM_TIMEOUT_MS"
static const char *const saving[] = {SAVING, NULL};
static const char *const comparing[] = {DATABASE, "SVC_OPA_URL", "SVC_POLICY_TIMEOUT_MS", NULL};
const char *const verbs_entitling[] = {SAVING, "SVC_OIDC_ISSUER", NULL};

/* End of the help of each verb that saves rules. */
#define PRINTS_ACTIVATION                                                                          \
    "Prints the revision of the new bundle and `confirmed` once every policy engine uses it. If "  \
    "an engine refuses "                                                                           \
    "it, nothing changes, and the engine's message is printed with the line that it names. With "  \
    "--server the verb does not "                                                                  \
    "tell which engines it waits for."

/* clang-format off */
static const struct cli_verb own_verbs[] = {
    {"admin-key mint", "", 0, 0, admin_key_mint_options, minting, CLI_ANYWHERE, false, admin_key_mint_run,
     "Create an admin key and print it",
     "Only the key goes to standard output; its id goes to standard error. The key cannot be shown again. To replace a "
     "lost key, mint another one and revoke the lost one."},
    {"admin-key revoke", "ID", 1, 1, admin_key_revoke_options, verbs_asking, CLI_ANYWHERE, false, admin_key_revoke_run,
     "Revoke an admin key immediately on all hosts",
     "The key of SVC_ADMIN_API_KEY cannot be revoked, because it is set in the configuration; nor can the last valid "
     "key of an owner."},
    {"apply", "DIR|FILE", 1, 1, apply_options, cli_needs_all, CLI_ANYWHERE, false, apply_run,
     "Make the service have the objects of a directory, or do what a plan says",
     "FILE is one of `authzctl plan --out`. Each object that the files have and the service has not is created, each that differs is "
     "changed, and one that has no owner is adopted. What the files do not name stays. If another administrator changed an object "
     "since the plan, nothing more is done, and the steps that were done are listed; run it again then. The secret of a new client "
     "is printed once."},
    {"audit checkpoint", "", 0, 0, NULL, verbs_asking, CLI_DATABASE, false, audit_checkpoint_run,
     "Print the newest checkpoint of the log over all audit rows",
     "Keep it where the owner of the database cannot write: `authzctl audit verify --checkpoint` holds the log against it."},
    {"audit consistency", "OLD NEW", 2, 2, NULL, verbs_asking, CLI_DATABASE, false, audit_consistency_run,
     "Prove that the log of OLD leaves is the begin of that of NEW leaves",
     "OLD and NEW are sizes of checkpoints. Prints both, then the hashes of RFC 6962 section 2.1.2."},
    {"audit export", "", 0, 0, audit_export_options, verbs_asking, CLI_ANYWHERE, false, audit_export_run,
     "Print all audit rows of a period or of a filter",
     "At most SVC_AUDIT_EXPORT_MAX_ROWS rows; the export says if there were more. Rows are printed as they come. If the "
     "export breaks off, the exit status is not 0."},
    {"audit keys", "", 0, 0, NULL, verbs_signing, CLI_DATABASE, false, audit_keys_run,
     "Print the public keys that sign checkpoints of the audit log, as a JWK Set", NULL},
    {"audit lines", "", 0, 0, NULL, verbs_asking, CLI_DATABASE, false, audit_lines_run,
     "Print the log over all audit rows, one leaf a line",
     "`authzctl audit verify-export` checks such a file without the database. It ends with an error at a row that retention "
     "dropped."},
    {"audit prove", "ID", 1, 1, NULL, verbs_asking, CLI_DATABASE, false, audit_prove_run,
     "Prove that an audit row is in the log",
     "Prints the proof in the form c2sp.org/tlog-proof@v1, with the line of the row in it. doc/verify_audit.py checks it with a key "
     "alone."},
    {"audit seal", "", 0, 0, audit_seal_options, sealing, CLI_DATABASE, false, audit_seal_run,
     "Append new audit rows to the log and sign a checkpoint",
     "Housekeeping does it each minute."},
    {"audit stream", "", 0, 0, audit_stream_options, streaming, CLI_DATABASE, false, audit_stream_verb_run,
     "Show how far the stream of audit rows and the posted checkpoints are",
     "The service sends each 5 seconds (SVC_AUDIT_STREAM, SVC_AUDIT_CHECKPOINT_URL). The exit status is 1 if a server refuses the "
     "credential or has no such address."},
    {"audit tail", "", 0, 0, audit_tail_options, verbs_asking, CLI_ANYWHERE, false, audit_tail_run,
     "Print audit rows as they are written, until it is interrupted",
     "An absent value is -. With --json each row is one line."},
    {"audit verify", "", 0, 0, audit_verify_options, verbs_signing, CLI_DATABASE, false, audit_verify_run,
     "Check that no audit row was changed, removed or added since it was sealed",
     "Prints the first rows that were, by id; the exit status is 1 then."},
    {"audit verify-export", "LINES", 1, 1, audit_verify_export_options, NULL, CLI_FILES, false, audit_verify_export_run,
     "Check a file of `authzctl audit lines` against checkpoints, without the database", NULL},
    {"bundle deploy", "DIR", 1, 1, bundle_deploy_options, saving, CLI_ANYWHERE, false, bundle_deploy_run,
     "Save the rules and data rows in a directory, either all of them or none",
     BUNDLE_DIR_LAYOUT " The program of the policy engine first compiles the rules and checks them against the "
     "schemas of the input documents; if it is not found, this is printed and left out. Then the verb prints how many rules "
     "and rows are added, changed, removed (with --mode replace), unchanged, and protected because they are shipped. "
     PRINTS_ACTIVATION},
    {"bundle diff", "[FROM] [TO]", 0, 2, bundle_diff_options, database, CLI_ANYWHERE, false, bundle_diff_run,
     "Show the differences between two bundles, or between a directory and what is stored",
     "FROM and TO are ids from `bundle history`. Without TO, FROM is compared with the newest bundle. With --dir, DIR is "
     "read as by `bundle deploy`: `added` is what a deploy would add, and `removed` is what DIR does not have. Shipped "
     "rules and rows that DIR does not have do not count. The exit status is then 0 if there is no difference, and 1 if "
     "there is one, or if DIR has a fault, which is printed on standard error."},
    {"bundle history", "", 0, 0, bundle_history_options, database, CLI_ANYWHERE, false, bundle_history_run,
     "List the bundles that were published, newest first", NULL},
    {"bundle pull", "DIR", 1, 1, bundle_pull_options, database, CLI_ANYWHERE, false, bundle_pull_run,
     "Write the rules and data rows to a directory for `bundle deploy`",
     "Shipped rules and data rows outside the bundle are not written. DIR is created if it does not exist. If it "
     "exists, it may contain only hidden files, tests, README files and files of the same policy. No file is deleted. "
     "Deploying an unchanged directory changes nothing. An empty DIR also gets an example of a rule and its test, which "
     "are not deployed. Prints the revision, for `bundle deploy --if-revision`."},
    {"bundle rollback", "ID", 1, 1, bundle_rollback_options, saving, CLI_ANYWHERE, false, bundle_rollback_run,
     "Restore the rules and data rows of an earlier bundle",
     "ID is an id from `bundle history`. Disabled rules, data rows outside the bundle and shipped rules do not change."},
    {"cedar authorize", "", 0, 0, cedar_authorize_options, NULL, CLI_FILES, false, cedar_authorize_run,
     "Decide a request by policies in Cedar",
     "Prints the decision, the ids of the policies that made it, and the ids of those whose evaluation failed. The id of a "
     "policy is its annotation @id, or policy0, policy1 and so on. Entities and request have the format of Cedar's own "
     "tools. The service is not asked."},
    {"cedar compile", "FILE", 1, 1, NULL, NULL, CLI_FILES, false, cedar_compile_run,
     "Print the Rego that policies in Cedar are compiled to",
     "A comment before the rules of each policy has its line in FILE. What cannot be compiled exactly is refused with line "
     "and column."},
    {"cedar format", "FILE", 1, 1, NULL, NULL, CLI_FILES, false, cedar_format_run,
     "Print policies in Cedar as canonical text",
     "Comments are lost."},
    {"cedar test", "CASES [CASES] [CASES] [CASES]", 1, CLI_ARGUMENTS_MAX, cedar_test_options, NULL, CLI_FILES, false, cedar_test_run,
     "Run the cases of Cedar's integration tests",
     "CASES is a directory, or an archive that tar can read. A case in it is a JSON file that names its policies and "
     "entities and has requests with their answers. Each wrong answer is printed, and then how many cases passed, failed and were refused. Schemas are not "
     "read: an object with only the strings type and id is an entity if the case has a schema."},
    {"completion", "SHELL", 1, 1, NULL, NULL, CLI_FILES, false, completion_run,
     "Print the completion of commands and options for a shell",
     "SHELL is bash or zsh. `make install` installs both where the shells look for them."},
    {"config check", "", 0, 0, config_check_options, NULL, CLI_HOST, false, config_check_run,
     "Check the settings, the database, its schema and the policy engine",
     "Prints one line per problem, naming the variable or FILE:LINE. The exit status is 78 if the service would refuse "
     "a setting, and 69 if the database or the policy engine does not answer."},
    {"config doc", "", 0, 0, NULL, NULL, CLI_FILES, false, config_doc_run,
     "Describe every setting with its type, default and limits", NULL},
    {"config show", "", 0, 0, NULL, NULL, CLI_HOST, false, config_show_run,
     "Show the value and the origin of every setting",
     "Secrets are masked. The origin is default, environment, FILE:LINE, unset, or development (the public values that "
     "SVC_ALLOW_INSECURE_DEV_KEY enables)."},
    {"connector sync", "CONNECTOR", 1, 1, connector_sync_options, cli_needs_all, CLI_ANYWHERE, false, connector_sync_run,
     "Take the routes and tools of a new manifest into the managed resources of a connector",
     "CONNECTOR is an id, or all for every installed connector. Routes and tools of your own stay, and what you switched off stays off. "
     "A connector of which a scope implies others than before is not changed without --force; the column WARNINGS says so."},
    {"db grant", "ROLE", 1, 1, NULL, database, CLI_HOST, false, db_grant_run,
     "Let a role of the database do what the service does, and no more",
     "Run it as the owner of the tables. The role then reads and writes rows, adds audit rows but changes and deletes none, "
     "and makes partitions but no other table. Name it in SVC_DATABASE_URL of the service. `authzctl db migrate` does the same "
     "again for each such role. Only the owner drops partitions and prunes the audit log: run `authzctl maintain` as the owner."},
    {"db migrate", "", 0, 0, db_migrate_options, cli_needs_all, CLI_HOST, false, db_migrate_run,
     "Create or upgrade the database schema and load the shipped policy",
     "Applies migrations, if each is of the kind expand and none holds locks for longer than 200 ms (`authzctl db plan`) or with --offline, creates partitions and signing keys, registers the admin key of the configuration and loads "
     "the shipped policy. It can be run again at any time, even on several hosts at once, and does not change rows that "
     "exist."},
    {"db plan", "", 0, 0, NULL, migrations, CLI_HOST, false, db_plan_run,
     "Show what the missing migrations will do to the database",
     "For each: expand (programs of the release before run on) or contract (they do not); the tables that it locks, those whose "
     "rows it reads for an index or a constraint, and those whose rows it rewrites; how many rows these have, and an estimate "
     "of the time in milliseconds. The exit status is 2 if one of them needs `authzctl db migrate --offline`."},
    {"db status", "", 0, 0, NULL, migrations, CLI_HOST, false, db_status_run,
     "Show which migrations are applied",
     "The exit status is 78 if the database does not have the schema of this program."},
    {"entitle", "CLIENT", 1, 1, entitle_options, verbs_entitling, CLI_ANYWHERE, false, entitle_run,
     "Add rights to the binding of a client and publish the change",
     "The binding is the member clients.CLIENT of the data row svc.entitlements.bindings; rights that it has stay. "
     "Several of these at once lose nothing. Prints the revision of the bundle and its state, like `policy data set`."},
    {"export", "DIR", 1, 1, export_options, cli_needs_all, CLI_ANYWHERE, false, export_run,
     "Write the clients, providers, resources, connectors and the policy as files",
     INSTANCE_LAYOUT " No secret is written, and names of secrets that a file of DIR has stay. Objects of other owners are left out."},
    {"health", "URL", 1, 1, health_options, NULL, CLI_FILES, false, health_run,
     "Ask a service whether it is up, as a health check of a container does",
     "URL is that of its web server, such as http://127.0.0.1:8080; plain http is for this host alone. The exit status is 0 if the "
     "answer is good, and 69 if it is not or does not come within 5 seconds."},
    {"idp home", "[IDP]", 0, 1, idp_home_options, cli_needs_all, CLI_ANYWHERE, false, idp_home_run,
     "Show the home issuer, or make that of a provider the home issuer",
     "People of the home issuer keep their sub as their name (alice); those of other providers are IDP|SUB. The first sign-in "
     "stores the issuer of the oldest enabled provider, and the deletion of a provider changes nothing. A change renames nobody: "
     "new people of IDP get their sub, so that rules, rows and delegations that name a sub hold for them."},
    {"import hydra", "FILE DIR", 2, 2, NULL, NULL, CLI_FILES, false, import_hydra_run,
     "Make files for `authzctl apply` from the clients of Ory Hydra",
     IMPORTED " FILE is the JSON of GET /admin/clients, or of `hydra list oauth2-clients --format json`."},
    {"import keycloak", "FILE DIR", 2, 2, NULL, NULL, CLI_FILES, false, import_keycloak_run,
     "Make files for `authzctl apply` from a realm export of Keycloak",
     IMPORTED " FILE is the JSON of a realm, as `kc.sh export` writes it."},
    {"keys rotate", "", 0, 0, keys_rotate_options, rotating, CLI_ANYWHERE, false, keys_rotate_run,
     "Activate the next signing keys, retire the active ones and create new next keys",
     "There is one key for each algorithm in SVC_OIDC_ID_TOKEN_ALGS; all are rotated together. The next keys must have "
     "been published for SVC_OIDC_JWKS_CACHE_SECONDS, so that verifiers know them; until then the rotation is refused. "
     "The retired keys stay published for SVC_OIDC_KEY_RETIREMENT_SECONDS, or with --use statement "
     "for SVC_OIDC_STATEMENT_KEY_RETIREMENT_SECONDS."},
    {"maintain", "", 0, 0, NULL, cli_needs_all, CLI_DATABASE, false, maintain_run,
     "Run all housekeeping jobs once",
     "Run it from cron or a timer on hosts without `authz.fcgi --workers`, which runs the jobs itself. The result of "
     "each job is logged on standard error."},
    {"manual", "[PAGE]", 0, 1, NULL, NULL, CLI_FILES, true, manual_run,
     "Print a manual page", "PAGE is authzctl (the default) or authz.conf."},
    {"openapi", "", 0, 0, NULL, describing, CLI_HOST, false, openapi_run,
     "Print the description of the interface (OpenAPI 3.1.0)",
     "The service has the same document at /openapi.json, unless SVC_SWAGGER_ENABLED is false."},
    {"plan", "DIR", 1, 1, plan_options, cli_needs_all, CLI_ANYWHERE, false, plan_run,
     "Show what `authzctl apply` would change",
     INSTANCE_LAYOUT " The rules and rows are checked by the service as a deploy is. A stray is an object of this owner that the files no "
     "longer have."},
    {"policy compare", "", 0, 0, policy_compare_options, comparing, CLI_DATABASE, false, policy_compare_run,
     "Let OPA and the embedded engine decide stored questions again, and show differences",
     "The questions are those of the newest audit rows with a decision. Both engines decide them by the policy of today, whatever "
     "it was then, so the verb needs OPA and the plan of that policy, which a save makes unless SVC_POLICY_ENGINE is opa. A "
     "question that the embedded engine leaves to OPA is no difference; it is counted with the reason. Nothing is issued or "
     "revoked. The exit status is 1 if an answer differs. The verb works on the database alone, not with --server."},
    {"policy data delete", "KEY", 1, 1, policy_data_delete_options, saving, CLI_ANYWHERE, false, policy_data_delete_run,
     "Delete a data row and publish the change",
     "Shipped rows cannot be deleted. Prints the revision of the bundle and its state, like `policy data set`."},
    {"policy data get", "KEY", 1, 1, NULL, database, CLI_ANYWHERE, false, policy_data_get_run,
     "Print the payload of a data row",
     "With --json the whole row is printed, with its payload as a string."},
    {"policy data list", "", 0, 0, NULL, database, CLI_ANYWHERE, false, policy_data_list_run,
     "List the data rows", NULL},
    {"policy data set", "KEY [FILE|-]", 1, 2, policy_data_set_options, saving, CLI_ANYWHERE, false, policy_data_set_run,
     "Save the payload of a data row and publish the change",
     "The payload is JSON from FILE or standard input. If it does not match the schema of the row, every failing path "
     "is printed and nothing is saved. Prints the revision of the bundle and `confirmed`, or `pending` if not every "
     "policy engine has reported the bundle active within SVC_BUNDLE_CONFIRM_TIMEOUT_MS; the payload is saved in both "
     "cases."},
    {"policy impact", "DIR|FILE", 1, 1, policy_impact_options, saving, CLI_ANYWHERE, false, policy_impact_run,
     "Measure what a directory, a rule or a data row would have decided on recorded questions",
     "DIR is read as by `bundle deploy`; FILE is a rule (--rule) or the payload of a data row (--data). Nothing is saved. Recorded questions are decided by the active policy and by the one "
     "with the change; printed are the decisions that would be newly denied, newly allowed, narrowed, widened or otherwise "
     "different, the clients, and examples with the ids of their audit rows. The exit status is 2 if a limit (--max-...) or a guard was "
     "passed, or could not be measured."},
    {"policy rule delete", "PATH", 1, 1, policy_rule_delete_options, saving, CLI_ANYWHERE, false, policy_rule_delete_run,
     "Delete a rule, unless the policy engine refuses the remaining rules",
     "Shipped rules cannot be deleted."},
    {"policy rule get", "PATH", 1, 1, NULL, database, CLI_ANYWHERE, false, policy_rule_get_run,
     "Print the text of a rule",
     "With --json the whole row of the rule is printed."},
    {"policy rule list", "", 0, 0, NULL, database, CLI_ANYWHERE, false, policy_rule_list_run,
     "List the rules, including shipped ones", NULL},
    {"policy rule set", "PATH [FILE|-]", 1, 2, policy_rule_set_options, saving, CLI_ANYWHERE, false, policy_rule_set_run,
     "Save a rule, unless the policy engine refuses it",
     "The text comes from FILE or standard input; PATH ends in .rego or .cedar. The rule is enabled unless --disabled is "
     "given. As by `bundle deploy`, the program of the policy engine first compiles it with the other rules and checks it against "
     "the schemas of the input documents; if it is not found, this is printed and left out. " PRINTS_ACTIVATION},
    {"policy shadow drop", "", 0, 0, policy_shadow_drop_options, verbs_asking, CLI_ANYWHERE, false, policy_shadow_drop_run,
     "End the shadow of the policy",
     "What it would have decided can be read until SVC_IMPACT_KEEP_DAYS are over."},
    {"policy shadow promote", "", 0, 0, policy_shadow_promote_options, saving, CLI_ANYWHERE, false, policy_shadow_promote_run,
     "Deploy the change of the shadow, and end the shadow",
     "The change is refused unless the revision that the shadow was compared with is active. Limits (--max-...) measure it on "
     "recorded decisions first, and the exit status is 2 if one was passed. " PRINTS_ACTIVATION},
    {"policy shadow set", "DIR", 1, 1, policy_shadow_set_options, saving, CLI_ANYWHERE, false, policy_shadow_set_run,
     "Compare live decisions with what the rules and data rows in a directory would decide",
     "DIR is read as by `bundle deploy`, and its rules and rows are checked as by it. The shadow decides nothing: after an answer "
     "is sent, a share of the decisions is put to it, and the differences are counted. There is one shadow at a time. Processes of "
     "`authz.fcgi --workers` compare, on every host; the service needs SVC_OPA_BINARY."},
    {"policy shadow status", "", 0, 0, NULL, verbs_asking, CLI_ANYWHERE, false, policy_shadow_status_run,
     "Show the shadow of the policy, or the last one, with what it would have decided",
     "The counts are those of `policy impact`. moved are decisions by another revision than the shadow is made of; dropped are "
     "those that were not compared, because too many came at once."},
    {"policy test", "DIR", 1, 1, policy_test_options, NULL, CLI_FILES, false, policy_test_run,
     "Run the tests in a directory with the program of the policy engine",
     "DIR has the layout of `bundle deploy`. The shipped rules and data rows are loaded too, so a test can query "
     "data.svc.decision.issue.result with an input. Rows of DIR replace shipped rows and must match their schemas. "
     "Disabled rules and their tests are skipped. Before the tests run, the rules are compiled and checked against the "
     "schemas of the input documents: a rule that reads a member which no input has is refused. The verb "
     "needs no database and only the setting SVC_DATA_DIR; the engine does not see any settings."},
    {"report", "", 0, 0, report_options, verbs_asking, CLI_ANYWHERE, false, report_run,
     "Report what policy decided in a period, by client, endpoint and reason",
     "Without --from and --to the period is the last 30 days. With --json the report has the numbers of each day too."},
    {"secrets reseal", "", 0, 0, NULL, resealing, CLI_DATABASE, false, secrets_reseal_run,
     "Seal stored secrets with SVC_CREDENTIAL_KEY that SVC_CREDENTIAL_KEY_PREVIOUS sealed",
     "The step between two restarts when the credential key is changed (doc/runbook.md). The service can go on meanwhile, and the verb "
     "can be run again. RESEALED are the secrets that have the new key now, CHANGED those that were replaced meanwhile. The exit status is 1 if "
     "a secret opens with neither key; it stays as it is then."},
    {"serve", "SERVER", 1, 1, serve_options, NULL, CLI_FILES, false, serve_run,
     "Run the service and its web server together, as the first process of a container",
     "SERVER is lighttpd or apache; it gets none of the settings. SIGTERM stops the web server, which finishes its requests, and then the "
     "service. If one of them ends by itself, the other is stopped too, and the exit status is that of the first, or 1; 78 means that a "
     "setting is wrong. On a host with systemd use its units."},
    {"setup", "", 0, 0, setup_options, NULL, CLI_HOST, false, setup_run,
     "Configure this host: settings, keys, database, policy, engine and web server",
     "Run it as root after you installed the packages. It asks for what the options do not say if standard input is a "
     "terminal. Each step keeps what exists and adds what is missing, so it can be run again at any time, and after "
     "each upgrade. It never changes a setting or a key in authz.conf."},
    {"token introspect", "[FILE|-]", 0, 1, NULL, verbs_asking, CLI_ANYWHERE, false, token_introspect_run,
     "Print the facts of a token: client, subject, scopes, times, and why it is not live",
     "The token comes from FILE or standard input, because other users of the host can read a command line. Policy is not "
     "asked, because it decides for a caller; `audit replay` asks it. Each look leaves an audit row."},
    {"token revoke", "[FILE|-]", 0, 1, token_revoke_options, verbs_asking, CLI_ANYWHERE, false, token_revoke_run,
     "Revoke a token, a refresh token with all of its sign-in, or all tokens of a person or a client",
     "The token comes from FILE or standard input. `revoked` says if this run ended it. With --subject or --client all access "
     "tokens, refresh tokens and codes that exist are revoked at once, and later ones are not. The browser sessions of a "
     "person stay: `authzctl session end` ends them, and `authzctl client update --disable` stops a client."},
    {"unentitle", "CLIENT", 1, 1, unentitle_options, verbs_entitling, CLI_ANYWHERE, false, unentitle_run,
     "Remove rights from the binding of a client and publish the change",
     "Rights that the client has by the kind of its registration or its software stay. Tokens that were issued lose the "
     "right at their next introspection."},
};
/* clang-format on */

static int
by_words(const void *a, const void *b)
{
    return strcmp(((const struct cli_verb *) a)->words, ((const struct cli_verb *) b)->words);
}

const struct cli_verb *
cli_verbs(TALLOC_CTX *mem)
{
    const size_t own = sizeof(own_verbs) / sizeof(own_verbs[0]);
    size_t count = own;
    while (admin_verb_at(count - own) != NULL)
        count++;
    struct cli_verb *all = talloc_zero_array(mem, struct cli_verb, count + 1);
    if (all == NULL)
        return NULL;
    memcpy(all, own_verbs, sizeof(own_verbs));
    for (size_t i = own; i < count; i++)
        all[i] = *admin_verb_at(i - own);
    qsort(all, count, sizeof(*all), by_words);
    return all;
}
