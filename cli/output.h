/* Text and JSON on standard output, errors on standard error. */
#ifndef AZ_CLI_OUTPUT_H
#define AZ_CLI_OUTPUT_H

#include <jansson.h>

#include "cli.h"

/* A column of a table: member of each row, and its heading. */
struct output_column {
    const char *member;
    const char *heading;
};

/* A progress line; nothing with --quiet or --json. */
void output_line(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One JSON document. */
void output_json(const json_t *value);

/* A JSON string; a text that is not UTF-8 (a path may be) shows its odd octets as '?'. New
 * reference. */
json_t *output_string(const char *text);

/* An array of objects: aligned columns, or the array with --json. Columns end with one without
 * member. */
void output_rows(const struct cli *cli, const json_t *rows, const struct output_column *columns);

/* `authzctl: WHAT: WHY; WHAT TO DO` on standard error, as one line without control characters. */
void output_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line of a file on standard error, with its number and, under it, the file's name. */
void output_source(size_t number, const char *line, size_t length, const char *file);

/* Text of several lines on standard output, as it is but for control characters; ends its last
 * line. */
void output_text(const char *text);

/* Prints what cli->op failed with, and what to do about it; returns the exit status for it. */
int output_fault(const struct cli *cli);

/* The exit status of an outcome. */
enum cli_exit output_exit(enum az_status status);

/* A failure as text: why, and what to do. On cli->mem. */
const char *output_reason(const struct cli *cli, const struct az_fault *fault);

/* Everything printed has arrived; false (with an error printed) when the output is full or closed.
 */
bool output_flush(void);

#endif
