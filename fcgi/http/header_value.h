/* Request headers with a syntax of their own: entity tags and preferences. */
#ifndef AZ_HTTP_HEADER_VALUE_H
#define AZ_HTTP_HEADER_VALUE_H

#include <stdbool.h>
#include <talloc.h>

#include "http/request.h"

/*
 * True if If-Match (RFC 9110 section 13.1.1) holds for content whose entity tag has this text, of
 * letters and digits; NULL: the content does not exist. `*` holds for any content that exists. Weak
 * tags never match.
 */
bool header_if_match(const char *value, const char *tag);

/* Return the first entity tag of If-None-Match without quotes and W/, on mem; "" if there is no
 * header (NULL). NULL: no memory. */
char *header_first_tag(TALLOC_CTX *mem, const char *value);

/*
 * Return the preference `wait` (RFC 7240 section 4.3) in seconds, up to max; 0 without the header
 * (NULL), without the preference, or if it is not a number. The first one counts. OPA sends
 * `modes=snapshot,delta;wait=25`, where by the grammar wait is a parameter of another preference,
 * so ; separates as , does.
 */
long header_prefer_wait(const char *value, long max);

/* Return the weight of a member of Accept or Accept-Language with its parameters, in thousandths
 * (RFC 9110 12.4.2): 1000 without one, 0 if it is none. `end` is behind its last octet. */
int header_weight(const char *member, const char *end);

/*
 * True if Accept (RFC 9110 section 12.5.1) names text/html ahead of JSON: with a larger weight than
 * application/json and types that end in +json, or with the same weight and before them. Browsers
 * do so when they open a page. Programs send no header (NULL), a wildcard or JSON, and scripts of
 * pages send a wildcard unless they ask for something else. A wildcard names no type.
 */
bool header_prefers_html(const char *accept);

/* Check If-Match against the digest of the stored row (NULL: no row is stored); AZ_OK without the
 * header. AZ_PRECONDITION_FAILED, also for a header that is too long to be read. */
enum az_status request_if_match(struct request *req, const char *digest);

/* True if the caller sent If-Match. */
bool request_has_if_match(struct request *req);

#endif
