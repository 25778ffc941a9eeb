/* The grants of POST /token as one table. Discovery, registration and the accepted form parameters
 * follow from it. */
#ifndef AZ_OAUTH_GRANTS_H
#define AZ_OAUTH_GRANTS_H

#include "http/route.h"

struct issued;

/* Parameters that one grant may have. */
#define GRANT_PARAMS_MAX 12

/*
 * One grant. A new grant is a row and a file with its `issue` function. That function reads the
 * request, asks policy and issues tokens; it returns AZ_STALE without a fault if the cached
 * client is out of date, and is then called again with the client as it is now.
 */
struct grant {
    const char *type; /* wire value of grant_type */
    enum az_status (*issue)(struct request *req, struct issued *ret);
    bool confidential_only; /* public clients may not use it */
    /* Form parameters, ending with a name that is NULL. A request without a required one is refused
     * by token.c. */
    struct route_param params[GRANT_PARAMS_MAX + 1];
};

/* THE table of grants. */
extern const struct grant grant_table[];
extern const size_t grant_table_count;

/* Return the row of a grant type, or NULL. */
const struct grant *grant_of_type(const char *type);

/* Return the parameter of this name of any grant, or NULL. */
const struct route_param *grants_find_param(const char *name);

/* Return all grant types: a list on mem that ends with NULL, or NULL without memory. */
const char *const *grant_types(TALLOC_CTX *mem);

#endif
