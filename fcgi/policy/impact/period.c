#include "config.h"

#include "policy/impact/period.h"

#include <stddef.h>
#include <string.h>

#include "base/iso8601.h"

/* The units of a period. */
static const struct {
    char letter;
    int64_t ms;
} units[] = {
    {'m', 60000   },
    {'h', 3600000 },
    {'d', 86400000},
};

/* Read a period whose other end is now, `direction` -1 or 1, or an instant. */
static bool
read_end(const char *text, int64_t now_ms, int direction, int64_t *ret_ms)
{
    size_t length = strlen(text);
    int64_t number = 0;
    const char *at = text;
    while (*at >= '0' && *at <= '9' && number <= IMPACT_PERIOD_MAX)
        number = number * 10 + (*at++ - '0');
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (at != text && at[0] == units[i].letter && at[1] == '\0') {
            *ret_ms = now_ms + direction * number * units[i].ms;
            return number > 0 && number <= IMPACT_PERIOD_MAX;
        }
    return iso8601_parse(text, length, ret_ms) == AZ_OK;
}

bool
impact_period_read(const char *text, int64_t now_ms, int64_t *ret_ms)
{
    return read_end(text, now_ms, -1, ret_ms);
}

bool
impact_period_read_end(const char *text, int64_t now_ms, int64_t *ret_ms)
{
    return read_end(text, now_ms, 1, ret_ms);
}
