/* --help at every level and the manual page, both from the table of verbs. */
#ifndef AZ_CLI_HELP_H
#define AZ_CLI_HELP_H

#include <stdio.h>

#include "cli.h"

/* Help on all (path ""), a noun or a verb. */
void help_print(FILE *out, const char *path);

/* The synopsis of a verb without the program's name: `policy data set [--patch] KEY [FILE|-]`. */
char *help_synopsis(TALLOC_CTX *mem, const struct cli_verb *verb);

/* The words that may stand before a verb of several: "policy data" of "policy data set". */
char *help_noun(TALLOC_CTX *mem, const struct cli_verb *verb);

/* authzctl(8) in roff. */
void man_print(FILE *out);

#endif
