/* Verbs of connectors, managed resources and connected accounts: what each verb asks for, how its
 * options become members, and what it prints. */
#include "config.h"

#include "cli/admin/admin.h"
#include "cli/lib/limits.h"
#include "cli/verbs.h"

#define AT(member) offsetof(struct cli_choices, member)
#define API "/admin/api/"

/* clang-format off */

/* ---- connectors */

static const struct cli_option connector_install_options[] = {
    {"create", 0, NULL, AT(create), false, "Create the managed resource of the connector as well"},
    {"file", 0, "FILE", AT(file), false,
     "Take members, such as settings, from the JSON object in FILE, or - for standard input"},
    LIMITS_IMPACT_OPTION,
    LIMITS_OPTIONS,
    {"name", 0, "NAME", AT(name), false,
     "Name of the managed resource; the id of the connector if it is left out"},
    LIMITS_OVERRIDE_OPTION,
    LIMITS_SINCE_OPTION,
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct cli_option connector_uninstall_options[] = {LIMITS_IMPACT_OPTION,
                                                                LIMITS_OPTIONS,
                                                                LIMITS_OVERRIDE_OPTION,
                                                                LIMITS_SINCE_OPTION, CLI_YES,
                                                                {NULL, 0, NULL, 0, false, NULL}};
static const struct admin_member connector_members[] = {
    {AT(create), "createResources", ADMIN_TRUE},
    {AT(name),   "name",            ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct output_column connector_columns[] = {
    {"id",        "CONNECTOR"},
    {"version",   "VERSION"},
    {"category",  "CATEGORY"},
    {"installed", "INSTALLED"},
    {"name",      "NAME"},
    {NULL, NULL},
};
#define NO_CONNECTOR "is not a connector; see `authzctl connector available`"
#define NOT_INSTALLED "is not an installed connector; see `authzctl connector list`"

/* ---- managed resources */

#define RESOURCE_OPTIONS \
    {"default-scope", 0, "SCOPE", AT(default_scope), false, \
     "Scope of routes and tools that name none"}, \
    {"disable", 0, NULL, AT(disable), false, "Answer requests with 404 and hide the tools"}, \
    {"enable", 0, NULL, AT(enable), false, "Serve the resource"}, \
    {"file", 0, "FILE", AT(file), false, \
     "Take members, such as routes and upstreamAuth, from the JSON object in FILE, or - for " \
     "standard input"}, \
    {"name", 0, "NAME", AT(name), false, "Name that people see"}, \
    {"type", 0, "TYPE", AT(type), false, "Upstream: REST, MCP or STATIC"}, \
    {"url", 0, "URL", AT(url), false, "Address of the upstream"}, \
    {NULL, 0, NULL, 0, false, NULL}

static const struct cli_option resource_create_options[] = {RESOURCE_OPTIONS};
static const struct cli_option resource_update_options[] = {RESOURCE_OPTIONS};
static const struct cli_option resource_delete_options[] = {CLI_YES,
                                                            {NULL, 0, NULL, 0, false, NULL}};

static const struct cli_option resource_approve_options[] = {
    {"pin", 0, "HASH", AT(pin), false, "Approve nothing but the description with this hash"},
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct cli_option resource_sync_options[] = {
    {"idp", 0, "IDP", AT(idp), false, "Identity provider of the person"},
    {"subject", 0, "SUBJECT", AT(subject), false,
     "Person whose linked account is used, for upstreams that know people alone"},
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct admin_member approval_members[] = {
    {AT(pin), "sha256", ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct admin_member sync_members[] = {
    {AT(idp),     "idp",     ADMIN_TEXT},
    {AT(subject), "subject", ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};

static const struct admin_member resource_members[] = {
    {AT(default_scope), "defaultScope", ADMIN_TEXT},
    {AT(disable),       "enabled",      ADMIN_FALSE},
    {AT(enable),        "enabled",      ADMIN_TRUE},
    {AT(name),          "displayName",  ADMIN_TEXT},
    {AT(type),          "upstreamType", ADMIN_TEXT},
    {AT(url),           "upstreamUrl",  ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct output_column resource_columns[] = {
    {"name",         "RESOURCE"},
    {"upstreamType", "TYPE"},
    {"status",       "STATUS"},
    {"upstreamUrl",  "UPSTREAM"},
    {"statusReason", "REASON"},
    {NULL, NULL},
};
#define NO_RESOURCE "is not a managed resource; see `authzctl resource list`"

/* ---- accounts that people connected to managed resources */

static const struct cli_option resource_disconnect_options[] = {
    {"subject", 0, "SUBJECT", AT(subject), false, "Person whose account is disconnected"},
    CLI_YES,
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct admin_member disconnect_members[] = {
    {AT(subject), "subject", ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct output_column prompt_columns[] = {
    {"name",   "PROMPT"},
    {"title",  "TITLE"},
    {"status", "DESCRIPTION"},
    {"sha256", "PIN"},
    {"seenAt", "SEEN"},
    {NULL, NULL},
};

static const struct output_column connection_columns[] = {
    {"subject",     "SUBJECT"},
    {"idpId",       "IDP"},
    {"status",      "STATUS"},
    {"account",     "ACCOUNT"},
    {"connectedAt", "CONNECTED"},
    {"lastUsedAt",  "LAST USED"},
    {"lastError",   "ERROR"},
    {NULL, NULL},
};

const struct admin_verb gateway_verbs[] = {
    {ADMIN_VERB("connector available", "", 0, NULL, verbs_asking,
                "List the connectors of the catalogue",
                "A manifest that is refused is missing here; the log of the service says why."),
     .method = "GET", .path = API "connectors/available", .columns = connector_columns},
    {ADMIN_VERB("connector install", "CONNECTOR", 1, connector_install_options, cli_needs_all,
                "Install a connector and print it",
                "With --create its managed resource is made too, from the member settings of "
                "--file; secrets among them are stored with the resource alone. If the connector "
                "is installed already, nothing is changed."),
     .method = "POST", .path = API "connectors/{}/install", .members = connector_members,
     .missing = NO_CONNECTOR},
    {ADMIN_VERB("connector list", "", 0, NULL, verbs_asking,
                "List the installed connectors", NULL),
     .method = "GET", .path = API "connectors", .columns = connector_columns},
    {ADMIN_VERB("connector show", "CONNECTOR", 1, NULL, verbs_asking,
                "Print a connector and its manifest", NULL),
     .method = "GET", .path = API "connectors/{}", .missing = NO_CONNECTOR},
    {ADMIN_VERB("connector uninstall", "CONNECTOR", 1, connector_uninstall_options, cli_needs_all,
                "Uninstall a connector that nothing uses", NULL),
     .method = "DELETE", .path = API "connectors/{}", .done = "was uninstalled",
     .missing = NOT_INSTALLED},
    {ADMIN_VERB("resource approve", "RESOURCE TOOL", 2, resource_approve_options, cli_needs_all,
                "Approve a tool that the upstream of an MCP resource added or changed",
                "`authzctl resource show` prints the description that waits for approval, and its "
                "hash (pin). With --pin nothing is approved if the upstream has changed the "
                "description since."),
     .method = "POST", .path = API "managed-resources/{}/tools/{}/approve",
     .members = approval_members, .done = "has the tool approved",
     .missing = "has no such tool; see `authzctl resource show`"},
    {ADMIN_VERB("resource approve-instructions", "RESOURCE", 1, resource_approve_options,
                cli_needs_all,
                "Approve the instructions that the upstream of an MCP resource gave last",
                "`authzctl resource instructions` prints the text with its hash (pin). With --pin "
                "nothing is approved if the upstream has changed it since."),
     .method = "POST", .path = API "managed-resources/{}/instructions/approve",
     .members = approval_members, .done = "has its instructions approved",
     .missing = "has no stored instructions; see `authzctl resource sync`"},
    {ADMIN_VERB("resource approve-prompt", "RESOURCE PROMPT", 2, resource_approve_options,
                cli_needs_all,
                "Approve a prompt that the upstream of an MCP resource added or changed",
                "`authzctl resource prompts` prints the prompts with their hashes (pin), and with "
                "--json their descriptions. With --pin nothing is approved if the upstream has "
                "changed the description since."),
     .method = "POST", .path = API "managed-resources/{}/prompts/{}/approve",
     .members = approval_members, .done = "has the prompt approved",
     .missing = "has no such prompt; see `authzctl resource prompts`"},
    {ADMIN_VERB("resource connections", "RESOURCE", 1, NULL, verbs_asking,
                "List the accounts that people connected to a managed resource, at most "
                  "1000", NULL),
     .method = "GET", .path = API "managed-resources/{}/connections", .columns = connection_columns,
     .missing = NO_RESOURCE},
    {ADMIN_VERB("resource create", "RESOURCE", 1, resource_create_options, cli_needs_all,
                "Create a managed resource of the gateway and print it",
                "Its paths begin with /gateway/RESOURCE. Secrets of upstreamAuth are members of "
                "--file, because other users of the host can read a command line; they cannot be "
                "read back."),
     .method = "POST", .path = API "managed-resources", .key = "name", .members = resource_members},
    {ADMIN_VERB("resource delete", "RESOURCE", 1, resource_delete_options, cli_needs_all,
                "Delete a managed resource", NULL),
     .method = "DELETE", .path = API "managed-resources/{}", .done = "was deleted",
     .missing = NO_RESOURCE},
    {ADMIN_VERB("resource disconnect", "RESOURCE", 1, resource_disconnect_options, cli_needs_all,
                "Disconnect the account of a person from a managed resource",
                "The stored tokens are deleted, and the person is asked to connect the account at "
                "the next call that needs it. They are not revoked at the upstream: the person can "
                "do that there."),
     .method = "DELETE", .path = API "managed-resources/{}/connections",
     .members = disconnect_members, .done = "was disconnected",
     .missing = "has no such connection; see `authzctl resource connections`"},
    {ADMIN_VERB("resource instructions", "RESOURCE", 1, NULL, verbs_asking,
                "Print the stored instructions of an MCP resource, which models read", NULL),
     .method = "GET", .path = API "managed-resources/{}/instructions",
     .missing = "has no stored instructions; see `authzctl resource sync`"},
    {ADMIN_VERB("resource list", "", 0, NULL, verbs_asking,
                "List the managed resources and their states", NULL),
     .method = "GET", .path = API "managed-resources", .columns = resource_columns},
    {ADMIN_VERB("resource probe", "RESOURCE", 1, NULL, cli_needs_all,
                "Request the upstream of a managed resource once and print the outcome",
                "The request has no credential. Any answer below the status 500 counts as good, "
                  "and the outcome stays as lastProbe."),
     .method = "POST", .path = API "managed-resources/{}/probe", .missing = NO_RESOURCE},
    {ADMIN_VERB("resource prompts", "RESOURCE", 1, NULL, verbs_asking,
                "List the stored prompts of an MCP resource", NULL),
     .method = "GET", .path = API "managed-resources/{}/prompts", .columns = prompt_columns,
     .missing = NO_RESOURCE},
    {ADMIN_VERB_RUN("resource show", "RESOURCE", 1, NULL, verbs_asking, resource_show_run,
                "Print a managed resource, without its secrets",
                "Routes and tools are tables, and of a tool that waits for approval what is new is "
                  "printed, against the text that was approved. With --json all members are "
                  "printed."),
     .method = "GET", .path = API "managed-resources/{}", .missing = NO_RESOURCE},
    {ADMIN_VERB("resource sync", "RESOURCE", 1, resource_sync_options, cli_needs_all,
                "Read the tools of the upstream of an MCP resource and print what changed",
                "The first sync approves the tools that it finds. Later ones that are new or "
                "changed wait for `authzctl resource approve`, unless toolPinning is warn."),
     .method = "POST", .path = API "managed-resources/{}/sync", .members = sync_members,
     .missing = NO_RESOURCE},
    {ADMIN_VERB("resource update", "RESOURCE", 1, resource_update_options, cli_needs_all,
                "Change members of a managed resource and print it",
                "Members that neither an option nor --file names stay as they are, and so do its "
                "secrets; null clears one. If another administrator changes the resource "
                "meanwhile, nothing is changed."),
     .method = "PUT", .path = API "managed-resources/{}", .key = "name",
     .members = resource_members, .missing = NO_RESOURCE},
    {.verb = {.words = NULL}},
};
/* clang-format on */
