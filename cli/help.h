/* --help at every level, made from the table of verbs. */
#ifndef AZ_CLI_HELP_H
#define AZ_CLI_HELP_H

#include <stdio.h>

#include "cli.h"

/* One exit status and its meaning, for help and manual. */
struct help_exit {
    enum cli_exit status;
    const char *meaning; /* NULL ends the list */
};
extern const struct help_exit help_exits[];

/* Print the help of cli->path: the program (""), a noun or a verb. */
void help_print(FILE *out, const struct cli *cli);

/* Return the synopsis of a verb without the program's name: `policy data set [--patch] KEY
 * [FILE|-]`. */
char *help_synopsis(TALLOC_CTX *mem, const struct cli_verb *verb);

/* Return an option as help and manual print it: `-q, --quiet` or `--config FILE`. */
char *help_option(TALLOC_CTX *mem, const struct cli_option *option);

/* Return the noun of a verb: "policy data" of "policy data set". */
char *help_noun(TALLOC_CTX *mem, const struct cli_verb *verb);

#endif
