/* The request target at an upstream: nothing that a caller sends can reach scheme, host or port, or
 * leave the path of upstreamUrl (gateway-admin.md 3.2). */
#ifndef AZ_GATEWAY_UPSTREAM_TARGET_H
#define AZ_GATEWAY_UPSTREAM_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Longest request target, in octets; the limit of our own. */
#define UPSTREAM_TARGET_MAX 8000

/* The fixed part of an address; on mem. */
struct upstream_origin {
    const char *origin; /* scheme://host[:port] */
    const char *scheme; /* http or https */
    const char *host;   /* lower case, IPv6 without brackets */
    const char *path;   /* as written; may be empty */
};

/*
 * Split upstreamUrl. AZ_INVALID: not http or https with a host in plain characters, or it has user
 * information, a query or a fragment. Refuse a URL that two parsers may read differently: a trusted
 * name could hide another host.
 */
enum az_status upstream_origin_read(TALLOC_CTX *mem, const char *url, struct upstream_origin *ret);

/* Return the path of an upstreamUrl below which paths are asked for: without slashes at its end. On
 * mem, or NULL if out of memory. */
char *upstream_base_path(TALLOC_CTX *mem, const char *path);

/*
 * Return the query without the parameters that are not in `allow` (names as decoded once; the
 * values keep their encoding); a NULL `allow` keeps all. `own` is a parameter that we set
 * ourselves, or NULL: the caller's is dropped. A semicolon is encoded, because some servers split
 * at it. On mem, or NULL if out of memory.
 */
char *upstream_query(TALLOC_CTX *mem, const char *query, const char *const *allow,
                     size_t allow_count, const char *own);

/* Append a parameter to a query, encoded. On mem, or NULL if out of memory. */
char *upstream_query_add(TALLOC_CTX *mem, const char *query, const char *name, const char *value);

/* Join base path, path and query to a request target. AZ_INVALID: a character that RFC 3986 3.3 and
 * 3.4 do not have, such as "#", a backslash or a lone "%", a segment that is or decodes to "." or
 * "..", or longer than UPSTREAM_TARGET_MAX. */
enum az_status upstream_target(TALLOC_CTX *mem, const char *base, const char *path,
                               const char *query, char **ret);

#endif
