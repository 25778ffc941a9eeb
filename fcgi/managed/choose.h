/* The route of a request (gateway-admin.md 3.2), chosen on the raw path. */
#ifndef AZ_MANAGED_CHOOSE_H
#define AZ_MANAGED_CHOOSE_H

#include "managed/managed.h"

/* The route of a request, and what its path holds. */
struct managed_choice {
    const struct managed_route *route;
    json_t *values;    /* object of texts: the path's variables by name, decoded once; on mem */
    const char *path;  /* the canonical path: the one that the route was chosen by; on mem */
    const char *rest;  /* canonical text that the two asterisks stand for, without its first slash;
                          ""  if it ends with one; NULL: nothing is there, or no asterisks */
    const char *allow; /* AZ_METHOD_NOT_ALLOWED: the methods of the path, "GET, POST" */
};

/*
 * Choose the route for a method and the raw path below /gateway/{name}: "" or "/a/b%20c", as in
 * REQUEST_URI, without query. Unreserved characters are decoded first (RFC 3986 6.2.2.2), so that
 * one text chooses the route, is shown to policy and is sent. Most literal segments win, then a
 * path without asterisks, then fewer variables, then the first one. A disabled route takes its
 * paths from wider ones: they are AZ_NOT_FOUND.
 *
 * AZ_INVALID_REQUEST: the path is not safe: a segment that decodes to "." or "..", a backslash, a
 * NUL or another control character, raw or encoded, a lone "%", or octets that are no UTF-8 (RFC
 * 3629 forbids overlong forms, which hide dots and slashes); "%2F" where neither
 * asterisks nor a route with encodedSlash take it; a path that an upstream might take for one of
 * another route (match.h). AZ_NOT_FOUND: no route has this path. AZ_METHOD_NOT_ALLOWED: one has,
 * for other methods. AZ_SERVER_ERROR: out of memory. Nothing is decoded twice.
 */
enum az_status managed_choose(TALLOC_CTX *mem, const struct managed_resource *resource,
                              const char *method, const char *path, struct managed_choice *ret);

/*
 * Build the raw path at the upstream, to be added to the path of upstreamUrl: the variables of
 * upstreamPath get the values of the choice (texts, encoded here), the asterisks its `rest`.
 * AZ_INVALID: a value is missing or no safe segment: "", ".", "..", or it has a backslash, a
 * control character, or a slash without encodedSlash. AZ_INVALID_REQUEST: the path, held against
 * upstreamPath of all routes, may be that of another one (match.h), which policy was not asked
 * about.
 */
enum az_status managed_upstream_path(TALLOC_CTX *mem, const struct managed_resource *resource,
                                     const char *method, const struct managed_choice *choice,
                                     char **ret);

#endif
