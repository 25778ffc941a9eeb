#include "config.h"

#include "base/cron.h"

#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/digits.h"

#define DAY 86400
/* Leap days on the same weekday are at most 28 years apart, or 40 across a century year that is
 * no leap year. */
#define YEARS_MAX 41
#define BLANKS " \t"
#define BIT(n) ((uint64_t) 1 << (n))

static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
                                     "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const weekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

/* Values of a field, in the order of six fields. */
static const struct kind {
    int least, most;          /* values */
    const char *const *names; /* names of the values from `least` on, or NULL */
    bool days;                /* ? means * */
    const char *why;          /* text for a field that is not valid */
} kinds[] = {
    {0, 59, NULL,     false, "seconds must be 0 to 59"                      },
    {0, 59, NULL,     false, "minutes must be 0 to 59"                      },
    {0, 23, NULL,     false, "hours must be 0 to 23"                        },
    {1, 31, NULL,     true,  "days of the month must be 1 to 31"            },
    {1, 12, months,   false, "months must be 1 to 12 or JAN to DEC"         },
    {0, 7,  weekdays, true,  "days of the week must be 0 to 7 or SUN to SAT"},
};
#define FIELDS (sizeof(kinds) / sizeof(kinds[0]))

/* Position in one field. */
struct cron_reader {
    const char *at, *end;
};

static bool
cron_take(struct cron_reader *in, char c)
{
    if (in->at == in->end || *in->at != c)
        return false;
    in->at++;
    return true;
}

/* number = 1*2DIGIT */
static bool
cron_read_number(struct cron_reader *in, int *ret)
{
    int64_t value;
    size_t digits = digits_take(in->at, (size_t) (in->end - in->at), 99, &value);
    if (digits < 1 || digits > 2)
        return false;
    in->at += digits;
    *ret = (int) value;
    return true;
}

/* value = number / three letters of a name */
static bool
cron_read_value(struct cron_reader *in, const struct kind *kind, int *ret)
{
    for (int i = 0; kind->names != NULL && in->end - in->at >= 3 && kind->names[i] != NULL; i++)
        if (strncasecmp(in->at, kind->names[i], 3) == 0) {
            in->at += 3;
            *ret = kind->least + i;
            return true;
        }
    int value;
    if (!cron_read_number(in, &value) || value < kind->least || value > kind->most)
        return false;
    *ret = value;
    return true;
}

/* part = ( "*" / "?" / value [ "-" value ] ) [ "/" number ] */
static bool
read_part(struct cron_reader *in, const struct kind *kind, uint64_t *bits)
{
    int first = kind->least, last = kind->most, step = 1;
    bool all = cron_take(in, '*') || (kind->days && cron_take(in, '?'));
    bool range = all;
    if (!all) {
        if (!cron_read_value(in, kind, &first))
            return false;
        last = first;
        range = cron_take(in, '-');
        if (range && (!cron_read_value(in, kind, &last) || last < first))
            return false;
    }
    if (cron_take(in, '/')) {
        if (!cron_read_number(in, &step) || step < 1)
            return false;
        if (!range)
            last = kind->most;
    }
    for (int value = first; value <= last; value += step)
        *bits |= BIT(value);
    return true;
}

/* field = part *( "," part ) */
static bool
read_field(struct cron_reader in, const struct kind *kind, uint64_t *ret)
{
    uint64_t bits = 0;
    do
        if (!read_part(&in, kind, &bits))
            return false;
    while (cron_take(&in, ','));
    if (in.at != in.end)
        return false;
    *ret = bits;
    return true;
}

/* Find where each field begins. Return their number; 0 if it is not five or six. */
static size_t
cron_split(const char *text, struct cron_reader field[FIELDS])
{
    size_t count = 0;
    for (const char *at = text + strspn(text, BLANKS); *at != '\0'; at += strspn(at, BLANKS)) {
        size_t length = strcspn(at, BLANKS);
        if (count == FIELDS)
            return 0;
        field[count++] = (struct cron_reader){at, at + length};
        at += length;
    }
    return count >= FIELDS - 1 ? count : 0;
}

static bool
begins_any(const struct cron_reader *field)
{
    return *field->at == '*' || *field->at == '?';
}

enum az_status
cron_parse(const char *text, struct cron *ret, const char **ret_why)
{
    struct cron_reader field[FIELDS];
    uint64_t bits[FIELDS] = {BIT(0)};
    size_t count = strlen(text) <= CRON_MAX ? cron_split(text, field) : 0;
    size_t first = FIELDS - count; /* without seconds: second 0 */
    *ret_why = "must have five fields (minute hour day month weekday), or six with seconds first";
    if (count == 0)
        return AZ_INVALID;
    for (size_t i = 0; i < count; i++)
        if (!read_field(field[i], &kinds[first + i], &bits[first + i])) {
            *ret_why = kinds[first + i].why;
            return AZ_INVALID;
        }
    struct cron cron = {
        .second = bits[0],
        .minute = bits[1],
        .hour = bits[2],
        .day = bits[3],
        .month = bits[4],
        .weekday = (bits[5] | bits[5] >> 7) & 0x7f,
        .any_day = begins_any(&field[3 - first]),
        .any_weekday = begins_any(&field[5 - first]),
    };
    *ret_why = "never matches a date; check the day of the month and the month";
    if (cron_next(&cron, 0) < 0)
        return AZ_INVALID;
    *ret_why = NULL;
    *ret = cron;
    return AZ_OK;
}

static bool
has(uint64_t bits, int value)
{
    return (bits & BIT(value)) != 0;
}

static bool
day_fits(const struct cron *cron, const struct tm *day)
{
    bool by_day = has(cron->day, day->tm_mday), by_weekday = has(cron->weekday, day->tm_wday);
    if (!has(cron->month, day->tm_mon + 1))
        return false;
    return cron->any_day || cron->any_weekday ? by_day && by_weekday : by_day || by_weekday;
}

/* Return the first value from `from` on, or -1. */
static int
next_bit(uint64_t bits, int from)
{
    for (int value = from; value < 60; value++)
        if (has(bits, value))
            return value;
    return -1;
}

/* Return the first second of the day, from `from` (seconds since midnight) on, or -1 if there is
 * none. */
static int
next_in_day(const struct cron *cron, int from)
{
    for (int hour = next_bit(cron->hour, from / 3600); hour >= 0;
         hour = next_bit(cron->hour, hour + 1)) {
        int left = hour == from / 3600 ? from % 3600 : 0;
        for (int minute = next_bit(cron->minute, left / 60); minute >= 0;
             minute = next_bit(cron->minute, minute + 1)) {
            int second = next_bit(cron->second, minute == left / 60 ? left % 60 : 0);
            if (second >= 0)
                return hour * 3600 + minute * 60 + second;
        }
    }
    return -1;
}

int64_t
cron_next(const struct cron *cron, int64_t after)
{
    int64_t from = after + 1, midnight = from - ((from % DAY) + DAY) % DAY;
    for (int i = 0; i < YEARS_MAX * 366; i++, midnight += DAY) {
        time_t time = midnight;
        struct tm day;
        int second = gmtime_r(&time, &day) != NULL && day_fits(cron, &day)
                         ? next_in_day(cron, from > midnight ? (int) (from - midnight) : 0)
                         : -1;
        if (second >= 0)
            return midnight + second;
    }
    return -1;
}
