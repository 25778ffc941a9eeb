#include "config.h"

#include "oidc/session.h"

#include <stdio.h>
#include <string.h>

#include "base/settings/settings.h"
#include "base/uri.h"
#include "crypto/random.h"
#include "crypto/secret.h"
#include "http/cookie.h"
#include "store/people/sign_ins.h"

/* Random octets of a cookie: too many to guess. */
#define COOKIE_OCTETS 32
#define COOKIE_LENGTH B64URL_LENGTH(COOKIE_OCTETS)
/* Lifetime of the browser mark in seconds: a minute longer than the sign-in that it binds, so that
 * the row decides. */
#define MARK_MAX_AGE (SIGN_IN_VALIDITY + 60)
/* Longest Set-Cookie value, in octets: name, value, the issuer's path, attributes. */
#define SET_COOKIE_MAX 4096

static const char session_name[] = "svc_sid";
static const char browser_name[] = "svc_browser";

/* Return the issuer's path, or "/": the cookies are sent nowhere else on its host. */
static const char *
cookie_path(const struct request *req)
{
    const char *authority = strstr(req->op.az->cfg->oidc_issuer, "://");
    const char *path = authority != NULL ? strchr(authority + 3, '/') : NULL;
    return path != NULL ? path : "/";
}

/* Return the full name of a cookie. Without the prefix, a neighbouring host or a plain http page
 * could set the cookie and sign the user in under another account. */
static const char *
cookie_name(const struct request *req, const char *name)
{
    const char *prefix = !req->op.az->cfg->session_cookie_secure ? ""
                         : strcmp(cookie_path(req), "/") == 0    ? "__Host-"
                                                                 : "__Secure-";
    return talloc_asprintf(req->op.mem, "%s%s", prefix, name);
}

/* Read the cookie of a session. False: it is absent, sent twice, or not of the form that this
 * service makes. */
static bool
read_cookie(const struct request *req, const char *name, unsigned char ret[COOKIE_OCTETS])
{
    const char *full = cookie_name(req, name), *value;
    size_t length;
    return full != NULL && cookie_find(request_header(req, "HTTP_COOKIE"), full, &value, &length)
           && b64url_decode_into(value, length, ret, COOKIE_OCTETS) == AZ_OK;
}

static bool
read_hash(const struct request *req, const char *name, unsigned char ret_hash[SHA256_OCTETS])
{
    unsigned char octets[COOKIE_OCTETS];
    bool found =
        read_cookie(req, name, octets) && sha256(octets, sizeof(octets), ret_hash) == AZ_OK;
    secret_wipe(octets, sizeof(octets));
    return found;
}

/* Set a cookie; max_age negative: until the browser is closed. The text is wiped with the request.
 */
static enum az_status
set_cookie(struct request *req, const char *name, const char *value, long max_age)
{
    const char *full = cookie_name(req, name), *path = cookie_path(req);
    char *text = secret_alloc(req->op.mem, SET_COOKIE_MAX);
    if (full == NULL || text == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "out of memory for a cookie");
    char age[40] = "";
    if (max_age >= 0)
        snprintf(age, sizeof(age), "; Max-Age=%ld", max_age);
    int length =
        snprintf(text, SET_COOKIE_MAX, "%s=%s; Path=%s%s; HttpOnly; SameSite=Lax%s", full, value,
                 path, age, req->op.az->cfg->session_cookie_secure ? "; Secure" : "");
    if (length < 0 || length >= SET_COOKIE_MAX)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL,
                       "SVC_OIDC_ISSUER: its path is too long for a cookie");
    respond_header(req, "Set-Cookie", text);
    return AZ_OK;
}

static enum az_status
set_octets(struct request *req, const char *name, const unsigned char octets[COOKIE_OCTETS],
           long max_age)
{
    char value[COOKIE_LENGTH + 1];
    b64url_encode_into(octets, COOKIE_OCTETS, value);
    enum az_status st = set_cookie(req, name, value, max_age);
    secret_wipe(value, sizeof(value));
    return st;
}

bool
session_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS])
{
    return read_hash(req, session_name, ret_hash);
}

enum az_status
session_cookie_make(struct request *req, unsigned char ret_hash[SHA256_OCTETS])
{
    unsigned char octets[COOKIE_OCTETS];
    enum az_status st =
        random_octets(octets, sizeof(octets)) == AZ_OK
                && sha256(octets, sizeof(octets), ret_hash) == AZ_OK
            ? set_octets(req, session_name, octets, -1)
            : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the random number generator failed");
    secret_wipe(octets, sizeof(octets));
    return st;
}

void
session_cookie_drop(struct request *req)
{
    set_cookie(req, session_name, "", 0);
}

/* The mark is set again with each sign-in, so that it outlives the youngest of them. */
enum az_status
browser_cookie_need(struct request *req, unsigned char ret_hash[SHA256_OCTETS])
{
    unsigned char octets[COOKIE_OCTETS];
    bool have =
        read_cookie(req, browser_name, octets) || random_octets(octets, sizeof(octets)) == AZ_OK;
    enum az_status st =
        have && sha256(octets, sizeof(octets), ret_hash) == AZ_OK
            ? set_octets(req, browser_name, octets, MARK_MAX_AGE)
            : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the random number generator failed");
    secret_wipe(octets, sizeof(octets));
    return st;
}

bool
browser_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS])
{
    return read_hash(req, browser_name, ret_hash);
}

/* The HMAC is keyed with the cookie; `purpose` keeps it apart from the row's key, which is a plain
 * hash. */
bool
session_form_token(const struct request *req, const char *purpose,
                   char ret[SESSION_FORM_TOKEN_SIZE])
{
    unsigned char octets[COOKIE_OCTETS], mac[SHA256_OCTETS];
    bool made = read_cookie(req, session_name, octets)
                && hmac_sha256(octets, sizeof(octets), purpose, strlen(purpose), mac) == AZ_OK;
    if (made)
        b64url_encode_into(mac, sizeof(mac), ret);
    secret_wipe(octets, sizeof(octets));
    return made;
}

static const char *
port_of(const struct uri *uri)
{
    if (uri->port != NULL && *uri->port != '\0')
        return uri->port;
    return strcmp(uri->scheme, "https") == 0 ? "443" : "80";
}

/* True if scheme, host and port are those of the issuer (RFC 6454 section 5). */
static bool
is_own_origin(const struct request *req, const char *origin)
{
    struct uri own, other;
    return uri_parse(req->op.mem, req->op.az->cfg->oidc_issuer, &own) == AZ_OK
           && uri_parse(req->op.mem, origin, &other) == AZ_OK && own.host != NULL
           && other.host != NULL && strcmp(own.scheme, other.scheme) == 0
           && strcmp(own.host, other.host) == 0 && strcmp(port_of(&own), port_of(&other)) == 0;
}

bool
session_form_is_ours(const struct request *req)
{
    const char *origin = req->io->variable(req->io, "HTTP_ORIGIN");
    const char *site = req->io->variable(req->io, "HTTP_SEC_FETCH_SITE");
    if (site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return false;
    return origin == NULL || strcmp(origin, "null") == 0 || is_own_origin(req, origin);
}
