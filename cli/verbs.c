/* The table of verbs, sorted by words, which is also the order of --help and the manual. */
#include "config.h"

#include "cli/verbs.h"

/* The layout of a directory with a policy (cli/policy/bundle_dir.h). */
#define BUNDLE_DIR_LAYOUT                                                                          \
    "A file in DIR that ends in .rego or .cedar is a rule, and its path below DIR is the path of " \
    "the rule. A file that ends in _test.rego is a test and is not deployed. data/KEY.json is "    \
    "the payload of the data row KEY. The optional file bundle.json lists rules to keep out of "   \
    "the bundle: {\"disabled\": [PATH...]}. Hidden files are skipped, other files are listed as "  \
    "ignored, and symbolic links are refused."

#define DATABASE "SVC_DATABASE_URL"
/* The two secrets of the keyring. */
#define KEYRING "SVC_CREDENTIAL_KEY", "SVC_ADMIN_PEPPER"

static const char *const database[] = {DATABASE, NULL};
static const char *const migrations[] = {DATABASE, "SVC_DATA_DIR", NULL};
static const char *const describing[] = {"SVC_OIDC_ISSUER", NULL};
static const char *const minting[] = {DATABASE, KEYRING, "SVC_OIDC_ISSUER", NULL};
#define RETIREMENT "SVC_OIDC_KEY_RETIREMENT_SECONDS", "SVC_OIDC_STATEMENT_KEY_RETIREMENT_SECONDS"
static const char *const signing[] = {DATABASE, "SVC_OIDC_ISSUER", RETIREMENT, NULL};
static const char *const rotating[] = {
    DATABASE, KEYRING, "SVC_OIDC_ISSUER", "SVC_OIDC_JWKS_CACHE_SECONDS", RETIREMENT, NULL};
/* The dispatcher of the service reads these for every request. */
static const char *const asking[] = {DATABASE, "SVC_OIDC_ISSUER", NULL};
#define SAVING                                                                                     \
    DATABASE, "SVC_OPA_URL", "SVC_POLICY_TIMEOUT_MS", "SVC_BUNDLE_CONFIRM_ACTIVATION",             \
        "SVC_BUNDLE_CONFIRM_POLL_MS", "SVC_BUNDLE_FETCH_GRACE_MS",                                 \
        "SVC_POLICY_ALLOW_NETWORK_BUILTINS", "SVC_BUNDLE_CONFIRM_TIMEOUT_MS"
static const char *const saving[] = {SAVING, NULL};
static const char *const comparing[] = {DATABASE, "SVC_OPA_URL", "SVC_POLICY_TIMEOUT_MS", NULL};
static const char *const entitling[] = {SAVING, "SVC_OIDC_ISSUER", NULL};

/* End of the help of each verb that saves rules. */
#define PRINTS_ACTIVATION                                                                          \
    "Prints the revision of the new bundle and `confirmed` once every policy engine uses it. If "  \
    "an engine refuses "                                                                           \
    "it, nothing changes, and the engine's message is printed with the line that it names. With "  \
    "--server the verb does not "                                                                  \
    "tell which engines it waits for."

/* clang-format off */
const struct cli_verb cli_verbs[] = {
    {"admin-key list", "", 0, 0, NULL, asking, CLI_ANYWHERE, false, admin_run,
     "List the admin keys, including revoked ones",
     "The keys themselves are never shown."},
    {"admin-key mint", "", 0, 0, admin_key_mint_options, minting, CLI_ANYWHERE, false, admin_key_mint_run,
     "Create an admin key and print it",
     "Only the key goes to standard output; its id goes to standard error. The key cannot be shown again. To replace a "
     "lost key, mint another one and revoke the lost one."},
    {"admin-key revoke", "ID", 1, 1, admin_key_revoke_options, asking, CLI_ANYWHERE, false, admin_key_revoke_run,
     "Revoke an admin key immediately on all hosts",
     "The key of SVC_ADMIN_API_KEY cannot be revoked, because it is set in the configuration; nor can the last active "
     "key."},
    {"audit export", "", 0, 0, audit_export_options, asking, CLI_ANYWHERE, false, audit_export_run,
     "Print all audit rows of a period or of a filter",
     "At most SVC_AUDIT_EXPORT_MAX_ROWS rows; the export says if there were more. Rows are printed as they come. If the "
     "export breaks off, the exit status is not 0."},
    {"audit list", "", 0, 0, audit_list_options, asking, CLI_ANYWHERE, false, admin_run,
     "List audit rows, newest first",
     "With --json the page object of the admin API is printed, with whole rows."},
    {"audit replay", "ID", 1, 1, NULL, entitling, CLI_ANYWHERE, false, audit_replay_run,
     "Let the policy of today decide a stored question again, and show the changes",
     "ID is the id of an audit row with a decision. Nothing is issued or revoked."},
    {"audit show", "ID", 1, 1, NULL, asking, CLI_ANYWHERE, false, audit_show_run,
     "Print an audit row with the question to policy and its answer", NULL},
    {"audit tail", "", 0, 0, audit_tail_options, asking, CLI_ANYWHERE, false, audit_tail_run,
     "Print audit rows as they are written, until it is interrupted",
     "An absent value is -. With --json each row is one line."},
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
    {"cedar authorize", "", 0, 0, cedar_authorize_options, NULL, CLI_HOST, false, cedar_authorize_run,
     "Decide a request by policies in Cedar",
     "Prints the decision, the ids of the policies that made it, and the ids of those whose evaluation failed. The id of a "
     "policy is its annotation @id, or policy0, policy1 and so on. Entities and request have the format of Cedar's own "
     "tools. The service is not asked."},
    {"cedar compile", "FILE", 1, 1, NULL, NULL, CLI_HOST, false, cedar_compile_run,
     "Print the Rego that policies in Cedar are compiled to",
     "A comment before the rules of each policy has its line in FILE. What cannot be compiled exactly is refused with line "
     "and column."},
    {"cedar format", "FILE", 1, 1, NULL, NULL, CLI_HOST, false, cedar_format_run,
     "Print policies in Cedar as canonical text",
     "Comments are lost."},
    {"cedar test", "CASES [CASES] [CASES] [CASES]", 1, CLI_ARGUMENTS_MAX, cedar_test_options, NULL, CLI_HOST, false, cedar_test_run,
     "Run the cases of Cedar's integration tests",
     "CASES is a directory, or an archive that tar can read. A case in it is a JSON file that names its policies and "
     "entities and has requests with their answers. Each wrong answer is printed, and then how many cases passed, failed and were refused. Schemas are not "
     "read: an object with only the strings type and id is an entity if the case has a schema."},
    {"client create", "CLIENT", 1, 1, client_create_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Create a client and print it, with its secret if it has one",
     "The secret cannot be shown again. CLIENT has no rights until `authzctl entitle` gives it some. Options take "
     "precedence over --file, whose members are those of the admin API (ClientDto)."},
    {"client delete", "CLIENT", 1, 1, client_delete_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Delete a client and revoke its tokens", NULL},
    {"client list", "", 0, 0, NULL, asking, CLI_ANYWHERE, false, admin_run,
     "List the clients", NULL},
    {"client rotate-secret", "CLIENT", 1, 1, client_rotate_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Give a client a new secret and print it",
     "The secret cannot be shown again."},
    {"client show", "CLIENT", 1, 1, NULL, asking, CLI_ANYWHERE, false, admin_run,
     "Print a client, without its secret", NULL},
    {"client update", "CLIENT", 1, 1, client_update_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Change members of a client and print it",
     "Members that neither an option nor --file names stay as they are. An option that may be repeated replaces the whole "
     "list. If somebody else changes the client meanwhile, nothing is changed."},
    {"completion", "SHELL", 1, 1, NULL, NULL, CLI_HOST, false, completion_run,
     "Print the completion of commands and options for a shell",
     "SHELL is bash or zsh. `make install` installs both where the shells look for them."},
    {"config check", "", 0, 0, config_check_options, NULL, CLI_HOST, false, config_check_run,
     "Check the settings, the database, its schema and the policy engine",
     "Prints one line per problem, naming the variable or FILE:LINE. The exit status is 78 if the service would refuse "
     "a setting, and 69 if the database or the policy engine does not answer."},
    {"config doc", "", 0, 0, NULL, NULL, CLI_HOST, false, config_doc_run,
     "Describe every setting with its type, default and limits", NULL},
    {"config show", "", 0, 0, NULL, NULL, CLI_HOST, false, config_show_run,
     "Show the value and the origin of every setting",
     "Secrets are masked. The origin is default, environment, FILE:LINE, unset, or development (the public values that "
     "SVC_ALLOW_INSECURE_DEV_KEY enables)."},
    {"connector available", "", 0, 0, NULL, asking, CLI_ANYWHERE, false, admin_run,
     "List the connectors of the catalogue", "A manifest that is refused is missing here; the log of the service says why."},
    {"connector install", "CONNECTOR", 1, 1, connector_install_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Install a connector and print it",
     "With --create its managed resource is made too, from the member settings of --file; secrets among them are stored with the "
     "resource alone. If the connector is installed already, nothing is changed."},
    {"connector list", "", 0, 0, NULL, asking, CLI_ANYWHERE, false, admin_run,
     "List the installed connectors", NULL},
    {"connector show", "CONNECTOR", 1, 1, NULL, asking, CLI_ANYWHERE, false, admin_run,
     "Print a connector and its manifest", NULL},
    {"connector sync", "CONNECTOR", 1, 1, connector_sync_options, cli_needs_all, CLI_ANYWHERE, false, connector_sync_run,
     "Take the routes and tools of a new manifest into the managed resources of a connector",
     "CONNECTOR is an id, or all for every installed connector. Routes and tools of your own stay, and what you switched off stays off. "
     "A connector of which a scope implies others than before is not changed without --force; the column WARNINGS says so."},
    {"connector uninstall", "CONNECTOR", 1, 1, connector_uninstall_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Uninstall a connector that nothing uses", NULL},
    {"consent forget", "ID", 1, 1, consent_forget_options, asking, CLI_ANYWHERE, false, admin_run,
     "Forget a consent, so that the user is asked again", NULL},
    {"consent list", "", 0, 0, consent_list_options, asking, CLI_ANYWHERE, false, admin_run,
     "List the consents that users gave, at most 1000", NULL},
    {"db migrate", "", 0, 0, NULL, cli_needs_all, CLI_HOST, false, db_migrate_run,
     "Create or upgrade the database schema and load the shipped policy",
     "Applies migrations, creates partitions and signing keys, registers the admin key of the configuration and loads "
     "the shipped policy. It can be run again at any time, even on several hosts at once, and does not change rows that "
     "exist."},
    {"db status", "", 0, 0, NULL, migrations, CLI_HOST, false, db_status_run,
     "Show which migrations are applied",
     "The exit status is 78 if the database does not have the schema of this program."},
    {"entitle", "CLIENT", 1, 1, entitle_options, entitling, CLI_ANYWHERE, false, entitle_run,
     "Add rights to the binding of a client and publish the change",
     "The binding is the member clients.CLIENT of the data row svc.entitlements.bindings; rights that it has stay. "
     "Several of these at once lose nothing. Prints the revision of the bundle and its state, like `policy data set`."},
    {"idp create", "IDP", 1, 1, idp_create_options, cli_needs_all, CLI_ANYWHERE, false, idp_create_run,
     "Create an identity provider and print it",
     "A provider whose issuer cannot be used is disabled, unless --enable says otherwise, and a warning says why. `home` says "
     "whether its people keep their sub as their name. IDP becomes part of the redirect URI to register at the provider: ISSUER/authorize/callback/IDP. The secret of this "
     "service at the provider is the member clientSecret of --file, because other users of the host can read a command line."},
    {"idp delete", "IDP", 1, 1, idp_delete_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Delete an identity provider", NULL},
    {"idp home", "[IDP]", 0, 1, idp_home_options, cli_needs_all, CLI_ANYWHERE, false, idp_home_run,
     "Show the home issuer, or make that of a provider the home issuer",
     "People of the home issuer keep their sub as their name (alice); those of other providers are IDP|SUB. The first sign-in "
     "stores the issuer of the oldest enabled provider, and the deletion of a provider changes nothing. A change renames nobody: "
     "new people of IDP get their sub, so that rules, rows and delegations that name a sub hold for them."},
    {"idp list", "", 0, 0, NULL, asking, CLI_ANYWHERE, false, admin_run,
     "List the identity providers", NULL},
    {"idp show", "IDP", 1, 1, NULL, asking, CLI_ANYWHERE, false, admin_run,
     "Print an identity provider, without its secret", NULL},
    {"idp update", "IDP", 1, 1, idp_update_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Change members of an identity provider and print it",
     "Members that neither an option nor --file names stay as they are, and so does the secret. If somebody else changes the "
     "provider meanwhile, nothing is changed."},
    {"keys list", "", 0, 0, NULL, signing, CLI_ANYWHERE, false, admin_run,
     "List the signing keys: next, active and retired",
     "The keys themselves are never shown. A retired key stays published until the time of the last column."},
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
    {"manual", "[PAGE]", 0, 1, NULL, NULL, CLI_HOST, true, manual_run,
     "Print a manual page", "PAGE is authzctl (the default) or authz.conf."},
    {"openapi", "", 0, 0, NULL, describing, CLI_HOST, false, openapi_run,
     "Print the description of the interface (OpenAPI 3.1.0)",
     "The service has the same document at /openapi.json, unless SVC_SWAGGER_ENABLED is false."},
    {"policy compare", "", 0, 0, policy_compare_options, comparing, CLI_DATABASE, false, policy_compare_run,
     "Let OPA and the embedded engine decide stored questions again, and show differences",
     "The questions are those of the newest audit rows with a decision. Both engines decide them by the policy of today, whatever "
     "it was then, so the verb needs OPA and the plan of that policy, which a save makes with SVC_POLICY_ENGINE=embedded. A "
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
     "given. " PRINTS_ACTIVATION},
    {"policy test", "DIR", 1, 1, policy_test_options, NULL, CLI_HOST, false, policy_test_run,
     "Run the tests in a directory with the program of the policy engine",
     "DIR has the layout of `bundle deploy`. The shipped rules and data rows are loaded too, so a test can query "
     "data.svc.decision.issue.result with an input. Rows of DIR replace shipped rows and must match their schemas. "
     "Disabled rules and their tests are skipped. Before the tests run, the rules are compiled and checked against the "
     "schemas of the input documents: a rule that reads a member which no input has is refused. The verb "
     "needs no database and only the setting SVC_DATA_DIR; the engine does not see any settings."},
    {"policy try", "PATH", 1, 1, policy_try_options, entitling, CLI_ANYWHERE, false, admin_run,
     "Evaluate a rule or value of the active policy with an input",
     "PATH is that of a Cedar rule, of an entrypoint as svc/decision/issue, or of any package and rule with slashes for dots. "
     "For a Cedar rule `result` lists the ids of the policies that the input satisfies and of those whose evaluation failed; its "
     "input may be a request as `cedar authorize` reads it, with its entities as the member `entities`. Nothing is issued."},
    {"report", "", 0, 0, report_options, asking, CLI_ANYWHERE, false, report_run,
     "Report what policy decided in a period, by client, endpoint and reason",
     "Without --from and --to the period is the last 30 days. With --json the report has the numbers of each day too."},
    {"resource approve", "RESOURCE TOOL", 2, 2, resource_approve_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Approve a tool that the upstream of an MCP resource added or changed",
     "`authzctl resource show` prints the description that waits for approval, and its hash (pin). With --pin nothing is "
     "approved if the upstream has changed the description since."},
    {"resource connections", "RESOURCE", 1, 1, NULL, asking, CLI_ANYWHERE, false, admin_run,
     "List the accounts that people connected to a managed resource, at most 1000", NULL},
    {"resource create", "RESOURCE", 1, 1, resource_create_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Create a managed resource of the gateway and print it",
     "Its paths begin with /gateway/RESOURCE. Secrets of upstreamAuth are members of --file, because other users of the host "
     "can read a command line; nobody can read them back."},
    {"resource delete", "RESOURCE", 1, 1, resource_delete_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Delete a managed resource", NULL},
    {"resource disconnect", "RESOURCE", 1, 1, resource_disconnect_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Disconnect the account of a person from a managed resource",
     "The stored tokens are deleted, and the person is asked to connect the account at the next call that needs it. They are "
     "not revoked at the upstream: the person can do that there."},
    {"resource list", "", 0, 0, NULL, asking, CLI_ANYWHERE, false, admin_run,
     "List the managed resources and their states", NULL},
    {"resource probe", "RESOURCE", 1, 1, NULL, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Request the upstream of a managed resource once and print the outcome",
     "The request has no credential. Any answer below the status 500 counts as good, and the outcome stays as lastProbe."},
    {"resource show", "RESOURCE", 1, 1, NULL, asking, CLI_ANYWHERE, false, admin_run,
     "Print a managed resource, without its secrets", NULL},
    {"resource sync", "RESOURCE", 1, 1, resource_sync_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Read the tools of the upstream of an MCP resource and print what changed",
     "The first sync approves the tools that it finds. Later ones that are new or changed wait for `authzctl resource "
     "approve`, unless toolPinning is warn."},
    {"resource update", "RESOURCE", 1, 1, resource_update_options, cli_needs_all, CLI_ANYWHERE, false, admin_run,
     "Change members of a managed resource and print it",
     "Members that neither an option nor --file names stay as they are, and so do its secrets; null clears one. If somebody "
     "else changes the resource meanwhile, nothing is changed."},
    {"session end", "SESSION", 1, 1, session_end_options, asking, CLI_ANYWHERE, false, admin_run,
     "End a browser session", NULL},
    {"session list", "", 0, 0, session_list_options, asking, CLI_ANYWHERE, false, admin_run,
     "List the browser sessions, at most 1000", NULL},
    {"setup", "", 0, 0, setup_options, NULL, CLI_HOST, false, setup_run,
     "Configure this host: settings, keys, database, policy, engine and web server",
     "Run it as root after you installed the packages. It asks for what the options do not say if standard input is a "
     "terminal. Each step keeps what exists and adds what is missing, so it can be run again at any time, and after "
     "each upgrade. It never changes a setting or a key in authz.conf."},
    {"token introspect", "[FILE|-]", 0, 1, NULL, asking, CLI_ANYWHERE, false, token_introspect_run,
     "Print the facts of a token: client, subject, scopes, times, and why it is not live",
     "The token comes from FILE or standard input, because other users of the host can read a command line. Policy is not "
     "asked, because it decides for a caller; `audit replay` asks it. Each look leaves an audit row."},
    {"token list", "", 0, 0, token_list_options, asking, CLI_ANYWHERE, false, admin_run,
     "List the live tokens, newest first",
     "The tokens themselves are never shown: ID is that of audit rows. With --json the "
     "page object of the admin API is printed; `last` is false if there are more."},
    {"token revoke", "[FILE|-]", 0, 1, token_revoke_options, asking, CLI_ANYWHERE, false, token_revoke_run,
     "Revoke a token, a refresh token with all of its sign-in, or all tokens of a person or a client",
     "The token comes from FILE or standard input. `revoked` says if this run ended it. With --subject or --client all access "
     "tokens, refresh tokens and codes that exist are revoked at once, and later ones are not. The browser sessions of a "
     "person stay: `authzctl session end` ends them, and `authzctl client update --disable` stops a client."},
    {"unentitle", "CLIENT", 1, 1, unentitle_options, entitling, CLI_ANYWHERE, false, unentitle_run,
     "Remove rights from the binding of a client and publish the change",
     "Rights that the client has by the kind of its registration or its software stay. Tokens that were issued lose the "
     "right at their next introspection."},
    {NULL, NULL, 0, 0, NULL, NULL, CLI_HOST, false, NULL, NULL, NULL},
};
/* clang-format on */
