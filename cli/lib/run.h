/* Settings, as verbs and `config check` share them. */
#ifndef AZ_CLI_LIB_RUN_H
#define AZ_CLI_LIB_RUN_H

#include <stdbool.h>
#include <talloc.h>

struct az;
struct cli_choices;
struct cli_verb;

/* Problem line for a database_url that db_url_fault() refuses. libpq's own message would quote part
 * of the value, possibly of the password. */
extern const char run_database_url_problem[];

/* True if the line is `NAME: why` or `FILE:LINE: NAME: why`; a path in it may hold any text. */
bool run_problem_names(const char *line, const char *name);

/*
 * True if a problem line matters to a verb that needs these settings. `NAME: why` and `FILE:LINE:
 * NAME: why` matter when NAME is needed. Any other line (unreadable file, unknown name, no
 * NAME=VALUE line) always does: it may hide a setting that is needed.
 */
bool run_problem_counts(const char *line, const char *const *needs);

/*
 * Return what the verb would do that cannot be undone, as its help says it; NULL: it can be undone,
 * or nothing is lost. A verb that has CLI_YES cannot be undone, and one that has --prune or
 * --replace too only with that option.
 */
const char *run_ends(const struct cli_verb *verb, const struct cli_choices *choice);

/* As root, connect to the database under the account of the service, which has a role there. */
void run_as_service(struct az *az);

#endif
