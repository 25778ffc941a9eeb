#include "config.h"

#include "oidc/session.h"

#include <stdio.h>
#include <string.h>

#include "base/settings/settings.h"
#include "base/uri.h"
#include "crypto/random.h"
#include "crypto/secret.h"
#include "http/own_cookie.h"
#include "store/people/sign_ins.h"

/* Lifetime of the marks in seconds: a minute longer than that of a sign-in or sign-out, so that the
 * sign-in or sign-out itself expires first. */
#define MARK_MAX_AGE (SIGN_IN_VALIDITY + 60)

static const char session_name[] = "svc_sid";
static const char browser_name[] = "svc_browser";
static const char logout_name[] = "svc_logout";

/* Beginning of the name of a mark for one sign-in; digits of the hash of its state follow. */
static const char flow_name[] = "svc_flow_";
#define FLOW_DIGITS 8
#define FLOW_NAME_SIZE (sizeof(flow_name) + FLOW_DIGITS)

static struct own_cookie
cookie_of(const struct request *req, const char *name)
{
    return (struct own_cookie){name, "Lax", req->op.az->cfg->session_cookie_secure};
}

static bool
read_cookie(const struct request *req, const char *name, unsigned char ret[OWN_COOKIE_OCTETS])
{
    const struct own_cookie cookie = cookie_of(req, name);
    return own_cookie_read(req, &cookie, ret);
}

static enum az_status
set_octets(struct request *req, const char *name, const unsigned char octets[OWN_COOKIE_OCTETS],
           long max_age)
{
    const struct own_cookie cookie = cookie_of(req, name);
    return own_cookie_set(req, &cookie, octets, max_age);
}

static bool
read_hash(const struct request *req, const char *name, unsigned char ret_hash[SHA256_OCTETS])
{
    unsigned char octets[OWN_COOKIE_OCTETS];
    bool found =
        read_cookie(req, name, octets) && sha256(octets, sizeof(octets), ret_hash) == AZ_OK;
    secret_wipe(octets, sizeof(octets));
    return found;
}

bool
session_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS])
{
    return read_hash(req, session_name, ret_hash);
}

enum az_status
session_cookie_make(struct request *req, unsigned char ret_hash[SHA256_OCTETS])
{
    unsigned char octets[OWN_COOKIE_OCTETS];
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
    const struct own_cookie cookie = cookie_of(req, session_name);
    own_cookie_drop(req, &cookie);
}

/* Set a mark, again with each use, so that it outlives the youngest of them. The caller wipes the
 * octets. */
static enum az_status
mark_need(struct request *req, const char *name, unsigned char octets[OWN_COOKIE_OCTETS],
          unsigned char ret_hash[SHA256_OCTETS])
{
    bool have = read_cookie(req, name, octets) || random_octets(octets, OWN_COOKIE_OCTETS) == AZ_OK;
    return have && sha256(octets, OWN_COOKIE_OCTETS, ret_hash) == AZ_OK
               ? set_octets(req, name, octets, MARK_MAX_AGE)
               : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the random number generator failed");
}

static void
write_flow_name(const char *digits, char ret[FLOW_NAME_SIZE])
{
    snprintf(ret, FLOW_NAME_SIZE, "%s%.*s", flow_name, FLOW_DIGITS, digits);
}

static void
flow_name_of_state(const unsigned char state_hash[SHA256_OCTETS], char ret[FLOW_NAME_SIZE])
{
    char digits[SHA256_HEX_SIZE];
    digest_hex(state_hash, digits);
    write_flow_name(digits, ret);
}

/* Drop the marks of single sign-ins if the browser would have too many with this answer. Too many
 * cookies are more than a web server reads of a request. */
static void
bound_flow_cookies(struct request *req, bool one_more)
{
    const struct own_cookie family = cookie_of(req, flow_name);
    const char *digits[FLOW_COOKIES_DROP];
    size_t count = own_cookie_tags(req, &family, FLOW_DIGITS, digits, FLOW_COOKIES_DROP);
    if (count + one_more <= FLOW_COOKIES_MAX)
        return;
    for (size_t i = 0; i < count; i++) {
        char name[FLOW_NAME_SIZE];
        write_flow_name(digits[i], name);
        const struct own_cookie cookie = cookie_of(req, name);
        own_cookie_drop(req, &cookie);
    }
}

/*
 * A form that a page of another site posts comes without cookies, however many the browser has, so
 * a POST makes no mark for its sign-in alone: that site could fill the browser with them.
 */
enum az_status
browser_cookie_need(struct request *req, const unsigned char state_hash[SHA256_OCTETS],
                    unsigned char ret_hash[SHA256_OCTETS])
{
    unsigned char octets[OWN_COOKIE_OCTETS];
    char name[FLOW_NAME_SIZE];
    enum az_status st = mark_need(req, browser_name, octets, ret_hash);
    bool alone = st == AZ_OK && strcmp(req->method, "POST") != 0;
    bound_flow_cookies(req, alone);
    flow_name_of_state(state_hash, name);
    if (alone)
        st = set_octets(req, name, octets, MARK_MAX_AGE);
    secret_wipe(octets, sizeof(octets));
    return st;
}

bool
flow_cookie_read(const struct request *req, const unsigned char state_hash[SHA256_OCTETS],
                 unsigned char ret_hash[SHA256_OCTETS])
{
    char name[FLOW_NAME_SIZE];
    flow_name_of_state(state_hash, name);
    return read_hash(req, name, ret_hash);
}

void
flow_cookie_drop(struct request *req, const unsigned char state_hash[SHA256_OCTETS])
{
    unsigned char hash[SHA256_OCTETS];
    char name[FLOW_NAME_SIZE];
    flow_name_of_state(state_hash, name);
    const struct own_cookie cookie = cookie_of(req, name);
    if (read_hash(req, name, hash))
        own_cookie_drop(req, &cookie);
}

bool
browser_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS])
{
    return read_hash(req, browser_name, ret_hash);
}

enum az_status
logout_cookie_need(struct request *req, unsigned char ret_hash[SHA256_OCTETS])
{
    unsigned char octets[OWN_COOKIE_OCTETS];
    enum az_status st = mark_need(req, logout_name, octets, ret_hash);
    secret_wipe(octets, sizeof(octets));
    return st;
}

bool
logout_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS])
{
    return read_hash(req, logout_name, ret_hash);
}

/* The HMAC is keyed with the cookie; `purpose` keeps it apart from the row's key, which is a plain
 * hash. */
bool
session_form_token(const struct request *req, const char *purpose,
                   char ret[SESSION_FORM_TOKEN_SIZE])
{
    unsigned char octets[OWN_COOKIE_OCTETS], mac[SHA256_OCTETS];
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
