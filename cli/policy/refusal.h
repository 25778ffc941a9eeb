/* Print why a save of rules or data rows was refused: the engine's message beside the line that it
 * names. */
#ifndef AZ_CLI_POLICY_REFUSAL_H
#define AZ_CLI_POLICY_REFUSAL_H

#include "cli/lib/cli.h"
#include "policy/save/deploy/deploy.h"

/* The content of a save, and the names of its files. */
struct refusal_source {
    const struct deploy *deploy; /* rules and rows of the save */
    const char *dir;             /* directory of their files; NULL: not from a directory */
    const char *data_file; /* without dir: file of the only data row, NULL: rows in the database */
    const char *file;      /* without dir: file of the only rule; NULL: rules in the database */
};

/* Find the `PATH:ROW` of one of these rules that a message of the engine names. False if it names
 * none. */
bool refusal_find(const char *message, const struct deploy *deploy, size_t *ret_rule,
                  size_t *ret_row);

/* Return the rule path that a message `PATH:ROW...` begins with, for a rule that is not part of the
 * save. On mem; NULL if the message does not begin with one. */
char *refusal_stored(TALLOC_CTX *mem, const char *message, size_t *ret_row);

/* Return line *row (counted from 1) of a text. Past the end, return the last line and set *row to
 * its number: there an engine reports a text that stops too early. NULL for an empty text. */
const char *refusal_line(const char *text, size_t *row, size_t *ret_length);

/* Print the schema failures of the data row `key`, one line for each path; `file` names the
 * payload. Returns CLI_FAILED. */
int refusal_failures(const struct cli *cli, const char *file, const char *key, json_t *failures);

/* Print the reason for a refused save; returns the exit status. */
int refusal_print(struct cli *cli, enum az_status st, const struct deploy_result *result,
                  const struct refusal_source *source);

#endif
