/* Finding the row of the routing table for a request. */
#ifndef AZ_HTTP_MATCH_H
#define AZ_HTTP_MATCH_H

#include "http/route.h"

struct settings;

/*
 * Match a raw path against a pattern, segment by segment, so that %2F stays inside its segment.
 * `values` gets the decoded {name} segments. AZ_NOT_FOUND: it does not match. AZ_SERVER_ERROR: out
 * of memory for a value. A pattern whose last segment is ** matches the path
 * before it and everything below; its last value is the rest of the raw path, undecoded: "", or a
 * slash and more.
 */
enum az_status route_path_matches(TALLOC_CTX *mem, const char *pattern, const char *path,
                                  const char **values);

/* Find the row for a method and raw path, among those that the settings switch on (NULL: all). A
 * slash at the end counts but for rows that take it (route.h `slash`).
 * AZ_NOT_FOUND: there is none; if only the method is wrong, *ret_other is the path's first row, and
 * *ret_allow its methods. AZ_SERVER_ERROR: out of memory, which does not say that nothing is there.
 */
enum az_status route_find(TALLOC_CTX *mem, const struct settings *cfg, const char *method,
                          const char *path, const char **values, const struct route **ret,
                          const struct route **ret_other, const char **ret_allow);

#endif
