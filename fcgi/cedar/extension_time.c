/* Decimals, points in time and durations: numbers of 64 bits, and the texts that they have. */
#include "config.h"

#include <string.h>

#include "cedar/extension.h"

/* Decimals are held in units of 0.0001. */
#define DECIMAL_DIGITS 4
#define DECIMAL_UNITS 10000

static bool
is_ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Read all digits at the beginning of a text. False: there is none, or the number has more than 63
 * bits. `limit` is INT64_MAX, or one more if the number follows a minus sign. */
static bool
take_whole_number(struct cedar_text *text, uint64_t limit, uint64_t *ret)
{
    uint64_t number = 0;
    if (text->length == 0 || !is_ascii_digit(*text->at))
        return false;
    for (; text->length > 0 && is_ascii_digit(*text->at); text->at++, text->length--) {
        uint64_t next = (uint64_t) (*text->at - '0');
        if (number > (limit - next) / 10)
            return false;
        number = number * 10 + next;
    }
    *ret = number;
    return true;
}

static bool
take(struct cedar_text *text, char sign)
{
    if (text->length == 0 || *text->at != sign)
        return false;
    text->at++;
    text->length--;
    return true;
}

/* Text: -?[0-9]+ '.' [0-9]{1,4} */
bool
cedar_read_decimal(struct cedar_text text, struct cedar_value *ret)
{
    uint64_t whole, part;
    bool negative = take(&text, '-');
    int64_t number, fraction;
    if (!take_whole_number(&text, (uint64_t) INT64_MAX + negative, &whole) || !take(&text, '.')
        || text.length > DECIMAL_DIGITS)
        return false;
    size_t digits = text.length;
    if (!take_whole_number(&text, INT64_MAX, &part) || text.length != 0)
        return false;
    for (; digits < DECIMAL_DIGITS; digits++)
        part *= 10;
    number = (int64_t) (negative ? 0 - whole : whole);
    fraction = negative ? -(int64_t) part : (int64_t) part;
    if (__builtin_mul_overflow(number, DECIMAL_UNITS, &number)
        || __builtin_add_overflow(number, fraction, &number))
        return false;
    *ret = (struct cedar_value){.type = CEDAR_DECIMAL, .number = number};
    return true;
}

/* Read exactly `digits` digits of a number in a range. */
static bool
take_field(struct cedar_text *text, int digits, int low, int high, int *ret)
{
    int number = 0;
    if (text->length < (size_t) digits)
        return false;
    for (int i = 0; i < digits; i++)
        if (!is_ascii_digit(text->at[i]))
            return false;
        else
            number = number * 10 + (text->at[i] - '0');
    text->at += digits;
    text->length -= (size_t) digits;
    *ret = number;
    return number >= low && number <= high;
}

static int
days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}

/* Return the days from 1970-01-01 to a date of the Gregorian calendar. The year begins in March, so
 * that the leap day is its last one; 719468 are the days from 0000-03-01. */
static int64_t
days_since_epoch(int year, int month, int day)
{
    int64_t y = year + 400 - (month <= 2);
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return 365 * y + y / 4 - y / 100 + y / 400 + of_year - 146097 - 719468;
}

/* Read a time of day with its zone: hh:mm:ss[.SSS](Z|[+-]hhmm), in milliseconds. */
static bool
take_time(struct cedar_text *text, int64_t *ret)
{
    int hour, minute, second, milli = 0, zone_hour = 0, zone_minute = 0;
    if (!take_field(text, 2, 0, 23, &hour) || !take(text, ':')
        || !take_field(text, 2, 0, 59, &minute) || !take(text, ':')
        || !take_field(text, 2, 0, 59, &second)
        || (take(text, '.') && !take_field(text, 3, 0, 999, &milli)))
        return false;
    bool east = take(text, '+'), west = !east && take(text, '-');
    if (east || west
            ? !take_field(text, 2, 0, 23, &zone_hour) || !take_field(text, 2, 0, 59, &zone_minute)
            : !take(text, 'Z'))
        return false;
    int64_t zone = (zone_hour * 60 + zone_minute) * 60000LL;
    *ret = ((hour * 60LL + minute) * 60 + second) * 1000 + milli + (west ? zone : -zone);
    return true;
}

/* Text: YYYY-MM-DD, or with T and a time */
bool
cedar_read_datetime(struct cedar_text text, struct cedar_value *ret)
{
    int year, month, day;
    int64_t time = 0;
    if (!take_field(&text, 4, 0, 9999, &year) || !take(&text, '-')
        || !take_field(&text, 2, 1, 12, &month) || !take(&text, '-')
        || !take_field(&text, 2, 1, days_of_month(year, month), &day)
        || (take(&text, 'T') && !take_time(&text, &time)) || text.length != 0)
        return false;
    *ret = (struct cedar_value){.type = CEDAR_DATETIME,
                                .number = days_since_epoch(year, month, day) * CEDAR_DAY + time};
    return true;
}

/* Units of a duration, in the order in which they must stand. */
static const struct {
    const char *name;
    int64_t milliseconds;
} units[] = {
    {"d",  CEDAR_DAY},
    {"h",  3600000  },
    {"m",  60000    },
    {"s",  1000     },
    {"ms", 1        },
};
#define UNITS (sizeof(units) / sizeof(units[0]))

/* Return the first unit from `next` that a text begins with, or UNITS. In `ms` the unit is not `m`.
 */
static size_t
unit_of(struct cedar_text text, size_t next)
{
    size_t length = text.length >= 2 && memcmp(text.at, "ms", 2) == 0 ? 2 : 1;
    for (; next < UNITS; next++)
        if (text.length >= length && strlen(units[next].name) == length
            && memcmp(text.at, units[next].name, length) == 0)
            break;
    return next;
}

/* Text: -?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?, with one unit at least */
bool
cedar_read_duration(struct cedar_text text, struct cedar_value *ret)
{
    bool negative = take(&text, '-');
    int64_t sum = 0;
    if (text.length == 0)
        return false;
    for (size_t next = 0; text.length > 0; next++) {
        uint64_t number;
        int64_t part;
        if (!take_whole_number(&text, (uint64_t) INT64_MAX + negative, &number)
            || (next = unit_of(text, next)) == UNITS)
            return false;
        text.at += strlen(units[next].name);
        text.length -= strlen(units[next].name);
        part = (int64_t) (negative ? 0 - number : number);
        if (__builtin_mul_overflow(part, units[next].milliseconds, &part)
            || __builtin_add_overflow(sum, part, &sum))
            return false;
    }
    *ret = (struct cedar_value){.type = CEDAR_DURATION, .number = sum};
    return true;
}
