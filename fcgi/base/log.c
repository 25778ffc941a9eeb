#include "config.h"

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/iso8601.h"

/* write(2) to a pipe is atomic up to PIPE_BUF (4,096), so lines of several processes never mix. */
#define LINE_MAXIMUM 4096
/* Longest value, in octets; longer ones are cut. User agents and SQL errors can be long. */
#define VALUE_MAXIMUM 1024

/* Characters of a value that needs no quotes in a text line. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._:/@+"

static enum az_severity least = AZ_SEV_INFO;
static bool as_text; /* SVC_LOG_FORMAT=text */

static const char *const names[] = {"debug", "info", "warn", "error"};

void
log_level_set(const char *level)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], level) == 0)
            least = (enum az_severity) i;
}

void
log_format_set(const char *format)
{
    as_text = strcmp(format, "text") == 0;
}

bool
log_wanted(enum az_severity severity)
{
    return severity >= least;
}

struct line {
    char text[LINE_MAXIMUM];
    size_t used;
};

/* Keep room for the closing `"}` and the line end. */
static void
put_octets(struct line *line, const char *octets, size_t count)
{
    size_t room = sizeof(line->text) - 4 - line->used;
    count = count < room ? count : room;
    memcpy(line->text + line->used, octets, count);
    line->used += count;
}

static void
log_put(struct line *line, char c)
{
    put_octets(line, &c, 1);
}

static void
put_text(struct line *line, const char *text)
{
    put_octets(line, text, strlen(text));
}

/* Return how many octets at the beginning of a text, at most so many, stand for themselves. */
static size_t
plain_octets(const char *text, size_t most)
{
    size_t at = 0;
    while (at < most && text[at] >= 0x20 && text[at] <= 0x7e && text[at] != '"' && text[at] != '\\')
        at++;
    return at;
}

/* Write a JSON string. Anything but printable ASCII becomes \u00XX of the octet, which no
 * terminal interprets. */
static void
put_string(struct line *line, const char *text)
{
    const size_t end = sizeof(line->text) - 16;
    char escape[8];
    log_put(line, '"');
    for (size_t i = 0; text[i] != '\0' && i < VALUE_MAXIMUM && line->used < end; i++) {
        size_t left = VALUE_MAXIMUM - i, room = end - line->used;
        size_t plain = plain_octets(text + i, left < room ? left : room);
        if (plain > 0) {
            put_octets(line, text + i, plain);
            i += plain - 1;
            continue;
        }
        unsigned char c = (unsigned char) text[i];
        if (c == '"' || c == '\\')
            snprintf(escape, sizeof(escape), "\\%c", c);
        else
            snprintf(escape, sizeof(escape), "\\u%04x", c);
        put_text(line, escape);
    }
    log_put(line, '"');
}

/* Write a value of a text line: bare if it consists of the characters `plain`, else as a JSON
 * string. */
static void
put_plain(struct line *line, const char *text, const char *plain)
{
    size_t length = strspn(text, plain);
    if (length > 0 && length < VALUE_MAXIMUM && text[length] == '\0')
        put_text(line, text);
    else
        put_string(line, text);
}

static void
put_value(struct line *line, const struct log_field *field)
{
    char number[32];
    if (field->is_number) {
        snprintf(number, sizeof(number), "%lld", field->number);
        put_text(line, number);
    } else if (as_text)
        put_plain(line, field->text, PLAIN);
    else
        put_string(line, field->text);
}

static void
put_field(struct line *line, const struct log_field *field)
{
    if (!field->is_number && field->text == NULL)
        return;
    if (line->used > sizeof(line->text) - 64)
        return;
    log_put(line, as_text ? ' ' : ',');
    if (as_text)
        put_text(line, field->name);
    else
        put_string(line, field->name);
    log_put(line, as_text ? '=' : ':');
    put_value(line, field);
}

/* Write the time, the severity and the message. */
static void
put_head(struct line *line, const char *stamp, enum az_severity severity, const char *msg)
{
    if (as_text) {
        char head[64];
        snprintf(head, sizeof(head), "%s %-5s ", stamp, names[severity]);
        put_text(line, head);
        put_plain(line, msg, PLAIN " ");
        return;
    }
    put_text(line, "{\"ts\":\"");
    put_text(line, stamp);
    put_text(line, "\",\"level\":\"");
    put_text(line, names[severity]);
    put_text(line, "\",\"msg\":");
    put_string(line, msg);
}

void
log_line(enum az_severity severity, const char *msg, const struct log_field *fields, size_t count)
{
    if (!log_wanted(severity))
        return;
    struct line line = {.used = 0};
    char stamp[ISO8601_MS_SIZE] = "";
    iso8601_format_ms(clock_realtime_ms(), stamp);
    put_head(&line, stamp, severity, msg);
    for (size_t i = 0; i < count; i++)
        put_field(&line, &fields[i]);
    if (!as_text)
        line.text[line.used++] = '}';
    line.text[line.used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line.text, line.used);
    (void) written; /* there is no other place for an error */
}

void
log_text(enum az_severity severity, const char *msg, const char *format, ...)
{
    char detail[VALUE_MAXIMUM];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    const struct log_field fields[] = {LOG_TEXT("detail", detail), LOG_NUMBER("pid", getpid())};
    log_line(severity, msg, fields, 2);
}
