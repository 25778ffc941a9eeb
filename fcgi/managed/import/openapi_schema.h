/* References and schemas of an OpenAPI document; openapi.c reads the rest. */
#ifndef AZ_MANAGED_OPENAPI_SCHEMA_H
#define AZ_MANAGED_OPENAPI_SCHEMA_H

#include "managed/import/openapi.h"

/* The schemas of one document. */
struct openapi_schemas {
    const json_t *document;
    size_t octets;                        /* made so far, of all schemas */
    size_t hops;                          /* references that are open */
    const json_t *open[OPENAPI_HOPS_MAX]; /* their targets */
    const char *why;                      /* fault of the value that was asked for */
    bool lost;                            /* memory ran out */
};

/* Return the value, or the one that its $ref leads to, or NULL with the reason in schemas->why. */
const json_t *openapi_follow(struct openapi_schemas *schemas, const json_t *value);

/*
 * Return a copy of a schema as JSON Schema 2020-12 without references, a new reference, or NULL
 * with the reason in schemas->why, or memory ran out. Keywords that are not in the table of this
 * file, and those beside a $ref, are left out: they can only make the check of arguments looser,
 * and the upstream has its own.
 */
json_t *openapi_schema(struct openapi_schemas *schemas, const json_t *schema);

#endif
