/* Finding the row of the routing table for a request. */
#ifndef AZ_HTTP_MATCH_H
#define AZ_HTTP_MATCH_H

#include "http/route.h"

struct settings;

/*
 * Match a raw path against a pattern, segment by segment, so that %2F stays inside its segment.
 * `values` gets the decoded {name} segments. A pattern whose last segment is ** matches the path
 * before it and everything below; its last value is the rest of the raw path, undecoded: "", or a
 * slash and more.
 */
bool route_path_matches(TALLOC_CTX *mem, const char *pattern, const char *path,
                        const char **values);

/* Return the row for a method and raw path, among those that the settings switch on (NULL: all). If
 * only the method is wrong: NULL, with the path's first row in *ret_other and its methods in
 * *ret_allow. */
const struct route *route_find(TALLOC_CTX *mem, const struct settings *cfg, const char *method,
                               const char *path, const char **values,
                               const struct route **ret_other, const char **ret_allow);

#endif
