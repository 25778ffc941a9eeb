/* The Cookie header (RFC 6265 section 4.2.1). */
#ifndef AZ_HTTP_COOKIE_H
#define AZ_HTTP_COOKIE_H

#include <stdbool.h>
#include <stddef.h>

/* Cookies of one header that are looked at; browsers keep fewer than 200 per site. */
#define COOKIE_COUNT_MAX 256

/*
 * The value of the cookie `name` in a Cookie header (NULL: there is none), octets as they stand:
 * *ret points into the header. False: no such cookie, two of it, or more than COOKIE_COUNT_MAX
 * cookies. Two of one name come from two hosts or paths, and the order in which a browser sends
 * them is no sign of who set which: a neighbour's host could put its own in front of ours.
 */
bool cookie_find(const char *header, const char *name, const char **ret, size_t *ret_length);

#endif
