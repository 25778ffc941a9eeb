#include "config.h"

#include "base/iso8601.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/digits.h"

#define DAY_SECONDS 86400

struct calendar {
    int year, month, day;
    int hour, minute, second;
};

static bool
is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int
month_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Return the days from 1970-01-01 to the first day of a year from 1 on. */
static int64_t
year_start(int year)
{
    int64_t past = year - 1;
    return past * 365 + past / 4 - past / 100 + past / 400 - 719162;
}

static int64_t
seconds_of(const struct calendar *at)
{
    int64_t days = year_start(at->year) + at->day - 1;

    for (int month = 1; month < at->month; month++)
        days += month_days(at->year, month);
    return days * DAY_SECONDS + at->hour * 3600 + at->minute * 60 + at->second;
}

/* The seconds are in the stated range. */
static void
calendar_of(int64_t seconds, struct calendar *ret)
{
    int64_t days =
        (seconds - ISO8601_SECONDS_MIN) / DAY_SECONDS + ISO8601_SECONDS_MIN / DAY_SECONDS;
    int rest = (int) (seconds - days * DAY_SECONDS);

    /* Begin with an estimate that is at most one year too late, then correct it. */
    int year = (int) ((days - year_start(1)) * 400 / 146097) + 1;
    if (year_start(year) > days)
        year--;
    else if (year < 9999 && year_start(year + 1) <= days)
        year++;
    int day = (int) (days - year_start(year));
    int month = 1;
    while (day >= month_days(year, month))
        day -= month_days(year, month++);
    *ret = (struct calendar){year, month, day + 1, rest / 3600, rest / 60 % 60, rest % 60};
}

static bool
in_range(int64_t seconds)
{
    return seconds >= ISO8601_SECONDS_MIN && seconds <= ISO8601_SECONDS_MAX;
}

/* Write two or four digits. The value always fits, but the compiler cannot know that. */
static char *
put_digits(char *at, int value, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        at[i] = (char) ('0' + value % 10);
        value /= 10;
    }
    return at + width;
}

static char *
put_calendar(char *at, int64_t seconds)
{
    struct calendar when;
    calendar_of(seconds, &when);
    at = put_digits(at, when.year, 4);
    *at++ = '-';
    at = put_digits(at, when.month, 2);
    *at++ = '-';
    at = put_digits(at, when.day, 2);
    *at++ = 'T';
    at = put_digits(at, when.hour, 2);
    *at++ = ':';
    at = put_digits(at, when.minute, 2);
    *at++ = ':';
    return put_digits(at, when.second, 2);
}

enum az_status
iso8601_format(int64_t seconds, char ret[ISO8601_SIZE])
{
    if (!in_range(seconds))
        return AZ_INVALID;
    char *at = put_calendar(ret, seconds);
    *at++ = 'Z';
    *at = '\0';
    return AZ_OK;
}

enum az_status
iso8601_format_ms(int64_t ms, char ret[ISO8601_MS_SIZE])
{
    int64_t seconds = ms / 1000;
    int fraction = (int) (ms % 1000);
    if (fraction < 0) {
        fraction += 1000;
        seconds--;
    }
    if (!in_range(seconds))
        return AZ_INVALID;
    char *at = put_calendar(ret, seconds);
    *at++ = '.';
    at = put_digits(at, fraction, 3);
    *at++ = 'Z';
    *at = '\0';
    return AZ_OK;
}

/* The rest of the text. */
struct cursor {
    const char *at;
    const char *end;
};

static bool
take_char(struct cursor *in, char c)
{
    if (in->at == in->end || *in->at != c)
        return false;
    in->at++;
    return true;
}

static bool
take_digits(struct cursor *in, int width, int min, int max, int *ret)
{
    int64_t value;

    if (in->end - in->at < width
        || digits_take(in->at, (size_t) width, 9999, &value) != (size_t) width)
        return false;
    in->at += width;
    *ret = (int) value;
    return value >= min && value <= max;
}

static bool
take_calendar(struct cursor *in, struct calendar *ret)
{
    return take_digits(in, 4, 1, 9999, &ret->year) && take_char(in, '-')
           && take_digits(in, 2, 1, 12, &ret->month) && take_char(in, '-')
           && take_digits(in, 2, 1, month_days(ret->year, ret->month), &ret->day)
           && take_char(in, 'T') && take_digits(in, 2, 0, 23, &ret->hour) && take_char(in, ':')
           && take_digits(in, 2, 0, 59, &ret->minute) && take_char(in, ':')
           && take_digits(in, 2, 0, 59, &ret->second);
}

/* Read the part after a "."; at most nine digits, of which three count. */
static bool
take_fraction(struct cursor *in, int *ret_ms)
{
    int digits = 0;
    int ms = 0;

    while (in->at < in->end && *in->at >= '0' && *in->at <= '9') {
        if (digits < 3)
            ms = ms * 10 + (*in->at - '0');
        in->at++;
        digits++;
    }
    for (int i = digits; i < 3; i++)
        ms *= 10;
    *ret_ms = ms;
    return digits >= 1 && digits <= 9;
}

static bool
take_offset(struct cursor *in, int *ret_seconds)
{
    int hours;
    int minutes;

    if (take_char(in, 'Z')) {
        *ret_seconds = 0;
        return true;
    }
    bool west = take_char(in, '-');
    if (!west && !take_char(in, '+'))
        return false;
    if (!take_digits(in, 2, 0, 23, &hours) || !take_char(in, ':')
        || !take_digits(in, 2, 0, 59, &minutes))
        return false;
    *ret_seconds = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return true;
}

enum az_status
iso8601_parse(const char *text, size_t len, int64_t *ret_ms)
{
    struct cursor in = {text, text + len};
    struct calendar at;
    int ms = 0;
    int offset;

    if (!take_calendar(&in, &at))
        return AZ_INVALID;
    if (take_char(&in, '.') && !take_fraction(&in, &ms))
        return AZ_INVALID;
    if (!take_offset(&in, &offset) || in.at != in.end)
        return AZ_INVALID;
    int64_t seconds = seconds_of(&at) - offset;
    if (!in_range(seconds))
        return AZ_INVALID;
    *ret_ms = seconds * 1000 + ms;
    return AZ_OK;
}

enum az_status
iso8601_parse_day(const char *text, size_t len, int64_t *ret_ms)
{
    char whole[ISO8601_SIZE];
    if (len != strlen("YYYY-MM-DD"))
        return AZ_INVALID;
    snprintf(whole, sizeof(whole), "%.*sT00:00:00Z", (int) len, text);
    return iso8601_parse(whole, strlen(whole), ret_ms);
}
