/* The challenge of an upstream (WWW-Authenticate, RFC 9110 11.6.1; Bearer: RFC 6750 3, RFC
 * 9728 5.1).
 */
#ifndef AZ_GATEWAY_UPSTREAM_CHALLENGE_H
#define AZ_GATEWAY_UPSTREAM_CHALLENGE_H

#include <jansson.h>
#include <talloc.h>

/* Longest challenge that is read, in octets; usual ones are under 1 kB. */
#define UPSTREAM_CHALLENGE_MAX 4096

/* Return the value of a parameter of the first Bearer or DPoP challenge in a header value,
 * unquoted, on mem, or NULL if it has none, the value is malformed, or there is no memory. */
const char *upstream_challenge_param(TALLOC_CTX *mem, const char *value, const char *name);

/* Longest scope that an upstream may ask for, in octets. */
#define UPSTREAM_SCOPE_MAX 200

/* Return the scopes of an array that RFC 6749 3.3 allows, once each and at most CLIENT_SCOPES_MAX,
 * on mem: an upstream chose them, and pages show them. The result is NULL if out of memory. */
json_t *upstream_scopes_clean(TALLOC_CTX *mem, const json_t *scopes);

/* Return the scopes that a challenge with error="insufficient_scope" asks for, as an array without
 * duplicates on mem, empty if the challenge names no scopes; NULL: it has another error, or there
 * is no memory. */
json_t *upstream_challenge_scopes(TALLOC_CTX *mem, const char *value);

#endif
