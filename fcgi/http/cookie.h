/* The Cookie header (RFC 6265 section 4.2.1). */
#ifndef AZ_HTTP_COOKIE_H
#define AZ_HTTP_COOKIE_H

#include <stdbool.h>
#include <stddef.h>

/* Cookies that are read of one header; browsers keep fewer than 200 per site. */
#define COOKIE_COUNT_MAX 256

/*
 * Find the cookie `name` in a Cookie header (NULL: no header); *ret points to its raw value in the
 * header. False: no such cookie, two of that name, or more than COOKIE_COUNT_MAX cookies. Two of
 * one name come from two hosts or paths, and their order does not tell which host set which: a
 * neighbouring host could put its own before ours.
 */
bool cookie_find(const char *header, const char *name, const char **ret, size_t *ret_length);

/* Find the cookies whose names are `prefix` and as many small hexadecimal digits. Fill `ret` with
 * at most `max` pointers to these digits in the header; return their count. */
size_t cookie_tags(const char *header, const char *prefix, size_t digits, const char **ret,
                   size_t max);

#endif
