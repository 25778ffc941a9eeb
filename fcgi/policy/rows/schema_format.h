/* The formats of schema.h. */
#ifndef AZ_POLICY_ROWS_SCHEMA_FORMAT_H
#define AZ_POLICY_ROWS_SCHEMA_FORMAT_H

#include <stdbool.h>

/* One format: OPA must be able to use what passes, because a rule that cannot evaluate its check
 * denies everybody. */
struct schema_format {
    const char *name;    /* as in a schema */
    const char *message; /* what a failing text is told */
    bool (*matches)(const char *text);
};

/* The row of a format, NULL for an unknown one. */
const struct schema_format *schema_format_find(const char *name);

/*
 * Whether names of time zones can be looked up on this host. Without the tz database only their
 * syntax is checked, and whoever accepts a row must say so.
 */
bool schema_format_knows_zones(void);

#endif
