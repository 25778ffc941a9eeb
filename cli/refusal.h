/* What is printed when a save of rules or a deploy was refused: the engine's words beside the line
 * they speak of. */
#ifndef AZ_CLI_REFUSAL_H
#define AZ_CLI_REFUSAL_H

#include "cli.h"
#include "policy/save/deploy.h"

/* What was to be saved, and what its files are called. */
struct refusal_source {
    const struct deploy *deploy; /* rules and rows in question */
    const char *dir;             /* they are files of this directory; NULL: they are not */
    const char *file;            /* without dir: the file of the one rule, NULL: stored rules */
};

/* Where an engine's message points: "PATH:ROW" of one of these rules. False when it names none. */
bool refusal_find(const char *message, const struct deploy *deploy, size_t *ret_rule,
                  size_t *ret_row);

/* The path that a message begins with, `PATH:ROW...`: a rule's that is none of those given. On mem;
 * NULL when it begins with none. */
char *refusal_stored(TALLOC_CTX *mem, const char *message, size_t *ret_row);

/* Line *row of a text, counted from 1; past its end the last one, whose number *row becomes: there
 * an engine sees a text that stops too early. NULL for an empty text. */
const char *refusal_line(const char *text, size_t *row, size_t *ret_length);

/* The 422 body of a refused save (specification 7.2); on cli->mem. */
json_t *refusal_body(const struct cli *cli, const struct save_refusal *refusal);

/* Prints why; returns the exit status. */
int refusal_print(struct cli *cli, enum az_status st, const struct deploy_result *result,
                  const struct refusal_source *source);

#endif
