/* The state of reading one OpenAPI document; shared by openapi.c and openapi_arguments.c. */
#ifndef AZ_MANAGED_OPENAPI_PRIVATE_H
#define AZ_MANAGED_OPENAPI_PRIVATE_H

#include "base/json/jsonx.h"
#include "managed/import/openapi_schema.h"

/* The state of one reading. */
struct openapi_state {
    const struct openapi_reading *reading;
    TALLOC_CTX *mem;
    struct openapi_schemas schemas;
    struct jsonx_build routes, tools;
    struct jsonx_build shapes; /* object: paths with their variables as {} */
    struct jsonx_build ids;    /* object: ids of routes */
    bool faulty;
    size_t faults;
};

/* The places of arguments outside the body. */
enum place { PLACE_PATH, PLACE_QUERY, PLACE_HEADER, PLACES };

/* The operation that is being read. */
struct operation {
    struct openapi_state *state;
    const char *at; /* "paths./pets.get." */
    const char *path;
    struct managed_pattern pattern;
    const json_t *object;
    struct jsonx_build args[PLACES]; /* lists of names, one for each place */
    struct jsonx_build properties, required;
    struct jsonx_build repeat; /* names of parameters of the query that are arrays */
    json_t *body; /* names of its members, or "*"; a new reference, or NULL without a body */
    bool closed;  /* the tool accepts no other arguments */
};

/* Name of a place in args: path, query, header. */
const char *openapi_place_word(enum place place);

/* Tell a fault of a member of the operation. */
void openapi_tell_in(struct operation *operation, const char *member, const char *why);

/* Return a text cut to a number of code points, a new reference, or NULL if it is not one or out of
 * memory, which is recorded. */
json_t *openapi_cut_text(struct openapi_state *state, const json_t *value, size_t max);

/* Read the parameters and the body of an operation of a path item into its lists. */
void openapi_read_arguments(struct operation *operation, const json_t *item);

#endif
