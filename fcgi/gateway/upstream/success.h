/* Answers that say "200 OK" about a failure (successWhen, gateway-admin.md 3.2), and the removal of
 * what policy wants hidden from an answer. Pure functions on JSON. */
#ifndef AZ_GATEWAY_UPSTREAM_SUCCESS_H
#define AZ_GATEWAY_UPSTREAM_SUCCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct managed_route;

/* Nesting of an answer that is read as JSON. */
#define UPSTREAM_JSON_DEPTH_MAX 64

/* True if the route has a successWhen and the body does not fulfil it: no JSON is a failure too. */
bool upstream_is_failure(const struct managed_route *route, const char *body, size_t length);

/* Return the value at a JSON Pointer (RFC 6901), or NULL. */
json_t *upstream_pointer_get(json_t *document, const char *pointer);

/*
 * Remove the values at these JSON Pointers, which begin with "/body" (RFC 6901 below that): a
 * member leaves its object, an element of an array becomes null, so that the others keep their
 * places, and the whole becomes null for "/body" itself. A value that is not there needs no
 * removal. False: a pointer is malformed or does not begin so, so that nothing may be shown.
 */
bool upstream_redact(json_t **document, const json_t *pointers);

#endif
