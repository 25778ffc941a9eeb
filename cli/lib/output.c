#include "config.h"

#include "cli/lib/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "cli/lib/json_text.h"

/* Spaces between columns. */
#define GAP 2

/* Most octets of a printed document: an answer of the API and its indentation have far fewer. */
#define OUTPUT_JSON_MAX ((size_t) 1 << 30)

/* A document could not be made or printed whole; output_flush() reports it. */
static bool output_lost;

/* Octets printed of a source line; a generated line may have half a megabyte. */
#define SOURCE_LINE_MAX 400

/*
 * Write a text with '?' for each character that shows nothing, and for octets that are none.
 * Labels, paths and error messages come from outside: an escape sequence in one of them must not
 * reach the terminal, and no character may reorder what is around it.
 */
static void
put_clean(FILE *out, const char *text)
{
    while (*text != '\0') {
        const char *at = text;
        if (visible_next(&text) > VISIBLE_SELECTOR)
            putc('?', out);
        else
            fwrite(at, 1, (size_t) (text - at), out);
    }
}

/* Write a JSON text with escapes (RFC 8259 7) for the characters for which put_clean() writes '?';
 * they are in its strings alone, but for line feeds. */
static void
put_escaped(const char *text)
{
    while (*text != '\0') {
        const char *at = text;
        unsigned point;
        if (*at == '\n' || visible_next(&text) <= VISIBLE_SELECTOR) {
            text = *at == '\n' ? at + 1 : text;
            fwrite(at, 1, (size_t) (text - at), stdout);
            continue;
        }
        utf8_step(at, &point);
        if (point >= 0x10000)
            printf("\\u%04x\\u%04x", 0xd800 + ((point - 0x10000) >> 10),
                   0xdc00 + ((point - 0x10000) & 0x3ff));
        else
            printf("\\u%04x", point);
    }
}

/* True if a terminal shows what is printed. */
static bool
is_shown(void)
{
    return isatty(STDOUT_FILENO) != 0;
}

void
output_line(const struct cli *cli, const char *format, ...)
{
    va_list args;
    if (cli->choice.quiet || cli->choice.json)
        return;
    va_start(args, format);
    char *line = talloc_vasprintf(cli->mem, format, args);
    va_end(args);
    put_clean(stdout, line != NULL ? line : "");
    putchar('\n');
}

void
output_heading(const struct cli *cli, const char *heading)
{
    output_line(cli, "%s", "");
    if (heading != NULL)
        output_line(cli, "%s", heading);
}

/* Print a value as JSON in one line, or with one member per line. Reals have the fewest digits that
 * identify them: Jansson prints 33.3 as 33.299999999999997. */
static void
put_json(const json_t *value, bool pretty)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *text = value != NULL && mem != NULL ? jsonx_dump(mem, value) : NULL;
    if (text != NULL && pretty)
        text = json_text_pretty(mem, text, OUTPUT_JSON_MAX);
    if (text == NULL)
        output_lost = true;
    else if (is_shown())
        put_escaped(text);
    else
        fputs(text, stdout);
    if (text == NULL || !pretty)
        putchar('\n');
    talloc_free(mem);
}

void
output_json(const json_t *value)
{
    put_json(value, true);
}

json_t *
output_string(const char *text)
{
    if (utf8_valid(text, strlen(text)))
        return json_string(text);
    char *copy = talloc_strdup(NULL, text);
    for (char *c = copy; c != NULL && *c != '\0'; c++)
        if ((unsigned char) *c >= 0x80)
            *c = '?';
    json_t *value = json_string(copy != NULL ? copy : "");
    talloc_free(copy);
    return value;
}

/* Return the text of a cell: numbers and booleans as in JSON, absent members and null as "". */
static char *
cell_text(TALLOC_CTX *mem, const json_t *row, const char *member)
{
    const json_t *value = json_object_get(row, member);
    if (json_is_string(value))
        return talloc_strdup(mem, json_string_value(value));
    if (value == NULL || json_is_null(value))
        return talloc_strdup(mem, "");
    char *text = jsonx_dump(mem, value);
    return text != NULL ? text : talloc_strdup(mem, "");
}

/* Return the width of a text on the screen: its code points. */
static int
text_width(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char) *text & 0xc0) != 0x80;
    return width;
}

static int
column_width(TALLOC_CTX *mem, const json_t *rows, const struct output_column *column)
{
    int width = text_width(column->heading);
    size_t i;
    json_t *row;
    json_array_foreach (rows, i, row) {
        int wide = text_width(cell_text(mem, row, column->member));
        width = wide > width ? wide : width;
    }
    return width;
}

/* Print a row, or the headings if row is NULL. The last column is not padded. */
static void
put_row(TALLOC_CTX *mem, const json_t *row, const struct output_column *columns, const int *width)
{
    for (size_t i = 0; columns[i].member != NULL; i++) {
        const char *text =
            row == NULL ? columns[i].heading : cell_text(mem, row, columns[i].member);
        put_clean(stdout, text);
        if (columns[i + 1].member != NULL)
            printf("%*s", width[i] - text_width(text) + GAP, "");
    }
    putchar('\n');
}

void
output_rows(const struct cli *cli, const json_t *rows, const struct output_column *columns)
{
    size_t count = 0;
    json_t *row;
    if (cli->choice.json) {
        output_json(rows);
        return;
    }
    while (columns[count].member != NULL)
        count++;
    int *width = talloc_zero_array(cli->mem, int, (unsigned) count);
    for (size_t i = 0; i < count && width != NULL; i++)
        width[i] = column_width(cli->mem, rows, &columns[i]);
    if (width == NULL)
        return;
    put_row(cli->mem, NULL, columns, width);
    size_t i;
    json_array_foreach (rows, i, row)
        put_row(cli->mem, row, columns, width);
}

void
output_values(const struct cli *cli, const json_t *row, const struct output_column *columns)
{
    for (size_t i = 0; columns[i].member != NULL; i++) {
        put_clean(stdout, i > 0 ? "  " : "");
        const char *text = cell_text(cli->mem, row, columns[i].member);
        put_clean(stdout, text != NULL && *text != '\0' ? text : "-");
    }
    putchar('\n');
}

void
output_json_line(const json_t *value)
{
    put_json(value, false);
}

/* Turn a text of several lines, such as a message of libpq, into one line. */
static void
join_lines(char *text)
{
    char *to = text;
    for (char *from = text; *from != '\0'; from++) {
        bool blank = *from == ' ' || *from == '\t' || *from == '\n' || *from == '\r';
        if (!blank)
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    }
    if (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
}

void
output_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *line = talloc_vasprintf(NULL, format, args);
    va_end(args);
    if (line == NULL)
        return;
    join_lines(line);
    fflush(stdout);
    fputs("authzctl: ", stderr);
    put_clean(stderr, line);
    putc('\n', stderr);
    talloc_free(line);
}

/* Like put_clean, but keep tabs and line feeds. */
static void
output_put_text(FILE *out, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\t\n");
        char *piece = talloc_strndup(NULL, text, length);
        put_clean(out, piece != NULL ? piece : "?");
        talloc_free(piece);
        text += length;
        if (*text != '\0')
            putc(*text++, out);
    }
}

void
output_source(size_t number, const char *line, size_t length, const char *file)
{
    bool whole = length <= SOURCE_LINE_MAX;
    char *text = utf8_strndup(NULL, line, whole ? length : SOURCE_LINE_MAX);
    int width = fprintf(stderr, "%7zu", number);
    fputs(" | ", stderr);
    output_put_text(stderr, text != NULL ? text : "");
    fprintf(stderr, "%s\n%*s | ", whole ? "" : " ...", width, "");
    put_clean(stderr, file);
    putc('\n', stderr);
    talloc_free(text);
}

void
output_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = talloc_vasprintf(NULL, format, args);
    va_end(args);
    output_put_text(stdout, text != NULL ? text : "");
    output_lost = output_lost || text == NULL;
    talloc_free(text);
}

void
output_content(const char *text)
{
    if (is_shown())
        output_put_text(stdout, text);
    else
        fputs(text, stdout);
}

bool
output_octets(const void *octets, size_t length)
{
    const unsigned char *at = octets;
    if (!is_shown())
        return fwrite(octets, 1, length, stdout) == length;
    for (const unsigned char *c = at; c < at + length; c++) {
        bool plain = (*c >= 0x20 && *c < 0x7f) || *c == '\n' || *c == '\t';
        if (putchar(plain ? *c : '?') == EOF)
            return false;
    }
    return true;
}

void
output_text(const char *text)
{
    size_t length = strlen(text);
    output_put_text(stdout, text);
    if (length > 0 && text[length - 1] != '\n')
        putchar('\n');
}

enum cli_exit
output_exit(enum az_status status)
{
    return status == AZ_OK ? CLI_OK : status == AZ_UNAVAILABLE ? CLI_UNAVAILABLE : CLI_FAILED;
}

/* Return the remedy for an outcome, or NULL. */
static const char *
advice(const struct az_fault *fault)
{
    bool database = strncmp(fault->detail, "database", 8) == 0;
    switch (fault->status) {
    case AZ_UNAVAILABLE:
        return database ? "check that PostgreSQL is running and that SVC_DATABASE_URL is right"
                        : "check that the policy engine is running and that SVC_OPA_URL is right";
    case AZ_SAVE_IN_PROGRESS:
        return "wait until it has finished and run this again";
    case AZ_PRECONDITION_FAILED:
        return "another writer changed the row; run this again";
    case AZ_SERVER_ERROR:
        return database ? "this step changed nothing; see the log of PostgreSQL" : NULL;
    default:
        return NULL;
    }
}

const char *
output_reason(const struct cli *cli, const struct az_fault *fault)
{
    char *why =
        talloc_strdup(cli->mem, fault->detail[0] != '\0' ? fault->detail : fault->public_text);
    const char *what_to_do = advice(fault);
    if (why == NULL)
        return "out of memory";
    join_lines(why);
    if (what_to_do == NULL || strchr(why, ';') != NULL)
        return why;
    return talloc_asprintf(cli->mem, "%s; %s", why, what_to_do);
}

int
output_fault(const struct cli *cli)
{
    output_error("%s: %s", cli->path, output_reason(cli, &cli->op.fault));
    return output_exit(cli->op.fault.status);
}

int
output_no_memory(const struct cli *cli)
{
    output_error("%s: out of memory", cli->path);
    return CLI_FAILED;
}

bool
output_flush(void)
{
    if (output_lost) {
        output_error("out of memory; the output is incomplete");
        return false;
    }
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    output_error("standard output: %s; the output is incomplete", strerror(errno));
    return false;
}

char *
output_failure(TALLOC_CTX *mem, const json_t *failure)
{
    const char *path = json_string_value(json_object_get(failure, "path"));
    return talloc_asprintf(mem, "%s: %s", path != NULL && *path != '\0' ? path : "(whole payload)",
                           json_string_value(json_object_get(failure, "message")));
}
