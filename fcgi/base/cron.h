/* Cron expressions: the times at which a job is due. */
#ifndef AZ_BASE_CRON_H
#define AZ_BASE_CRON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Longest expression, in octets; a list of all minutes has 170. */
#define CRON_MAX 512

/* A parsed expression: one bit per value that a field allows. */
struct cron {
    uint64_t second, minute;   /* bits 0 to 59 */
    uint64_t hour;             /* 0 to 23 */
    uint64_t day;              /* 1 to 31 */
    uint64_t month;            /* 1 to 12 */
    uint64_t weekday;          /* 0 (Sunday) to 6 */
    bool any_day, any_weekday; /* the field begins with * or ? */
};

/*
 * Parse five fields (minute, hour, day of month, month, day of week) or six (seconds first),
 * separated by blanks. A field is a list of *, ?, values, ranges and steps (a-b/n; a/n: from a on).
 * Months and days may be the first three letters of their English names; Sunday is 0 or 7. As in
 * cron, a day matches if the day of month or the day of week does; if one of the two begins with *,
 * both must. AZ_INVALID: the expression is not valid, or is never due; *ret_why is a constant text
 * that fits after the name of the setting.
 */
enum az_status cron_parse(const char *text, struct cron *ret, const char **ret_why);

/* Return the first time after `after` (seconds since 1970) that matches, in UTC; -1: no calendar
 * date does (February 30th). */
int64_t cron_next(const struct cron *cron, int64_t after);

#endif
