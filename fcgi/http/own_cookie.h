/* Cookies that this service sets: 256 random bits each, HttpOnly. */
#ifndef AZ_HTTP_OWN_COOKIE_H
#define AZ_HTTP_OWN_COOKIE_H

#include <stdbool.h>

#include "http/request.h"

/* Random octets of a cookie: too many to guess. */
#define OWN_COOKIE_OCTETS 32

/* A cookie. With `secure`, its name has the prefix __Host- if the issuer has no path, else
 * __Secure-; it is sent to no path outside of the issuer's. */
struct own_cookie {
    const char *name;      /* without prefix */
    const char *same_site; /* Lax or Strict */
    bool secure;           /* for https alone */
};

/* Read a cookie. False: it is absent, sent twice, or not of the form that this service makes. */
bool own_cookie_read(const struct request *req, const struct own_cookie *cookie,
                     unsigned char ret[OWN_COOKIE_OCTETS]);

/* Find the cookies whose names are that of the family and as many hexadecimal digits; see
 * cookie_tags. */
size_t own_cookie_tags(const struct request *req, const struct own_cookie *family, size_t digits,
                       const char **ret, size_t max);

/* Set a cookie on the answer; max_age negative: until the browser is closed. */
enum az_status own_cookie_set(struct request *req, const struct own_cookie *cookie,
                              const unsigned char octets[OWN_COOKIE_OCTETS], long max_age);

/* Tell the browser to forget a cookie. */
void own_cookie_drop(struct request *req, const struct own_cookie *cookie);

#endif
