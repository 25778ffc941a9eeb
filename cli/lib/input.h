/* Texts that verbs read: the FILE argument, and lists that the store returns as JSON. */
#ifndef AZ_CLI_LIB_INPUT_H
#define AZ_CLI_LIB_INPUT_H

#include <jansson.h>

#include "cli/lib/cli.h"
#include "cli/lib/output.h"

/* Return the name of the input in messages: argument 1 of the verb, or "standard input" if that is
 * missing or `-`. */
const char *input_name(const struct cli *cli);

/*
 * Read the input, 1 to max octets, NUL-terminated, on cli->mem. `limit` is max in words ("8 MiB").
 * NULL after the error has been printed; `expected` ends it ("give one JSON value").
 */
char *input_read(const struct cli *cli, size_t max, const char *limit, const char *expected,
                 size_t *ret_length);

/* Do the same for a named file; "-" is standard input. */
char *input_read_file(const struct cli *cli, const char *name, size_t max, const char *limit,
                      const char *expected, size_t *ret_length);

/* Parse a list or a row of the store; NULL is an error too. Borrowed from cli->mem. CLI_FAILED
 * after the error has been printed. */
int input_list(const struct cli *cli, const char *text, json_t **ret);

/* Parse the payload of a data row. CLI_FAILED after the error has been printed. */
int input_payload(const struct cli *cli, const char *text, json_t **ret);

/* Parse a row of the store and print it as JSON; returns the exit status. */
int input_row_print(const struct cli *cli, const char *text);

/* Parse a list of the store and print it as rows; returns the exit status. */
int input_list_print(const struct cli *cli, const char *text, const struct output_column *columns);

#endif
