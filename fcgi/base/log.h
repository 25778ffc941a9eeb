/* Log of one line per event on stderr, JSON or text. Only the dispatcher, the parent and the CLI
 * log; modules return faults. */
#ifndef AZ_BASE_LOG_H
#define AZ_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* One member of a log line. With text NULL it is left out, unless `is_number` is set: then
 * `number` counts. */
struct log_field {
    const char *name; /* member name */
    const char *text; /* value as text */
    long long number; /* value as a number, when is_number */
    bool is_number;   /* use number */
};

#define LOG_TEXT(name_, text_)                                                                     \
    {                                                                                              \
        .name = (name_), .text = (text_)                                                           \
    }
#define LOG_NUMBER(name_, number_)                                                                 \
    {                                                                                              \
        .name = (name_), .number = (long long) (number_), .is_number = true                        \
    }

/* Set the lowest severity that is written: debug, info, warn or error. */
void log_level_set(const char *level);

/* Set the form of the lines: json (the default), or text for people: time, level, message, and
 * name=value, with the values that are not plain words in quotes. */
void log_format_set(const char *format);

/* True when lines of this severity are written, so that a caller can skip collecting the fields. */
bool log_wanted(enum az_severity severity);

/*
 * Write one line: ts, level, msg, then the fields. Control characters, quotes and octets that are
 * not UTF-8 are escaped, so that no caller can forge a line. A line is one write(2) of at most
 * 4,096 octets; a longer one is cut.
 */
void log_line(enum az_severity severity, const char *msg, const struct log_field *fields,
              size_t count);

/* Write a line with one field `detail`, formatted by printf. */
void log_text(enum az_severity severity, const char *msg, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
