/*
 * The request that a web server asks about (gateway-admin.md 1.8), and the resource that it belongs
 * to. A request that our parser and the web server's could read differently is refused: what policy
 * decides about must be what is served. Nothing here knows HTTP or SQL.
 */
#ifndef AZ_GATEWAY_CHECK_FORWARDED_H
#define AZ_GATEWAY_CHECK_FORWARDED_H

#include "base/status.h"
#include "managed/managed.h"

/* Octets of a method (RFC 9110 9.1); the methods of managed resources have at most seven. */
#define FORWARDED_METHOD_MAX 20
/* Octets of a request target, as the gateway itself takes them. */
#define FORWARDED_URI_MAX 8000
/* Octets of a host with its port: a name of DNS has at most 253. */
#define FORWARDED_HOST_MAX 260

/* The header fields of the web server, or NULL if absent. */
struct forwarded_fields {
    const char *method; /* X-Forwarded-Method */
    const char *proto;  /* X-Forwarded-Proto */
    const char *host;   /* X-Forwarded-Host */
    const char *uri;    /* X-Forwarded-Uri */
};

/* The request. */
struct forwarded {
    const char *method;
    const char *origin; /* https://shop.example, in lower case, without the scheme's own port */
    const char *raw;    /* path as it was sent, except for raw characters (base/raw_uri.h) */
    const char *path;   /* encodings of unreserved characters decoded (RFC 3986 6.2.2.2) */
    const char *query;  /* likewise; "" without a query */
};

/*
 * Read the fields. AZ_INVALID_REQUEST: one is missing, came twice (web servers join such fields
 * with a comma) or has no such form, and *ret_why names it. AZ_INVALID: path or query has a raw
 * character that is not encoded (base/raw_uri.h). AZ_FORBIDDEN: the path is ambiguous: an encoded
 * slash or backslash, an empty segment, a dot segment or a path parameter; or the query has a
 * semicolon. AZ_SERVER_ERROR: out of memory.
 */
enum az_status forwarded_read(TALLOC_CTX *mem, const struct forwarded_fields *fields,
                              struct forwarded *ret, const char **ret_why);

/* A public address of a resource, and the rest of the path behind it in a request. */
struct forwarded_match {
    const struct managed_resource *resource; /* NULL if no resource has the address */
    const char *url;                         /* of publicUrls */
    size_t place;                            /* there */
    const char *rest;                        /* path behind it, "" or with a slash */
    bool ambiguous; /* two resources have the address, or a longer one resembles the request */
};

/*
 * Find the resource whose public address is the longest that a request begins with, at the end of a
 * segment. A longer one may resemble the request: it differs in the case of letters, or by encoded
 * path parameters. A server that does not tell them apart would serve that one.
 */
void forwarded_find(const struct forwarded *request, const struct managed_resource *const *resource,
                    size_t count, struct forwarded_match *ret);

#endif
