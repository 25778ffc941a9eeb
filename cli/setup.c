/* setup: hand over to the script that configures this host with the programs of the host. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/lib/output.h"
#include "cli/verbs.h"

#define SETUP AUTHZ_LIBEXECDIR "/setup-host"

/* --yes does not mean here that something cannot be undone, so it is not a CLI_YES. */
/* clang-format off */
const struct cli_option setup_options[] = {
    {"database", 0,   "URL", offsetof(struct cli_choices, uri),      false,
     "Database (default postgresql:///authz, which is created on this host), or - to read the URL "
     "from standard input; a URL with a password is taken from there alone"},
    {"issuer",   0,   "URL", offsetof(struct cli_choices, issuer),   false,
     "Public URL of the service"},
    {"replace-sites", 0, NULL, offsetof(struct cli_choices, replace_sites), false,
     "Let authz answer all requests of a lighttpd that has other sites too"},
    {"start",    0,   NULL,  offsetof(struct cli_choices, start),    false,
     "Start the units and restart the web server, and wait until the service is ready"},
    {"web-server", 0, "URL", offsetof(struct cli_choices, web_server), false,
     "Web server as the policy engine on this host reaches it (default http://127.0.0.1)"},
    {"yes",      'y', NULL,  offsetof(struct cli_choices, defaults), false,
     "Do not ask; take the default of each option that is not given"},
    {NULL,       0,   NULL,  0,                                      false, NULL},
};
/* clang-format on */

/* Most words of the script's command line: its name, two per option, and NULL. */
#define WORDS_MAX (2 + 2 * sizeof(setup_options) / sizeof(setup_options[0]))

static size_t
add_option(const struct cli *cli, const struct cli_option *row, char **words, size_t count)
{
    const char *member = (const char *) &cli->choice + row->offset;
    char *value = row->argument != NULL ? *(char *const *) (const void *) member : NULL;
    if (row->argument != NULL ? value == NULL : !*(const bool *) member)
        return count;
    words[count++] = talloc_asprintf(cli->mem, "--%s", row->name);
    if (value != NULL)
        words[count++] = value;
    return count;
}

int
setup_run(struct cli *cli)
{
    char program[] = SETUP, *words[WORDS_MAX] = {program};
    size_t count = 1;
    for (const struct cli_option *row = setup_options; row->name != NULL; row++)
        count = add_option(cli, row, words, count);
    for (size_t i = 0; i < count; i++)
        if (words[i] == NULL)
            return CLI_FAILED;
    if (setenv("SVC_CONFIG", AUTHZ_CONF, 0) == 0 && setenv("AUTHZ_DATADIR", AUTHZ_DATADIR, 1) == 0
        && setenv("AUTHZ_BINDIR", AUTHZ_BINDIR, 1) == 0)
        execv(program, words);
    output_error("setup: %s cannot be run; install authz again", program);
    return CLI_FAILED;
}
