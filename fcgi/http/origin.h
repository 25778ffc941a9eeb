/* The Origin of a request from a web page, and the headers by which a browser lets the page read
 * the answer (Fetch). */
#ifndef AZ_HTTP_ORIGIN_H
#define AZ_HTTP_ORIGIN_H

#include <stdbool.h>

#include "http/route.h"

/* Longest list of headers in a preflight request that is read, in octets; of a longer one the names
 * of parameters are left out, and the browser does not send the request. */
#define ORIGIN_HEADERS_MAX 2048

/* True if pages of an origin may call rows of CORS_LISTED: it is that of the issuer, or one of
 * `listed` (separated by commas, or NULL). An Origin has one spelling (RFC 6454 6.2), so the
 * comparison is exact; `null`, which any sandboxed page sends, has to be listed to count. */
bool origin_is_allowed(const char *issuer, const char *listed, const char *origin);

/* Refuse a request to a row of CORS_LISTED by a page that may not call it: AZ_FORBIDDEN. This keeps
 * a page that reaches this server under a name of its own (DNS rebinding) from using it. */
enum az_status origin_check(struct request *req);

/* Return the origin that may read the answer: "*", the page's own, or NULL if no origin may. */
const char *origin_that_reads(const struct request *req);

/* Return the headers that a page may send, for the answer to a preflight request that asks for
 * `asked` (NULL: nothing): the known ones, and each `Mcp-Param-` one that was asked for. */
const char *origin_request_headers(TALLOC_CTX *mem, const char *asked);

#endif
