/* The challenge of an upstream (WWW-Authenticate, RFC 9110 11.6.1; Bearer: RFC 6750 3, RFC
 * 9728 5.1).
 */
#ifndef AZ_GATEWAY_UPSTREAM_CHALLENGE_H
#define AZ_GATEWAY_UPSTREAM_CHALLENGE_H

#include <jansson.h>
#include <talloc.h>

/* Longest challenge that is read, in octets; real ones are under 1 kB. */
#define UPSTREAM_CHALLENGE_MAX 4096

/* Return the value of a parameter of the first Bearer or DPoP challenge in a header value,
 * unquoted, on mem; NULL: it has none, the value is malformed, or there is no memory. */
const char *upstream_challenge_param(TALLOC_CTX *mem, const char *value, const char *name);

/* Return the scopes that a challenge with error="insufficient_scope" asks for, as an array on mem,
 * which is empty if it names none; NULL: it has another error, or there is no memory. */
json_t *upstream_challenge_scopes(TALLOC_CTX *mem, const char *value);

#endif
