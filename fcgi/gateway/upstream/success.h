/* Answers that say "200 OK" about a failure (successWhen, gateway-admin.md 3.2), and the removal of
 * what policy wants hidden from an answer. Pure functions on JSON. */
#ifndef AZ_GATEWAY_UPSTREAM_SUCCESS_H
#define AZ_GATEWAY_UPSTREAM_SUCCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

struct managed_route;

/* Nesting of an answer that is read as JSON. */
#define UPSTREAM_JSON_DEPTH_MAX 64

/* True if the route has a successWhen and the body does not fulfil it. What cannot be read as JSON
 * of UPSTREAM_JSON_DEPTH_MAX levels is a failure too. */
bool upstream_is_failure(TALLOC_CTX *mem, const struct managed_route *route, const char *body,
                         size_t length);

/*
 * Remove the values at these JSON Pointers, which begin with "/body/" (RFC 6901 below that): a
 * member leaves its object, and an element of an array becomes null, so that the others keep their
 * places. A value that is not there needs no removal. False: a pointer is malformed or does not
 * begin so, so that nothing may be shown.
 */
bool upstream_redact(json_t *document, const json_t *pointers);

#endif
