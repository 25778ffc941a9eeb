/* What verbs and the check of the configuration share about settings. */
#ifndef AZ_CLI_RUN_H
#define AZ_CLI_RUN_H

#include <stdbool.h>
#include <talloc.h>

/* The problem line when db_url_fault() finds one. libpq's own would quote a piece of the value,
 * maybe of the password. */
extern const char run_database_url_problem[];

/*
 * Whether a problem line counts for a verb that needs these settings. `NAME: why` and `FILE:LINE:
 * NAME: why` count when NAME is needed. Any other (unreadable file, unknown name, no NAME=VALUE
 * line) always counts: it may hide the setting that is needed.
 */
bool run_problem_counts(const char *line, const char *const *needs);

#endif
