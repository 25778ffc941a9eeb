/*
 * Names in a Cedar rule that the service does not have: a type, an action or a member of
 * context.svc that is not quite right makes a policy that never applies (policy.md 6.5). Types and
 * actions of access requests are their callers' own, so that only near misses are faults. And what
 * has no effect in the mode of the service: permits, unless it is `source`, and all while it is
 * `off`.
 */
#ifndef AZ_POLICY_ROWS_CEDAR_UNKNOWN_H
#define AZ_POLICY_ROWS_CEDAR_UNKNOWN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

/* The shipped file with the schema, in the JSON form of Cedar schemas. */
#define CEDAR_SCHEMA_FILE "service.cedarschema.json"

/* Facts beside the rule. */
struct cedar_known {
    const json_t *schema;   /* of CEDAR_SCHEMA_FILE */
    const char *const *row; /* payloads of the rows svc.cedar_data.*: their types are known */
    size_t rows;
    const char *mode; /* cedar_mode of the service: guard, source or off; NULL: not known */
};

/*
 * Add a warning for each unknown name of a rule: texts "path:line:column: ...", each name once.
 * `faults` has what can never apply, `notes` what applies to access requests (AuthZEN) alone; the
 * same array may be given twice. A rule that cannot be parsed has none. False: out of memory.
 */
bool cedar_unknown_find(TALLOC_CTX *mem, const struct cedar_known *known, const char *path,
                        const char *content, json_t *faults, json_t *notes);

#endif
