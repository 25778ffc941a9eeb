#include "config.h"

#include "base/iso8601.h"

#include <string.h>
#include <time.h>

#include "tap.h"

/* clang-format off */
static const struct {
    int64_t seconds;
    const char *text;
} formats[] = {
    {0, "1970-01-01T00:00:00Z"},
    {-1, "1969-12-31T23:59:59Z"},
    {951782400, "2000-02-29T00:00:00Z"},
    {951868799, "2000-02-29T23:59:59Z"},
    {951868800, "2000-03-01T00:00:00Z"},
    {1767225600, "2026-01-01T00:00:00Z"},
    {2147483647, "2038-01-19T03:14:07Z"},
    {2147483648, "2038-01-19T03:14:08Z"},
    {4107542400, "2100-03-01T00:00:00Z"},
    {-2203891200, "1900-03-01T00:00:00Z"},
    {ISO8601_SECONDS_MIN, "0001-01-01T00:00:00Z"},
    {ISO8601_SECONDS_MAX, "9999-12-31T23:59:59Z"},
};
/* clang-format on */

/* clang-format off */
static const struct {
    const char *text;
    int64_t ms;
    const char *name;
} accepted[] = {
    {"1985-04-12T23:20:50.52Z", 482196050520, "RFC 3339 5.8, first example"},
    {"1996-12-19T16:39:57-08:00", 851042397000, "RFC 3339 5.8, second example"},
    {"1937-01-01T12:00:27.87+00:20", -1041337172130, "RFC 3339 5.8, last example"},
    {"1970-01-01T00:00:00Z", 0, "the epoch"},
    {"1970-01-01T00:00:00+00:00", 0, "offset zero"},
    {"1970-01-01T00:00:00-00:00", 0, "unknown offset (RFC 3339 4.3)"},
    {"1970-01-01T00:00:00.1Z", 100, "one digit of fraction"},
    {"1970-01-01T00:00:00.999999999Z", 999, "nine digits of fraction, cut off"},
    {"1970-01-01T23:59:00+23:59", 0, "the largest offset"},
    {"2024-02-29T00:00:00Z", 1709164800000, "a leap day"},
    {"0001-01-01T00:00:00Z", ISO8601_SECONDS_MIN * 1000, "the first second"},
    {"9999-12-31T23:59:59.999Z", ISO8601_SECONDS_MAX * 1000 + 999, "the last millisecond"},
};
/* clang-format on */

/* clang-format off */
static const struct {
    const char *text;
    const char *why;
} refused[] = {
    {"", "nothing"},
    {"1970-01-01", "a date alone"},
    {"1970-01-01T00:00:00", "no offset"},
    {"1970-01-01T00:00Z", "no seconds"},
    {"1970-01-01t00:00:00Z", "a small t"},
    {"1970-01-01T00:00:00z", "a small z"},
    {"1970-01-01 00:00:00Z", "a space for the T"},
    {"70-01-01T00:00:00Z", "a year of two digits"},
    {"+1970-01-01T00:00:00Z", "a sign before the year"},
    {"12026-01-01T00:00:00Z", "a year of five digits"},
    {"0000-01-01T00:00:00Z", "the year 0"},
    {"1970-00-01T00:00:00Z", "month 0"},
    {"1970-13-01T00:00:00Z", "month 13"},
    {"1970-01-00T00:00:00Z", "day 0"},
    {"1970-01-32T00:00:00Z", "January 32"},
    {"1970-04-31T00:00:00Z", "April 31"},
    {"2023-02-29T00:00:00Z", "February 29 in a common year"},
    {"1900-02-29T00:00:00Z", "February 29 in 1900"},
    {"2024-02-30T00:00:00Z", "February 30"},
    {"1970-01-01T24:00:00Z", "hour 24"},
    {"1970-01-01T00:60:00Z", "minute 60"},
    {"1998-12-31T23:59:60Z", "second 60"},
    {"1970-01-01T00:00:00.Z", "an empty fraction"},
    {"1970-01-01T00:00:00,5Z", "a comma"},
    {"1970-01-01T00:00:00.1234567890Z", "ten digits of fraction"},
    {"1970-01-01T00:00:00+24:00", "offset hour 24"},
    {"1970-01-01T00:00:00+00:60", "offset minute 60"},
    {"1970-01-01T00:00:00+0000", "an offset without a colon"},
    {"1970-01-01T00:00:00+00", "an offset without minutes"},
    {"1970-01-01T00:00:00ZZ", "text after the end"},
    {"1970-01-01T00:00:00Z ", "a space after the end"},
    {" 1970-01-01T00:00:00Z", "a space before it"},
    {"1970-01-01T00:00: 1Z", "a space for a digit"},
    {"1970-01-01T00:00:-1Z", "a minus sign for a digit"},
    {"1970-1-1T00:00:00Z", "one digit for the month"},
    {"1970-W01-1T00:00:00Z", "a week date"},
    {"0001-01-01T00:00:00+00:01", "a result before the first second"},
    {"9999-12-31T23:59:59-00:01", "a result after the last second"},
    {"1970\xd9\xa0"
     "01-01T00:00:00Z",
     "digits of another script"},
};
/* clang-format on */

static void
test_format(void)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        char text[ISO8601_SIZE] = "";
        int64_t ms = 1;
        is_int(iso8601_format(formats[i].seconds, text), AZ_OK, "format %s", formats[i].text);
        is_str(text, formats[i].text, "... as text");
        iso8601_parse(text, strlen(text), &ms);
        is_int(ms, formats[i].seconds * 1000, "... and back");
    }
    char text[ISO8601_SIZE] = "kept";
    is_int(iso8601_format(ISO8601_SECONDS_MIN - 1, text), AZ_INVALID, "format: before year 1");
    is_int(iso8601_format(ISO8601_SECONDS_MAX + 1, text), AZ_INVALID, "format: after year 9999");
    is_int(iso8601_format(INT64_MIN, text), AZ_INVALID, "format: the smallest number");
    is_int(iso8601_format(INT64_MAX, text), AZ_INVALID, "format: the largest number");
    is_str(text, "kept", "format leaves the output alone on failure");
}

static void
test_format_ms(void)
{
    char text[ISO8601_MS_SIZE] = "";

    iso8601_format_ms(1767225600007, text);
    is_str(text, "2026-01-01T00:00:00.007Z", "format_ms");
    iso8601_format_ms(-1, text);
    is_str(text, "1969-12-31T23:59:59.999Z", "format_ms before 1970");
    iso8601_format_ms(ISO8601_SECONDS_MAX * 1000 + 999, text);
    is_str(text, "9999-12-31T23:59:59.999Z", "format_ms: the last millisecond");
    is_int(iso8601_format_ms((ISO8601_SECONDS_MAX + 1) * 1000, text), AZ_INVALID,
           "format_ms: one past it");
    is_int(iso8601_format_ms(ISO8601_SECONDS_MIN * 1000 - 1, text), AZ_INVALID,
           "format_ms: one before the first");
    is_int(iso8601_format_ms(INT64_MIN, text), AZ_INVALID, "format_ms: the smallest number");
}

static void
test_parse(void)
{
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        int64_t ms = -7;
        iso8601_parse(accepted[i].text, strlen(accepted[i].text), &ms);
        is_int(ms, accepted[i].ms, "parse: %s", accepted[i].name);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        int64_t ms = -7;
        enum az_status status = iso8601_parse(refused[i].text, strlen(refused[i].text), &ms);
        ok(status == AZ_INVALID && ms == -7, "parse refuses %s", refused[i].why);
    }
    int64_t ms;
    is_int(iso8601_parse("1970-01-01T00:00:00Z\0", 21, &ms), AZ_INVALID, "parse refuses a NUL");
}

static void
test_parse_day(void)
{
    static const char *const refused_days[] = {
        "",          "2026-1-31",  "2026-02-29",           "2026-01-31Z",
        "2026-01-3", "0000-01-01", "2026-01-31T00:00:00Z", "2026 01 31"};
    int64_t ms = -7;
    iso8601_parse_day("2026-01-31", 10, &ms);
    is_int(ms, 1769817600000, "a day is its first millisecond in UTC");
    iso8601_parse_day("2026-01-31T", 10, &ms);
    is_int(ms, 1769817600000, "octets past the length of a day are not read");
    for (size_t i = 0; i < sizeof(refused_days) / sizeof(refused_days[0]); i++) {
        ms = -7;
        enum az_status status = iso8601_parse_day(refused_days[i], strlen(refused_days[i]), &ms);
        ok(status == AZ_INVALID && ms == -7, "no full-date of RFC 3339 section 5.6: '%s'",
           refused_days[i]);
    }
}

/* Each day of 9999 years at an odd second, against the C library. */
static void
test_every_day(void)
{
    unsigned wrong = 0;

    for (int64_t at = ISO8601_SECONDS_MIN + 40271; at <= ISO8601_SECONDS_MAX; at += 86400) {
        char text[ISO8601_SIZE];
        char wanted[64];
        struct tm tm;
        time_t time = (time_t) at;
        gmtime_r(&time, &tm);
        size_t len = strftime(wanted, sizeof(wanted), "-%m-%dT%H:%M:%SZ", &tm);
        iso8601_format(at, text);
        wrong += strcmp(text + 4, wanted) != 0 || len != 16;
        wrong +=
            (text[0] - '0') * 1000 + (text[1] - '0') * 100 + (text[2] - '0') * 10 + (text[3] - '0')
            != tm.tm_year + 1900;
    }
    is_int(wrong, 0, "every day of the years 1 to 9999 is as gmtime() says");
}

int
main(void)
{
    plan(0);
    test_format();
    test_format_ms();
    test_parse();
    test_parse_day();
    test_every_day();
    return done();
}
