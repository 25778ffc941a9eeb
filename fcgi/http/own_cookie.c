#include "config.h"

#include "http/own_cookie.h"

#include <stdio.h>
#include <string.h>

#include "base/b64url.h"
#include "base/settings/settings.h"
#include "crypto/secret.h"
#include "http/cookie.h"

#define COOKIE_LENGTH B64URL_LENGTH(OWN_COOKIE_OCTETS)
/* Room for the prefix and the name of a cookie; the names are ours. */
#define COOKIE_NAME_SIZE 64
/* Longest Set-Cookie value, in octets: name, value, the issuer's path, attributes. */
#define SET_COOKIE_MAX 4096

/* Return the issuer's path, or "/": the cookies are sent nowhere else on its host. */
static const char *
cookie_path(const struct request *req)
{
    const char *authority = strstr(req->op.az->cfg->oidc_issuer, "://");
    const char *path = authority != NULL ? strchr(authority + 3, '/') : NULL;
    return path != NULL ? path : "/";
}

/* Write the full name of a cookie, without an allocation: a cookie that could not be read would be
 * taken for absent, and a sign-out would end no session. Without the prefix, a neighbouring host or
 * a plain http page could set the cookie and sign the user in under another account. */
static void
cookie_name(const struct request *req, const struct own_cookie *cookie, char ret[COOKIE_NAME_SIZE])
{
    const char *prefix = !cookie->secure                      ? ""
                         : strcmp(cookie_path(req), "/") == 0 ? "__Host-"
                                                              : "__Secure-";
    snprintf(ret, COOKIE_NAME_SIZE, "%s%s", prefix, cookie->name);
}

bool
own_cookie_read(const struct request *req, const struct own_cookie *cookie,
                unsigned char ret[OWN_COOKIE_OCTETS])
{
    char full[COOKIE_NAME_SIZE];
    const char *value;
    size_t length;
    cookie_name(req, cookie, full);
    return cookie_find(request_header(req, "HTTP_COOKIE"), full, &value, &length)
           && b64url_decode_into(value, length, ret, OWN_COOKIE_OCTETS) == AZ_OK;
}

size_t
own_cookie_tags(const struct request *req, const struct own_cookie *family, size_t digits,
                const char **ret, size_t max)
{
    char full[COOKIE_NAME_SIZE];
    cookie_name(req, family, full);
    return cookie_tags(request_header(req, "HTTP_COOKIE"), full, digits, ret, max);
}

/* Set a cookie. The text is wiped with the request. */
static enum az_status
set_text(struct request *req, const struct own_cookie *cookie, const char *value, long max_age)
{
    const char *path = cookie_path(req);
    char full[COOKIE_NAME_SIZE], *text = secret_alloc(req->op.mem, SET_COOKIE_MAX);
    cookie_name(req, cookie, full);
    if (text == NULL)
        return op_no_memory(&req->op);
    char age[40] = "";
    if (max_age >= 0)
        snprintf(age, sizeof(age), "; Max-Age=%ld", max_age);
    int length = snprintf(text, SET_COOKIE_MAX, "%s=%s; Path=%s%s; HttpOnly; SameSite=%s%s", full,
                          value, path, age, cookie->same_site, cookie->secure ? "; Secure" : "");
    if (length < 0 || length >= SET_COOKIE_MAX)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL,
                       "SVC_OIDC_ISSUER: its path is too long for a cookie");
    respond_header(req, "Set-Cookie", text);
    return AZ_OK;
}

enum az_status
own_cookie_set(struct request *req, const struct own_cookie *cookie,
               const unsigned char octets[OWN_COOKIE_OCTETS], long max_age)
{
    char value[COOKIE_LENGTH + 1];
    b64url_encode_into(octets, OWN_COOKIE_OCTETS, value);
    enum az_status st = set_text(req, cookie, value, max_age);
    secret_wipe(value, sizeof(value));
    return st;
}

void
own_cookie_drop(struct request *req, const struct own_cookie *cookie)
{
    set_text(req, cookie, "", 0);
}
