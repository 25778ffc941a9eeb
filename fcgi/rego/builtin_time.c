/* Times, as nanoseconds since 1970. Time zones other than UTC are left to the engine, which has its
 * own copy of the zones. */
#include "config.h"

#include <string.h>
#include <time.h>

#include "rego/builtin.h"

#define NS_PER_SECOND 1000000000LL

static const struct rego_value *
run_now(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) arg;
    return rego_integer(machine->arena, machine->question->now_ns);
}

/* Read a time: nanoseconds, or [nanoseconds, zone]. False: it is none (undefined), or left to the
 * engine. */
static bool
time_read_time(struct rego_machine *machine, const struct rego_value *value, struct tm *ret)
{
    const struct rego_value *ns = value;
    if (value->type == REGO_ARRAY) {
        if (value->count == 0)
            return false;
        ns = value->item[0];
        for (uint32_t i = 1; i < value->count; i++)
            if (value->item[i]->type != REGO_STRING)
                return false;
        if (value->count > 1 && value->item[1]->count > 0
            && strcmp(value->item[1]->text, "UTC") != 0) {
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

static const struct rego_value *
run_parse_rfc3339(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct tm tm;
    int64_t ns, result;
    int offset;
    if (arg[0]->type != REGO_STRING)
        return NULL;
    if (arg[0]->count != strlen(arg[0]->text) || !read_rfc3339(arg[0]->text, &tm, &ns, &offset)
        || !is_date(&tm))
        return rego_give_up(machine, "a time in an unusual form");
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    int64_t seconds = (int64_t) timegm(&tm) - offset;
    /* The earliest time that fits begins within a second that does not. */
    if (seconds < 0) {
        seconds++;
        ns -= NS_PER_SECOND;
    }
    if (__builtin_mul_overflow(seconds, NS_PER_SECOND, &result)
        || __builtin_add_overflow(result, ns, &result))
        return NULL;
    return rego_integer(machine->arena, result);
}

const struct rego_builtin rego_time_builtins[] = {
    {"time.clock",            1, run_clock        },
    {"time.date",             1, run_date         },
    {"time.now_ns",           0, run_now          },
    {"time.parse_rfc3339_ns", 1, run_parse_rfc3339},
    {"time.weekday",          1, run_weekday      },
    {NULL,                    0, NULL             },
};
