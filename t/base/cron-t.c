#include "config.h"

#include "base/cron.h"

#include <string.h>
#include <time.h>

#include "tap.h"

/* clang-format off */
static const struct { const char *text, *after, *next, *name; } good[] = {
    {"* * * * *",            "2026-11-21T11:00:00Z", "2026-11-21T11:01:00Z", "every minute; five fields mean second 0"},
    {"* * * * *",            "2026-11-21T11:00:59Z", "2026-11-21T11:01:00Z", "... a second before it"},
    {"* * * * * *",          "2026-11-21T11:00:00Z", "2026-11-21T11:00:01Z", "every second; six fields begin with the second"},
    {"*/5 * * * *",          "2026-11-21T11:00:00Z", "2026-11-21T11:05:00Z", "the default: strictly after"},
    {"*/5 * * * *",          "2026-11-21T11:57:01Z", "2026-11-21T12:00:00Z", "... into the next hour"},
    {"0 */5 * * * *",        "2026-11-21T23:55:00Z", "2026-11-22T00:00:00Z", "... into the next day, with seconds"},
    {"0 0/5 * * * ?",        "2026-11-21T11:04:00Z", "2026-11-21T11:05:00Z", "a/n from a on, and ? for any day"},
    {"7/20 * * * *",         "2026-11-21T11:27:00Z", "2026-11-21T11:47:00Z", "a/n begins at a"},
    {"7/20 * * * *",         "2026-11-21T11:47:00Z", "2026-11-21T12:07:00Z", "... and ends with the field"},
    {"10-20/5 * * * *",      "2026-11-21T11:20:00Z", "2026-11-21T12:10:00Z", "a step within a range"},
    {"59 23 31 12 *",        "2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z", "the highest values, into the next year"},
    {"0 0 1 1 *",            "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "the lowest values"},
    {"59 59 23 * * *",       "2026-11-21T11:00:00Z", "2026-11-21T23:59:59Z", "the last second of a day"},
    {"1,2,50 4 * * *",       "2026-11-21T04:02:00Z", "2026-11-21T04:50:00Z", "a list"},
    {"0 12 * * MON-FRI",     "2026-11-21T11:00:00Z", "2026-11-23T12:00:00Z", "names of days; 2026-11-21 is a Saturday"},
    {"0 12 * * sat",         "2026-11-21T11:00:00Z", "2026-11-21T12:00:00Z", "... in any case"},
    {"0 12 * Feb,dec *",     "2026-11-21T11:00:00Z", "2026-12-01T12:00:00Z", "names of months"},
    {"0 12 * * 0",           "2026-11-21T11:00:00Z", "2026-11-22T12:00:00Z", "Sunday is 0"},
    {"0 12 * * 7",           "2026-11-21T11:00:00Z", "2026-11-22T12:00:00Z", "... and 7"},
    {"0 12 * * 5-7",         "2026-11-22T12:00:00Z", "2026-11-27T12:00:00Z", "... at the end of a range"},
    {"0 0 13 * 5",           "2026-11-21T11:00:00Z", "2026-11-27T00:00:00Z", "day of month or day of week, as in cron"},
    {"0 0 13 * 5",           "2026-12-11T00:00:00Z", "2026-12-13T00:00:00Z", "... whichever comes first"},
    {"0 0 13 * *",           "2026-11-21T11:00:00Z", "2026-12-13T00:00:00Z", "* in the day of week: the day of month decides"},
    {"0 0 * * 5",            "2026-11-21T11:00:00Z", "2026-11-27T00:00:00Z", "* in the day of month: the day of week decides"},
    {"0 0 */2 * 5",          "2026-11-21T11:00:00Z", "2026-11-27T00:00:00Z", "a field that begins with *: both must fit (the 27th is odd)"},
    {"0 0 31 * *",           "2026-11-21T11:00:00Z", "2026-12-31T00:00:00Z", "months without the day are left out"},
    {"0 0 29 2 *",           "2026-11-21T11:00:00Z", "2028-02-29T00:00:00Z", "the leap day"},
    {"0 0 29 2 *",           "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z", "... across a century that has none"},
    {"  0\t0  1 1 *  ",      "2026-11-21T11:00:00Z", "2027-01-01T00:00:00Z", "blanks and tabs around the fields"},
};

static const struct { const char *text, *why, *name; } bad[] = {
    {"",                 "five fields", "nothing"},
    {"   ",              "five fields", "blanks"},
    {"* * * *",          "five fields", "four fields"},
    {"* * * * * * *",    "five fields", "seven fields"},
    {"@hourly",          "five fields", "a nickname"},
    {"60 * * * *",       "minutes",     "minute 60"},
    {"* 24 * * *",       "hours",       "hour 24"},
    {"* * 0 * *",        "month",       "day 0"},
    {"* * 32 * *",       "month",       "day 32"},
    {"* * * 0 *",        "months",      "month 0"},
    {"* * * 13 *",       "months",      "month 13"},
    {"* * * * 8",        "week",        "day of week 8"},
    {"60 * * * * *",     "seconds",     "second 60"},
    {"-1 * * * *",       "minutes",     "a sign"},
    {"5-1 * * * *",      "minutes",     "a range that runs backwards"},
    {"1- * * * *",       "minutes",     "a range without end"},
    {"-5 * * * *",       "minutes",     "a range without beginning"},
    {"*/0 * * * *",      "minutes",     "a step of 0"},
    {"*/ * * * *",       "minutes",     "no step"},
    {"1,,2 * * * *",     "minutes",     "an empty part of a list"},
    {"1, * * * *",       "minutes",     "... at its end"},
    {"1;2 * * * *",      "minutes",     "another separator"},
    {"001 * * * *",      "minutes",     "three digits"},
    {"4294967297 * * * *", "minutes",   "more than fits a number"},
    {"? * * * *",        "minutes",     "? in another field than a day"},
    {"* * * JANUARY *",  "months",      "a whole name"},
    {"* * * MON *",      "months",      "a day for a month"},
    {"* * * * JAN",      "week",        "a month for a day"},
    {"JAN * * * *",      "minutes",     "a name where there are none"},
    {"* * 30 2 *",       "never matches a date",   "February 30th"},
    {"* * 31 4,6,9,11 *", "never matches a date",  "the 31st of short months"},
};
/* clang-format on */

static int64_t
seconds(const char *text)
{
    struct tm tm = {0};
    return strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm) != NULL ? (int64_t) timegm(&tm) : -1;
}

/* The next minute that a plain reading of each minute finds. */
static int64_t
next_slowly(const struct cron *cron, int64_t after)
{
    for (int64_t at = after + 1; at < after + 3 * 86400; at++) {
        time_t time = at;
        struct tm tm;
        gmtime_r(&time, &tm);
        if ((cron->second >> tm.tm_sec & 1) && (cron->minute >> tm.tm_min & 1)
            && (cron->hour >> tm.tm_hour & 1) && (cron->month >> (tm.tm_mon + 1) & 1)
            && (cron->day >> tm.tm_mday & 1) && (cron->weekday >> tm.tm_wday & 1))
            return at;
    }
    return -1;
}

static void
test_limits(void)
{
    struct cron cron;
    const char *why;
    char text[CRON_MAX + 2];
    memset(text, ' ', sizeof(text));
    memcpy(text, "1 2 3 4 5", 9);
    text[CRON_MAX] = '\0';
    ok(cron_parse(text, &cron, &why) == AZ_OK, "an expression of CRON_MAX octets is read");
    text[CRON_MAX] = ' ';
    text[CRON_MAX + 1] = '\0';
    ok(cron_parse(text, &cron, &why) == AZ_INVALID, "one octet more is refused");
}

int
main(void)
{
    struct cron cron;
    const char *why;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        enum az_status st = cron_parse(good[i].text, &cron, &why);
        int64_t next = st == AZ_OK ? cron_next(&cron, seconds(good[i].after)) : -2;
        is_int(next, seconds(good[i].next), "\"%s\" after %s: %s", good[i].text, good[i].after,
               good[i].name);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        why = NULL;
        memset(&cron, 7, sizeof(cron));
        struct cron before = cron;
        ok(cron_parse(bad[i].text, &cron, &why) == AZ_INVALID && why != NULL
               && strstr(why, bad[i].why) != NULL,
           "\"%s\" is refused, and it says what is wrong: %s", bad[i].text, bad[i].name);
        is_bin(&cron, sizeof(cron), &before, sizeof(before), "... and nothing is written");
    }
    static const char *const plain[] = {"*/7 */5 * * *", "3 2/9 1-4,20 * * *", "30 59 23 * * 6,0"};
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        int64_t at = seconds("2026-11-21T11:00:00Z");
        bool equal = cron_parse(plain[i], &cron, &why) == AZ_OK;
        for (int n = 0; n < 20 && equal; n++) {
            int64_t next = cron_next(&cron, at), slow = next_slowly(&cron, at);
            equal = next == slow || (slow < 0 && next > at);
            at = next;
        }
        ok(equal, "\"%s\": twenty times, as a look at each second finds them", plain[i]);
    }
    test_limits();
    return done();
}
