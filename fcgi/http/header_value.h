/* Request headers with a syntax of their own: entity tags and preferences. */
#ifndef AZ_HTTP_HEADER_VALUE_H
#define AZ_HTTP_HEADER_VALUE_H

#include <stdbool.h>
#include <talloc.h>

/*
 * If-Match (RFC 9110 section 13.1.1): whether it holds for what has this digest (hex SHA-256) or
 * does not exist (NULL). `*` holds for all that exists. Weak tags never match.
 */
bool header_if_match(const char *value, const char *digest);

/* If-None-Match: its first entity tag without quotes and W/, on mem; "" without the header (NULL).
 * NULL: no memory. */
char *header_first_tag(TALLOC_CTX *mem, const char *value);

/*
 * The preference `wait` (RFC 7240 section 4.3): seconds up to max; 0 without the header (NULL),
 * without the preference and for what is no number. The first counts where there are several. OPA
 * writes `modes=snapshot,delta;wait=25`, where wait is a parameter of another preference by the
 * grammar: ; separates as , does here.
 */
long header_prefer_wait(const char *value, long max);

#endif
