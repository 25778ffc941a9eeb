/* Print text and JSON on standard output, errors on standard error. */
#ifndef AZ_CLI_LIB_OUTPUT_H
#define AZ_CLI_LIB_OUTPUT_H

#include <jansson.h>

#include "cli/lib/cli.h"

/* A column of a table; one without member ends a list of columns. */
struct output_column {
    const char *member;  /* name of the JSON member */
    const char *heading; /* first line of the column */
};

/* Print a progress line, unless --quiet or --json is set. */
void output_line(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Begin a part of a report for people: an empty line and a heading, unless --quiet or --json is
 * set. NULL (memory ran out) prints the line alone. */
void output_heading(const struct cli *cli, const char *heading);

/* Print one JSON document. NULL (memory ran out while it was made) makes output_flush() fail. */
void output_json(const json_t *value);

/* Return a JSON string (new reference). In a text that is not UTF-8, such as a path, octets above
 * 0x7f become '?'. */
json_t *output_string(const char *text);

/* Print an array of objects as aligned columns, or as it is with --json. */
void output_rows(const struct cli *cli, const json_t *rows, const struct output_column *columns);

/* Print the cells of one object in a line, with two blanks between them, without --json. */
void output_values(const struct cli *cli, const json_t *row, const struct output_column *columns);

/* Print one JSON document in one line. */
void output_json_line(const json_t *value);

/* Print `authzctl: SUBJECT: PROBLEM; REMEDY` on standard error, as one line without control
 * characters. */
void output_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print a line of a file on standard error, with its number and the name of the file below it. */
void output_source(size_t number, const char *line, size_t length, const char *file);

/*
 * Print on standard output as printf() does, with '?' for what put_clean() does not write, such as
 * an escape sequence; tabs and line feeds stay. Every text of a server, of the database or of a
 * file goes through this, output_content() or the functions above, so that none reaches a terminal
 * raw.
 */
void output_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print a text as it is, so that it can go into a file; on a terminal as output_print() does. */
void output_content(const char *text);

/* The same for octets that come in pieces; on a terminal what is not ASCII becomes '?'. False if
 * they cannot be written, with errno. */
bool output_octets(const void *octets, size_t length);

/* Print a text of several lines on standard output; control characters become '?'. */
void output_text(const char *text);

/* Print the failure of cli->op and its remedy; returns the exit status. */
int output_fault(const struct cli *cli);

/* Return the exit status of an outcome. */
enum cli_exit output_exit(enum az_status status);

/* Return a failure as text: problem and remedy. On cli->mem. */
const char *output_reason(const struct cli *cli, const struct az_fault *fault);

/* Print that memory is exhausted; returns CLI_FAILED. */
int output_no_memory(const struct cli *cli);

/* True if everything printed was written; false, with the error printed, if the output is full or
 * closed. */
bool output_flush(void);

/* Return one failure of a schema as "PATH: message"; on mem. */
char *output_failure(TALLOC_CTX *mem, const json_t *failure);

#endif
