/* The failures that a validation finds, and the places in the value where it finds them. */
#ifndef AZ_BASE_JSON_SCHEMA_SCHEMA_FAILURES_H
#define AZ_BASE_JSON_SCHEMA_SCHEMA_FAILURES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

struct buf;

/* Failures reported: a row of a megabyte can have a hundred thousand, and no caller reads more. */
#define SCHEMA_FAILURES_MAX 100

/* Octets of a failure's path. Names of members come from the caller; a longer path ends at an
 * ancestor that fits. */
#define SCHEMA_PATH_MAX 1024

/* A place in the value; the names are the value's own. */
struct schema_place {
    const struct schema_place *up; /* NULL at the top */
    const char *name;              /* member, or NULL for an item */
    size_t index;                  /* of the item */
};

/* The failures found so far. */
struct schema_failures {
    TALLOC_CTX *mem;    /* for messages */
    json_t *list;       /* array of {path, message} */
    bool out_of_memory; /* the list is incomplete and does not count */
};

/* Append "/" and a name as a reference token (RFC 6901 section 3). */
void schema_append_token(struct buf *pointer, const char *name);

/* True if no further failure is recorded: the list is full, or memory ran out. */
bool schema_failures_full(const struct schema_failures *failures);

/* Record a failure. A NULL message is an allocation that failed. */
void schema_fail(struct schema_failures *failures, const struct schema_place *place,
                 const char *message);

/* Record the failure "<text> <value of the keyword><unit>". */
void schema_fail_rule(struct schema_failures *failures, const struct schema_place *place,
                      const char *text, const json_t *rule, const char *unit);

/* Record every failure of another list. */
void schema_failures_append(struct schema_failures *failures, const json_t *list);

#endif
