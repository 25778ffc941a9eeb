/* The one table of header fields that stand between callers, this service and upstreams
 * (gateway-admin.md 3.2). Documents, the obligations of policy and the gateway ask it. */
#ifndef AZ_MANAGED_HEADERS_H
#define AZ_MANAGED_HEADERS_H

#include <stdbool.h>

struct managed_headers;

/* Octets of a name that a document or a rule may use. */
#define MANAGED_HEADER_NAME_MAX 64

/* tchar (RFC 9110 5.6.2). */
#define HEADER_NAME_CHARS                                                                          \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"

/* Uses of a header field. */
enum header_use {
    HEADER_SENT = 1 << 0,        /* in a request to an upstream, but for the credential */
    HEADER_BY_POLICY = 1 << 1,   /* obligation `headers` */
    HEADER_IN_REQUEST = 1 << 2,  /* requestHeaders */
    HEADER_FORWARDED = 1 << 3,   /* forwardHeaders, and arguments of tools */
    HEADER_IN_ANSWER = 1 << 4,   /* response.headers of a STATIC resource */
    HEADER_CREDENTIAL = 1 << 5,  /* upstreamAuth.header */
    HEADER_PASSED_BACK = 1 << 6, /* from an upstream's answer to the caller */
};

/*
 * True if a header field may be used so. Names are compared without case, and an underscore is a
 * dash, because an upstream behind CGI does not tell them apart (RFC 3875 4.1.18). The caller
 * checks the grammar of the name. A field that may be used by policy or by a document may be sent.
 */
bool header_may_be(const char *name, enum header_use use);

/* True if two names are one field at an upstream: the same comparison. */
bool header_is(const char *one, const char *other);

/* True if a list has a field of this name. */
bool managed_headers_have(const struct managed_headers *headers, const char *name);

#endif
