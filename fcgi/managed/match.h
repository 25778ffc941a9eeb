/* Match a path with routes, as the gateway reads it and as other servers may (gateway-admin.md
 * 3.2). */
#ifndef AZ_MANAGED_MATCH_H
#define AZ_MANAGED_MATCH_H

#include "managed/pattern.h"

/* The segments of a path. */
struct managed_parts {
    struct managed_part *part;
    size_t count;
    bool slash; /* a segment holds an encoded slash */
};

/* Read the segments of a path. AZ_INVALID: it is not safe (choose.h). */
enum az_status managed_parts_read(TALLOC_CTX *mem, const char *path, struct managed_parts *ret);

/* A path among the routes of a resource. */
struct managed_path {
    const struct managed_resource *resource;
    const char *method;
    bool sent; /* the path is the one at the upstream, so it is held against upstreamPath */
    struct managed_parts parts;
};

/* True if a route takes the path, by the rules of this service; its methods are not looked at. */
bool managed_path_is_of(const struct managed_path *path, const struct managed_route *route);

/*
 * Return the route of the path and its method, or NULL: most literal segments win, then a pattern
 * without asterisks, then fewer variables, then the first one. Disabled routes count, but of two
 * routes with the same pattern an enabled one wins.
 */
const struct managed_route *managed_path_closest(const struct managed_path *path);

/*
 * Check that the path belongs to this route and to no other one, however a server reads it.
 * Otherwise the caller would get the request of a route that policy was not asked about, whose
 * scopes and obligations are others: as "//admin/x", "/admin%2Fx", "/admin;a/x", "/ADMIN/x", with a
 * slash at the end, or as a variable whose value is a literal of that route. Disabled routes count,
 * because nobody may reach them; so do routes with GET for HEAD, which servers answer as a GET (RFC
 * 9110 9.3.2). AZ_INVALID_REQUEST: it may be the path of another route.
 */
enum az_status managed_path_check(TALLOC_CTX *mem, const struct managed_path *path,
                                  const struct managed_route *route);

#endif
