/* Finding the row of the routing table for a request. */
#ifndef AZ_HTTP_MATCH_H
#define AZ_HTTP_MATCH_H

#include "http/route.h"

/* Return the row for a method and raw path. If only the method is wrong: NULL, with the path's
 * first row in *ret_other and its methods in *ret_allow. */
const struct route *route_find(TALLOC_CTX *mem, const char *method, const char *path,
                               const char **values, const struct route **ret_other,
                               const char **ret_allow);

#endif
