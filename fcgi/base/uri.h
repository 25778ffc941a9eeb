/* URIs (RFC 3986): their parts, and the rules for those that clients register. */
#ifndef AZ_BASE_URI_H
#define AZ_BASE_URI_H

#include <stdbool.h>
#include <talloc.h>

#include "base/status.h"

/* Longest URI, in octets. Browsers and proxies cut longer ones, and a registered one is compared
 * on every authorization. */
#define URI_MAX 2048

/* The parts, each NUL-terminated. NULL: the part is absent; "": it is present and empty. */
struct uri {
    const char *scheme;   /* in lower case, never NULL */
    const char *userinfo; /* before the @ of the authority */
    const char *host;     /* in lower case, IPv6 without brackets; NULL without authority */
    const char *port;     /* digits */
    const char *path;     /* never NULL */
    const char *query;    /* after ? */
    const char *fragment; /* after # */
};

/*
 * Parse a URI with a scheme:
 *
 * URI = scheme ":" [ "//" authority ] path [ "?" query ] [ "#" fragment ]
 *
 * The parts live on mem. AZ_INVALID: longer than URI_MAX, a character that RFC 3986 does not have
 * (spaces, backslashes, controls, anything beyond ASCII), a lone %, a bad IPv6 literal or port, or
 * a scheme of http or https without host.
 */
enum az_status uri_parse(TALLOC_CTX *mem, const char *text, struct uri *ret);

/*
 * True if a URI that uri_parse() accepts has one spelling alone (RFC 3986 6.2.2), so that a rule
 * about its text holds for what a server makes of it: scheme and host in lower case, no encoded
 * unreserved or control character, encodings in upper case, and no segment "." or "..", not even
 * with encoded slashes or backslashes or before a semicolon; no port that is empty or begins with
 * 0; for http and https no default port, no user and no dot behind the host; no fragment and no
 * empty query, and for file no query. False also without memory.
 */
bool uri_is_canonical(const char *text);

/* Return the target of a redirect as a source of a Content-Security-Policy: the origin
 * (scheme://host[:port]) of http and https, `scheme:` of all others. On mem; NULL: no memory. */
const char *uri_origin(TALLOC_CTX *mem, const struct uri *uri);

/* Return the place that a redirect leads to, for display: the host of http and https, the scheme of
 * all others. On mem; NULL: no memory. */
const char *uri_place(TALLOC_CTX *mem, const char *text);

/* True if a host in lower case is the machine of the browser: 127.0.0.1, ::1, localhost (RFC
 * 8252 section 7.3). */
bool uri_host_is_loopback(const char *host);

/* True if a host in lower case is in a list from the settings: names separated by commas,
 * compared whole and without regard to case; IPv6 addresses in brackets. NULL is an empty list. */
bool uri_host_is_listed(const char *list, const char *host);

/* The fault of a redirect URI whose scheme is not allowed. */
#define URI_SCHEME_FAULT "must use https, or a private scheme with a dot such as com.example.app"

/* Return the length of the scheme of a URI if it is a private scheme without a dot, or 0. */
size_t uri_dotless_scheme(const char *text);

/*
 * Return the fault of a URI as a text that fits after its name, or NULL. redirect: a registered
 * address that codes are sent to (oauth.md 3.2, RFC 9700 section 2.1). https: an address that keys
 * are fetched from. web: an address that a page links to.
 */
const char *uri_redirect_fault(const char *text);
const char *uri_https_fault(const char *text);
const char *uri_web_fault(const char *text);

#endif
