/* authzctl: read the command line and run the verb that it names. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "cli/help.h"
#include "cli/lib/cli.h"
#include "cli/lib/output.h"

int
main(int argc, char **argv)
{
    struct cli cli = {.mem = talloc_new(NULL)};
    prctl(PR_SET_DUMPABLE, 0); /* a core dump would hold keys */
    cli.verbs = cli_verbs(cli.mem);
    if (cli.verbs == NULL) {
        output_error("out of memory");
        return CLI_FAILED;
    }
    int status = cli_parse(&cli, argc, argv);
    if (status == CLI_OK && cli.choice.config != NULL
        && setenv("SVC_CONFIG", cli.choice.config, 1) != 0)
        status = CLI_FAILED;
    if (status == CLI_OK && cli.choice.help)
        help_print(stdout, &cli);
    else if (status == CLI_OK && cli.choice.version)
        puts("authzctl " PACKAGE_VERSION);
    else if (status == CLI_OK)
        status = cli_run(&cli);
    if (!output_flush() && status == CLI_OK)
        status = CLI_FAILED;
    talloc_free(cli.mem);
    return status;
}
