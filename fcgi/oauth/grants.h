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
    const char *type;                                                 /* wire value of grant_type */
    enum az_status (*issue)(struct request *req, struct issued *ret); /* NULL: not available yet */
    bool confidential_only; /* public clients may not use it */
    bool registered_only;   /* a client that registered grant types must have registered this one */
    bool advertised;        /* listed in grant_types_supported */
    bool registrable;       /* a client may register for it */
    /* Form parameters, ending with a name that is NULL. A request without a required one is refused
     * by token.c. */
    struct route_param params[GRANT_PARAMS_MAX + 1];
};

/* THE table of grants, those that are not available yet included. */
extern const struct grant grant_table[];
extern const size_t grant_table_count;

/* Return the row of a grant type, or NULL. */
const struct grant *grant_of_type(const char *type);

/* Return the parameter of this name of any grant, or NULL. */
const struct route_param *grants_find_param(const char *name);

/* Return the grant types for discovery and for registration: a list on mem that ends with NULL, or
 * NULL without memory. */
const char *const *grants_advertised(TALLOC_CTX *mem);
const char *const *grants_registrable(TALLOC_CTX *mem);

#endif
