/* --help at every level, made from the table of verbs. */
#ifndef AZ_CLI_HELP_H
#define AZ_CLI_HELP_H

#include <stdio.h>

#include "cli/lib/cli.h"

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

/* Return the sentence that says where a verb works; NULL: with --server too. */
const char *help_place(const struct cli_verb *verb);

/* Return an option as help and manual print it: `-q, --quiet` or `--config FILE`. */
char *help_option(TALLOC_CTX *mem, const struct cli_option *option);

/* Return type, limits, default and alias of a setting in one line. `fallback` is the default to
 * name, or NULL. */
char *help_setting(TALLOC_CTX *mem, const struct setting *row, const char *fallback);

/* Names of the types of settings. */
extern const char *const help_setting_types[];

/* True if a setting has a smallest and a largest value. */
bool help_setting_has_limits(const struct setting *row);

/* Return the noun of a verb: "policy data" of "policy data set". */
char *help_noun(TALLOC_CTX *mem, const struct cli_verb *verb);

#endif
