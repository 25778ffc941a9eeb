#include "config.h"

#include "base/uri.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/digits.h"

#define ALPHA "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGIT "0123456789"

/* RFC 3986 section 2: unreserved and sub-delims, and the other characters of each part. % is
 * checked separately. */
#define NAME_CHARS ALPHA DIGIT "-._~!$&'()*+,;=%"
#define PATH_CHARS NAME_CHARS ":@/"

/* Longest IPv6 text (ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255) and a NUL. */
#define IPV6_SIZE 46

static bool
has_only(const char *text, const char *allowed)
{
    return text == NULL || text[strspn(text, allowed)] == '\0';
}

/* True if each % is followed by two hex digits (RFC 3986 section 2.1). */
static bool
escapes_ok(const char *text)
{
    for (const char *c = strchr(text, '%'); c != NULL; c = strchr(c + 1, '%'))
        if (strspn(c + 1, DIGIT "ABCDEFabcdef") < 2)
            return false;
    return true;
}

static void
lower(char *text)
{
    for (; *text != '\0'; text++)
        if (*text >= 'A' && *text <= 'Z')
            *text = (char) (*text - 'A' + 'a');
}

/* End the text at the first separator. Return the text after it, or NULL. */
static char *
cut(char *text, char separator)
{
    char *at = strchr(text, separator);
    if (at == NULL)
        return NULL;
    *at = '\0';
    return at + 1;
}

static bool
port_ok(const char *port)
{
    return port == NULL || (has_only(port, DIGIT) && strlen(port) <= 5 && atol(port) <= 65535);
}

/* host = "[" IPv6address "]" / name; the forms of RFC 6874 (zones) and IPvFuture are refused. */
static enum az_status
parse_host(char *text, struct uri *ret)
{
    struct in6_addr address;
    if (*text != '[') {
        ret->port = cut(text, ':');
        ret->host = text;
        return has_only(text, NAME_CHARS) && port_ok(ret->port) ? AZ_OK : AZ_INVALID;
    }
    char *rest = cut(text, ']');
    if (rest == NULL || strlen(text + 1) >= IPV6_SIZE
        || inet_pton(AF_INET6, text + 1, &address) != 1)
        return AZ_INVALID;
    if (*rest != '\0' && *rest != ':')
        return AZ_INVALID;
    ret->port = *rest == ':' ? rest + 1 : NULL;
    ret->host = text + 1;
    return port_ok(ret->port) ? AZ_OK : AZ_INVALID;
}

/* authority = [ userinfo "@" ] host [ ":" port ] */
static enum az_status
parse_authority(char *text, struct uri *ret)
{
    char *host = cut(text, '@');
    if (host != NULL) {
        ret->userinfo = text;
        text = host;
    }
    lower(text);
    return has_only(ret->userinfo, NAME_CHARS ":") ? parse_host(text, ret) : AZ_INVALID;
}

/* Split a copy from its end: fragment, query, then the rest. */
static enum az_status
parse_copy(TALLOC_CTX *mem, char *text, struct uri *ret)
{
    ret->fragment = cut(text, '#');
    ret->query = cut(text, '?');
    char *rest = cut(text, ':');
    if (rest == NULL || strspn(text, ALPHA) == 0 || !has_only(text, ALPHA DIGIT "+-."))
        return AZ_INVALID;
    lower(text);
    ret->scheme = text;
    ret->path = rest;
    if (strncmp(rest, "//", 2) == 0) {
        size_t length = strcspn(rest + 2, "/");
        char *authority = talloc_strndup(mem, rest + 2, length);
        if (authority == NULL)
            return AZ_SERVER_ERROR;
        ret->path = rest + 2 + length;
        if (parse_authority(authority, ret) != AZ_OK)
            return AZ_INVALID;
    }
    return has_only(ret->path, PATH_CHARS) && has_only(ret->query, PATH_CHARS "?")
                   && has_only(ret->fragment, PATH_CHARS "?")
               ? AZ_OK
               : AZ_INVALID;
}

static bool
is_web(const struct uri *uri)
{
    return strcmp(uri->scheme, "https") == 0 || strcmp(uri->scheme, "http") == 0;
}

enum az_status
uri_parse(TALLOC_CTX *mem, const char *text, struct uri *ret)
{
    struct uri uri = {0};
    if (strlen(text) > URI_MAX || !escapes_ok(text))
        return AZ_INVALID;
    char *copy = talloc_strdup(mem, text);
    if (copy == NULL)
        return AZ_SERVER_ERROR;
    enum az_status st = parse_copy(mem, copy, &uri);
    if (st == AZ_OK && is_web(&uri) && (uri.host == NULL || *uri.host == '\0'))
        st = AZ_INVALID;
    if (st == AZ_OK)
        *ret = uri;
    return st;
}

/* Return the octet at a place, decoded; *ret_width: octets that it takes. The encodings are good.
 */
static unsigned char
octet_at(const char *at, size_t *ret_width)
{
    char hex[3] = {at[0] == '%' ? at[1] : '\0', at[0] == '%' ? at[2] : '\0', '\0'};
    *ret_width = at[0] == '%' ? 3 : 1;
    return at[0] == '%' ? (unsigned char) strtoul(hex, NULL, 16) : (unsigned char) at[0];
}

static bool
has_dot_segment(const char *path)
{
    size_t dots = 0, others = 0, width;
    for (const char *c = path; *c != '\0'; c += width) {
        unsigned char octet = octet_at(c, &width);
        bool ends = octet == '/' || octet == '\\' || octet == ';';
        if (ends && others == 0 && (dots == 1 || dots == 2))
            return true;
        dots = ends ? 0 : dots + (octet == '.');
        others = ends ? 0 : others + (octet != '.');
    }
    return others == 0 && (dots == 1 || dots == 2);
}

/* True if no encoding has another spelling. An encoded control character ends the text for some
 * servers, and others pass over it. */
static bool
encodings_are_canonical(const char *text)
{
    size_t width;
    for (const char *c = text; *c != '\0'; c += width) {
        unsigned char octet = octet_at(c, &width);
        if (width == 3
            && (islower((unsigned char) c[1]) || islower((unsigned char) c[2]) || isalnum(octet)
                || iscntrl(octet) || strchr("-._~", octet) != NULL))
            return false;
    }
    return true;
}

/* True if scheme and host are in lower case. */
static bool
origin_is_lower(const char *text, const struct uri *uri)
{
    size_t scheme = strlen(uri->scheme);
    const char *host = text + scheme + 1;
    if (strncmp(text, uri->scheme, scheme) != 0)
        return false;
    if (uri->host == NULL)
        return true;
    host += 2 + (uri->userinfo != NULL ? strlen(uri->userinfo) + 1 : 0);
    for (; *host != '\0' && strchr("/?#", *host) == NULL; host++)
        if (isupper((unsigned char) *host))
            return false;
    return true;
}

/* True if the authority has one spelling: no port that is empty or has zeros in front, and for http
 * and https not the default one (RFC 3986 6.2.3), no dot behind the host, and no user, whom a rule
 * could take for the host (RFC 9110 4.2.4). */
static bool
authority_is_plain(const struct uri *uri)
{
    const char *port = uri->port, *usual = strcmp(uri->scheme, "https") == 0 ? "443" : "80";
    if (port != NULL && (*port == '\0' || *port == '0'))
        return false;
    if (!is_web(uri))
        return true;
    return uri->userinfo == NULL && (port == NULL || strcmp(port, usual) != 0)
           && uri->host[strlen(uri->host) - 1] != '.';
}

/* True if what stands behind the path has one spelling. A fragment, an empty one too, is no part of
 * what a server is asked for (RFC 3986 3.5), and an empty query no other question than none, so
 * servers drop both: a rule about the URI without them would be missed. So does a query of file:
 * URIs, which have none (RFC 8089 2). */
static bool
tail_is_plain(const struct uri *uri)
{
    return uri->fragment == NULL
           && (uri->query == NULL || (*uri->query != '\0' && strcmp(uri->scheme, "file") != 0));
}

bool
uri_is_canonical(const char *text)
{
    TALLOC_CTX *scratch = talloc_new(NULL);
    struct uri uri;
    bool good = scratch != NULL && uri_parse(scratch, text, &uri) == AZ_OK
                && encodings_are_canonical(text) && origin_is_lower(text, &uri)
                && authority_is_plain(&uri) && tail_is_plain(&uri) && !has_dot_segment(uri.path);
    talloc_free(scratch);
    return good;
}

const char *
uri_origin(TALLOC_CTX *mem, const struct uri *uri)
{
    if (uri->host == NULL
        || (strcmp(uri->scheme, "https") != 0 && strcmp(uri->scheme, "http") != 0))
        return talloc_asprintf(mem, "%s:", uri->scheme);
    bool v6 = strchr(uri->host, ':') != NULL, port = uri->port != NULL && *uri->port != '\0';
    return talloc_asprintf(mem, "%s://%s%s%s%s%s", uri->scheme, v6 ? "[" : "", uri->host,
                           v6 ? "]" : "", port ? ":" : "", port ? uri->port : "");
}

const char *
uri_place(TALLOC_CTX *mem, const char *text)
{
    struct uri uri;
    if (uri_parse(mem, text, &uri) != AZ_OK)
        return text;
    if (strcmp(uri.scheme, "https") != 0 && strcmp(uri.scheme, "http") != 0)
        return uri.scheme;
    return strchr(uri.host, ':') == NULL ? uri.host : talloc_asprintf(mem, "[%s]", uri.host);
}

bool
uri_host_is_listed(const char *list, const char *host)
{
    bool ipv6 = strchr(host, ':') != NULL;
    size_t length = strlen(host), more = ipv6 ? 2 : 0;
    while (list != NULL && *list != '\0') {
        const char *name = list + strspn(list, " \t,");
        size_t end = strcspn(name, " \t,");
        bool brackets = end >= 2 && name[0] == '[' && name[end - 1] == ']';
        if (end > 0 && end == length + more && brackets == ipv6
            && strncasecmp(name + more / 2, host, length) == 0)
            return true;
        list = name + end;
    }
    return false;
}

bool
uri_host_is_loopback(const char *host)
{
    return host != NULL
           && (strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0
               || strcmp(host, "localhost") == 0);
}

/* True if the name of a parameter, decoded as a form reader would decode it, is the word. */
static bool
name_is(const char *name, size_t length, const char *word)
{
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        if (c == '%') {
            c = (char) (digits_hex(name[i + 1]) << 4 | digits_hex(name[i + 2]));
            i += 2;
        }
        if (*word == '\0' || c != *word++)
            return false;
    }
    return *word == '\0';
}

/*
 * The answer of the authorization endpoint adds these parameters to the query. A registered one of
 * the same name would come first, and a client that reads the first one would take it for ours: an
 * attacker could slip it a foreign code (CVE-2026-9689).
 */
static bool
query_has_answer(const char *query)
{
    static const char *const answers[] = {"code", "state", "iss", "error"};
    while (query != NULL && *query != '\0') {
        size_t length = strcspn(query, "&"), name = strcspn(query, "&=");
        for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
            if (name_is(query, name, answers[i]))
                return true;
        query += length + (query[length] == '&');
    }
    return false;
}

/* True for schemes that browsers or systems open themselves, as script, content or a command: codes
 * never go there. */
static bool
is_never_private(const char *scheme)
{
    static const char *const never[] = {"about",  "blob",     "data",        "file", "filesystem",
                                        "ftp",    "ftps",     "intent",      "jar",  "javascript",
                                        "mailto", "vbscript", "view-source", "ws",   "wss"};
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        if (strcmp(scheme, never[i]) == 0)
            return true;
    return strncmp(scheme, "http", 4) == 0;
}

/* Check that codes may go there: https, this machine, or an app by its own scheme, which is a
 * domain name that it owns (RFC 8252 section 7.1), or a word that an administrator allows. */
static const char *
redirect_scheme_fault(const struct uri *uri)
{
    if (strcmp(uri->scheme, "https") == 0)
        return NULL;
    if (strcmp(uri->scheme, "http") == 0)
        return uri_host_is_loopback(uri->host)
                   ? NULL
                   : "must use https (http only for 127.0.0.1, [::1] and localhost)";
    return strchr(uri->scheme, '.') != NULL || !is_never_private(uri->scheme) ? NULL
                                                                              : URI_SCHEME_FAULT;
}

size_t
uri_dotless_scheme(const char *text)
{
    size_t length = strcspn(text, ":.");
    bool web = (length == 5 && strncasecmp(text, "https", 5) == 0)
               || (length == 4 && strncasecmp(text, "http", 4) == 0);
    return text[length] == ':' && !web ? length : 0;
}

/* Check for a DNS name or an IPv6 address; a * has a text of its own. An escape would show
 * another host on the consent page than the one a browser goes to. Quotes, commas and semicolons
 * cannot be named in the Content-Security-Policy of that page. */
static bool
is_plain_host(const char *host)
{
    return has_only(host, "abcdefghijklmnopqrstuvwxyz" DIGIT "-._:*");
}

static const char *
redirect_fault(const struct uri *uri)
{
    const char *why = redirect_scheme_fault(uri);
    if (why != NULL)
        return why;
    if (is_web(uri) && !is_plain_host(uri->host))
        return "must have a host of letters, digits, dots, hyphens and underscores";
    if (uri->fragment != NULL)
        return "must not have a fragment";
    if (uri->userinfo != NULL)
        return "must not have user information before the host";
    if (uri->host != NULL && strchr(uri->host, '*') != NULL)
        return "must not have a wildcard: redirect URIs match exactly";
    return query_has_answer(uri->query)
               ? "must not have a query parameter named code, state, iss or error"
               : NULL;
}

static const char *
https_fault(const struct uri *uri)
{
    if (strcmp(uri->scheme, "https") != 0)
        return "must use https";
    return uri->userinfo != NULL || uri->fragment != NULL
               ? "must not have user information or a fragment"
               : NULL;
}

static const char *
web_fault(const struct uri *uri)
{
    if (!is_web(uri))
        return "must use https or http";
    return uri->userinfo != NULL ? "must not have user information before the host" : NULL;
}

static const char *
check_uri(const char *text, const char *(*rule)(const struct uri *uri))
{
    struct uri uri;
    const char *why = "is not a valid absolute URI";
    TALLOC_CTX *scratch = talloc_new(NULL);
    if (scratch != NULL && uri_parse(scratch, text, &uri) == AZ_OK)
        why = rule(&uri);
    talloc_free(scratch);
    return why;
}

const char *
uri_redirect_fault(const char *text)
{
    return check_uri(text, redirect_fault);
}

const char *
uri_https_fault(const char *text)
{
    return check_uri(text, https_fault);
}

const char *
uri_web_fault(const char *text)
{
    return check_uri(text, web_fault);
}
