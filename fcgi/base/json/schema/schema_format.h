/* The formats of json_schema.h. */
#ifndef AZ_BASE_JSON_SCHEMA_SCHEMA_FORMAT_H
#define AZ_BASE_JSON_SCHEMA_SCHEMA_FORMAT_H

#include <jansson.h>
#include <stdbool.h>

/* One format. OPA must be able to use every text that passes, because a rule that cannot evaluate
 * its check denies every request. */
struct schema_format {
    const char *name;                             /* as in a schema */
    const char *message;                          /* of a failure */
    bool (*matches)(const char *text);            /* of a string, or NULL */
    bool (*matches_object)(const json_t *object); /* of an object, or NULL */
};

/* Return the row of a format; NULL: unknown. */
const struct schema_format *schema_format_find(const char *name);

/*
 * True if this host can look up the names of time zones. Without the tz database only their syntax
 * is checked, and the answer to the writer of a row must say so (data_check_warning).
 */
bool schema_format_knows_zones(void);

#endif
