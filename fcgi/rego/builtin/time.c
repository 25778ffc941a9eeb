/* Times, as nanoseconds since 1970. Time zones other than UTC are left to the engine, which has its
 * own copy of the zones. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rego/builtin/builtin.h"

#define NS_PER_SECOND 1000000000LL

/* Most years, months or days that are added: more leave the range of times. */
#define DATE_PARTS_MAX 200000

static const struct rego_value *
run_now(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) arg;
    return rego_integer(machine->arena, machine->question->now_ns);
}

/* Read a time: nanoseconds, or [nanoseconds, zone, layout]; OPA ignores further items. False: it is
 * not a time (undefined), or is left to the engine. */
static bool
time_read_time(struct rego_machine *machine, const struct rego_value *value, struct tm *ret)
{
    const struct rego_value *ns = value;
    if (value->type == REGO_ARRAY) {
        if (value->count == 0)
            return false;
        ns = value->item[0];
        for (uint32_t i = 1; i < value->count && i < 3; i++)
            if (value->item[i]->type != REGO_STRING)
                return false;
        if (value->count > 1 && value->item[1]->count > 0
            && (value->item[1]->count != 3 || memcmp(value->item[1]->text, "UTC", 3) != 0)) {
            rego_give_up(machine, "a time zone other than UTC");
            return false;
        }
    }
    if (ns->type != REGO_NUMBER)
        return false;
    if (ns->decimal) {
        rego_give_up(machine, "a time that is no 64-bit integer");
        return false;
    }
    int64_t rest = ns->integer % NS_PER_SECOND;
    time_t seconds = (time_t) (ns->integer / NS_PER_SECOND - (rest < 0));
    return gmtime_r(&seconds, ret) != NULL;
}

/* Return an array of three integers. */
static const struct rego_value *
three_of(struct rego_machine *machine, int a, int b, int c)
{
    struct rego_value *array = rego_array(machine->arena, 3);
    bool made = array != NULL && rego_append(machine->arena, array, rego_integer(machine->arena, a))
                && rego_append(machine->arena, array, rego_integer(machine->arena, b))
                && rego_append(machine->arena, array, rego_integer(machine->arena, c));
    return made ? array : NULL;
}

static const struct rego_value *
run_clock(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct tm tm;
    return time_read_time(machine, arg[0], &tm)
               ? three_of(machine, tm.tm_hour, tm.tm_min, tm.tm_sec)
               : NULL;
}

static const struct rego_value *
run_date(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct tm tm;
    if (!time_read_time(machine, arg[0], &tm))
        return NULL;
    return three_of(machine, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

static const struct rego_value *
run_weekday(struct rego_machine *machine, const struct rego_value *const *arg)
{
    static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
    struct tm tm;
    if (!time_read_time(machine, arg[0], &tm))
        return NULL;
    return rego_text(machine->arena, days[tm.tm_wday], strlen(days[tm.tm_wday]));
}

/* Read digits of a fixed number. */
static bool
time_take_digits(const char **at, int count, int *ret)
{
    *ret = 0;
    for (; count > 0; count--, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        *ret = *ret * 10 + (**at - '0');
    }
    return true;
}

/*
 * Read YYYY-MM-DDTHH:MM:SS[.d*](Z|+HH:MM). False: the text has another form, which Go may still
 * read.
 */
static bool
read_rfc3339(const char *at, struct tm *tm, int64_t *ret_ns, int *ret_offset)
{
    int hours = 0, minutes = 0, sign = 0;
    *tm = (struct tm){0};
    *ret_ns = 0;
    if (!time_take_digits(&at, 4, &tm->tm_year) || *at++ != '-'
        || !time_take_digits(&at, 2, &tm->tm_mon) || *at++ != '-'
        || !time_take_digits(&at, 2, &tm->tm_mday) || *at++ != 'T'
        || !time_take_digits(&at, 2, &tm->tm_hour) || *at++ != ':'
        || !time_take_digits(&at, 2, &tm->tm_min) || *at++ != ':'
        || !time_take_digits(&at, 2, &tm->tm_sec))
        return false;
    if (*at == '.') {
        int64_t unit = NS_PER_SECOND / 10;
        for (at++; *at >= '0' && *at <= '9' && unit > 0; at++, unit /= 10)
            *ret_ns += (*at - '0') * unit;
        if (at[-1] == '.' || (*at >= '0' && *at <= '9'))
            return false;
    }
    if (*at == '+' || *at == '-') {
        sign = *at++ == '+' ? 1 : -1;
        if (!time_take_digits(&at, 2, &hours) || *at++ != ':'
            || !time_take_digits(&at, 2, &minutes))
            return false;
    } else if (*at++ != 'Z') {
        return false;
    }
    *ret_offset = sign * (hours * 60 + minutes) * 60;
    return *at == '\0' && hours < 24 && minutes < 60;
}

static bool
is_date(const struct tm *tm)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = tm->tm_year;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return tm->tm_mon >= 1 && tm->tm_mon <= 12 && tm->tm_mday >= 1
           && tm->tm_mday <= days[tm->tm_mon - 1] + (leap && tm->tm_mon == 2) && tm->tm_hour < 24
           && tm->tm_min < 60 && tm->tm_sec < 60;
}

/* Return a time so many seconds east of UTC in nanoseconds; undefined if it does not fit. */
static const struct rego_value *
time_of(struct rego_machine *machine, struct tm *tm, int64_t ns, int offset)
{
    int64_t seconds = (int64_t) timegm(tm) - offset, result;
    /* The earliest time that fits lies within a second whose beginning does not fit. */
    if (seconds < 0) {
        seconds++;
        ns -= NS_PER_SECOND;
    }
    if (__builtin_mul_overflow(seconds, NS_PER_SECOND, &result)
        || __builtin_add_overflow(result, ns, &result))
        return NULL;
    return rego_integer(machine->arena, result);
}

static const struct rego_value *
run_parse_rfc3339(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct tm tm;
    int64_t ns;
    int offset;
    if (arg[0]->type != REGO_STRING)
        return NULL;
    if (arg[0]->count != strlen(arg[0]->text) || !read_rfc3339(arg[0]->text, &tm, &ns, &offset)
        || !is_date(&tm))
        return rego_give_up(machine, "a time in an unusual form");
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return time_of(machine, &tm, ns, offset);
}

/* Return the nanoseconds of a time that time_read_time() has read, within its second. */
static int64_t
part_of_second(const struct rego_value *value)
{
    int64_t rest = (value->type == REGO_ARRAY ? value->item[0] : value)->integer % NS_PER_SECOND;
    return rest < 0 ? rest + NS_PER_SECOND : rest;
}

/* Add years, months and days; a day that a month does not have becomes one of the next month. */
static const struct rego_value *
run_add_date(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct tm tm;
    int64_t years, months, days;
    if (!time_read_time(machine, arg[0], &tm) || !rego_is_integer(arg[1], &years)
        || !rego_is_integer(arg[2], &months) || !rego_is_integer(arg[3], &days))
        return NULL;
    if (years < -DATE_PARTS_MAX || years > DATE_PARTS_MAX || months < -DATE_PARTS_MAX
        || months > DATE_PARTS_MAX || days < -DATE_PARTS_MAX || days > DATE_PARTS_MAX)
        return rego_give_up(machine, "a date beyond all calendars");
    tm.tm_year += (int) years;
    tm.tm_mon += (int) months;
    tm.tm_mday += (int) days;
    return time_of(machine, &tm, part_of_second(arg[0]), 0);
}

/* True for a layout that time.parse_rfc3339_ns() reads. */
static bool
is_rfc3339_layout(const struct rego_value *layout)
{
    static const char *const names[] = {"RFC3339", "RFC3339Nano", "2006-01-02T15:04:05Z07:00",
                                        "2006-01-02T15:04:05.999999999Z07:00"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(layout->text, names[i]) == 0)
            return true;
    return false;
}

static const struct rego_value *
run_parse(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct tm tm = {0};
    if (!rego_are(arg, 2, REGO_STRING))
        return NULL;
    if (is_rfc3339_layout(arg[0]))
        return run_parse_rfc3339(machine, arg + 1);
    const char *at = arg[1]->text;
    if (strcmp(arg[0]->text, "2006-01-02") != 0 || !time_take_digits(&at, 4, &tm.tm_year)
        || *at++ != '-' || !time_take_digits(&at, 2, &tm.tm_mon) || *at++ != '-'
        || !time_take_digits(&at, 2, &tm.tm_mday) || at != arg[1]->text + arg[1]->count
        || !is_date(&tm))
        return rego_give_up(machine, "a layout of times other than RFC 3339");
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return time_of(machine, &tm, 0, 0);
}

/* Write a time in the format of RFC 3339, with as many digits of the second as needed. */
static const struct rego_value *
run_format(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct tm tm;
    char text[64], date[32];
    bool whole = false, day = false;
    if (!time_read_time(machine, arg[0], &tm))
        return NULL;
    if (arg[0]->type == REGO_ARRAY && arg[0]->count > 2 && arg[0]->item[2]->count > 0) {
        const char *layout = arg[0]->item[2]->text;
        day = strcmp(layout, "2006-01-02") == 0;
        whole = strcmp(layout, "RFC3339") == 0 || strcmp(layout, "2006-01-02T15:04:05Z07:00") == 0;
        if (!day && !whole && !is_rfc3339_layout(arg[0]->item[2]))
            return rego_give_up(machine, "a layout of times other than RFC 3339");
    }
    strftime(date, sizeof(date), day ? "%Y-%m-%d" : "%Y-%m-%dT%H:%M:%S", &tm);
    int64_t ns = part_of_second(arg[0]);
    int length = snprintf(text, sizeof(text), "%s", date);
    if (!day && !whole && ns > 0) {
        length = snprintf(text, sizeof(text), "%s.%09d", date, (int) ns);
        while (text[length - 1] == '0')
            length--;
    }
    if (!day)
        text[length++] = 'Z';
    return rego_string(machine->arena, text, (size_t) length);
}

/* The units of durations, in nanoseconds. */
static const struct {
    const char *name;
    int64_t ns;
} duration_units[] = {
    {"ns", 1                            },
    {"us", 1000                         },
    {"ms", 1000000                      },
    {"s",  NS_PER_SECOND                },
    {"m",  60 * NS_PER_SECOND           },
    {"h",  3600 * NS_PER_SECOND         },
    {"d",  24 * 3600 * NS_PER_SECOND    },
    {"w",  7 * 24 * 3600 * NS_PER_SECOND},
};

/* Return the nanoseconds of a unit, or 0. */
static int64_t
duration_unit(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(duration_units) / sizeof(duration_units[0]); i++)
        if (strlen(duration_units[i].name) == length
            && memcmp(duration_units[i].name, name, length) == 0)
            return duration_units[i].ns;
    return 0;
}

/* Read a duration of whole numbers with units (1h30m); others are left to the engine. */
static const struct rego_value *
run_parse_duration(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t sum = 0;
    unsigned parts = 0;
    if (arg[0]->type != REGO_STRING)
        return NULL;
    const char *at = arg[0]->text;
    while (*at != '\0') {
        size_t digits = strspn(at, "0123456789"), letters = strspn(at + digits, "hmsnudw");
        int64_t number = 0, unit = duration_unit(at + digits, letters), ns;
        for (size_t i = 0; i < digits && digits <= 9; i++)
            number = number * 10 + (at[i] - '0');
        /* Days and weeks are accepted only alone. */
        bool mixed =
            unit >= 24 * 3600 * NS_PER_SECOND && (parts > 0 || at[digits + letters] != '\0');
        if (digits == 0 || digits > 9 || unit == 0 || mixed
            || __builtin_mul_overflow(number, unit, &ns) || __builtin_add_overflow(sum, ns, &sum))
            return rego_give_up(machine, "a duration in an unusual form");
        at += digits + letters;
        parts++;
    }
    if (parts == 0 || at != arg[0]->text + arg[0]->count)
        return rego_give_up(machine, "a duration in an unusual form");
    return rego_integer(machine->arena, sum);
}

const struct rego_builtin rego_time_builtins[] = {
    {"time.add_date",          4, run_add_date      },
    {"time.clock",             1, run_clock         },
    {"time.date",              1, run_date          },
    {"time.format",            1, run_format        },
    {"time.now_ns",            0, run_now           },
    {"time.parse_duration_ns", 1, run_parse_duration},
    {"time.parse_ns",          2, run_parse         },
    {"time.parse_rfc3339_ns",  1, run_parse_rfc3339 },
    {"time.weekday",           1, run_weekday       },
    {NULL,                     0, NULL              },
};
