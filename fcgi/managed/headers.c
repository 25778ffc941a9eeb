#include "config.h"

#include "managed/headers.h"

#include <string.h>

#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "managed/reader.h"

/* Groups of uses. */
#define TO_UPSTREAM (HEADER_SENT | HEADER_BY_POLICY | HEADER_IN_REQUEST | HEADER_FORWARDED)
#define TO_CALLER (HEADER_IN_ANSWER | HEADER_PASSED_BACK)
#define OF_DOCUMENTS (HEADER_BY_POLICY | HEADER_IN_REQUEST | HEADER_FORWARDED | HEADER_IN_ANSWER)

/*
 * Header fields that are refused, by their uses. Those of one connection and of framing would let a
 * message be read as two (RFC 9112 11.2); Host, Forwarded and the like tell an upstream who asks it
 * and for what; a credential of the caller must not reach it, and one of ours stands in
 * upstreamAuth, where it is sealed. In answers, a field may hold for all of our origin, be a
 * command to our web server, or be set by the gateway itself. A name that ends with "*" stands for
 * all that begin so.
 */
/* clang-format off */
static const struct {
    const char *name;
    unsigned uses; /* for which it is refused */
} refused[] = {
    /* of the connection and of the framing (RFC 9110 7.6.1, RFC 9112) */
    {"Connection",          TO_UPSTREAM | HEADER_CREDENTIAL | TO_CALLER},
    {"Keep-Alive",          TO_UPSTREAM | HEADER_CREDENTIAL | TO_CALLER},
    {"Proxy-*",              TO_UPSTREAM | HEADER_CREDENTIAL | TO_CALLER},
    {"TE",                  TO_UPSTREAM | HEADER_CREDENTIAL | TO_CALLER},
    {"Trailer",             TO_UPSTREAM | HEADER_CREDENTIAL | TO_CALLER},
    {"Transfer-Encoding",   TO_UPSTREAM | HEADER_CREDENTIAL | TO_CALLER},
    {"Upgrade",             TO_UPSTREAM | HEADER_CREDENTIAL | TO_CALLER},
    {"HTTP2-Settings",      TO_UPSTREAM | HEADER_CREDENTIAL},
    {"Content-Length",      TO_UPSTREAM | HEADER_CREDENTIAL | TO_CALLER},
    {"Expect",              TO_UPSTREAM | HEADER_CREDENTIAL},
    {"Max-Forwards",        TO_UPSTREAM | HEADER_CREDENTIAL},
    /* of the octets of a body: the caller's, or the upstream's */
    {"Content-Encoding",
     HEADER_BY_POLICY | HEADER_IN_REQUEST | HEADER_IN_ANSWER | HEADER_CREDENTIAL},
    {"Content-Type",        HEADER_BY_POLICY | HEADER_CREDENTIAL},
    /* an upstream must not use a content coding: such an answer cannot be redacted, and can unpack
     * to gigabytes */
    {"Accept-Encoding",     TO_UPSTREAM | HEADER_CREDENTIAL},
    /* fields about the request and its origin */
    {"Host",                TO_UPSTREAM | HEADER_CREDENTIAL | HEADER_IN_ANSWER},
    {"Forwarded",           TO_UPSTREAM | HEADER_CREDENTIAL},
    {"X-Forwarded-*",        TO_UPSTREAM | HEADER_CREDENTIAL},
    {"Via",                 TO_UPSTREAM | HEADER_CREDENTIAL},
    {"X-Real-IP",           TO_UPSTREAM},
    {"X-Client-IP",         TO_UPSTREAM},
    {"True-Client-IP",      TO_UPSTREAM},
    {"Client-IP",           TO_UPSTREAM},
    {"X-Original-URL",      TO_UPSTREAM},
    {"X-Rewrite-URL",       TO_UPSTREAM},
    {"X-HTTP-Method-Override", TO_UPSTREAM},
    {"X-HTTP-Method",       TO_UPSTREAM},
    {"X-Method-Override",   TO_UPSTREAM},
    {"Sec-*",                TO_UPSTREAM},
    {"Access-Control-*",     TO_UPSTREAM | TO_CALLER},
    {"X-Request-ID",        OF_DOCUMENTS | HEADER_CREDENTIAL | HEADER_PASSED_BACK},
    {"Mcp-*",                HEADER_BY_POLICY}, /* they repeat the body (gateway-admin.md 1) */
    /* the proxy of a CGI program (CVE-2016-5385) */
    {"Proxy",               TO_UPSTREAM | HEADER_CREDENTIAL},
    /* credentials of the caller at this service */
    {"Authorization",       TO_UPSTREAM},
    {"Cookie",              TO_UPSTREAM | HEADER_CREDENTIAL},
    {"Cookie2",             TO_UPSTREAM | HEADER_CREDENTIAL},
    {"DPoP",                TO_UPSTREAM | HEADER_CREDENTIAL},
    {"X-Admin-API-Key",     TO_UPSTREAM | HEADER_CREDENTIAL},
    {"X-Bundle-API-Key",    TO_UPSTREAM | HEADER_CREDENTIAL},
    {"X-CSRF-Token",        TO_UPSTREAM},
    /* fields of our credential at the upstream; a client would use the upstream's nonce at this
     * service, and be refused each time (RFC 9449 8.2) */
    {"WWW-Authenticate",    TO_CALLER},
    {"Authentication-Info", TO_CALLER},
    {"DPoP-Nonce",          TO_CALLER},
    /* fields that apply to all of our origin, not to one resource behind it */
    {"Set-Cookie",          TO_CALLER | HEADER_BY_POLICY},
    {"Set-Cookie2",         TO_CALLER},
    {"Strict-Transport-Security", TO_CALLER},
    {"Alt-Svc",             TO_CALLER},
    {"Clear-Site-Data",     TO_CALLER},
    {"Service-Worker-Allowed", TO_CALLER},
    {"Public-Key-Pins",     TO_CALLER},
    {"Public-Key-Pins-Report-Only", TO_CALLER},
    {"Expect-CT",           TO_CALLER},
    {"NEL",                 TO_CALLER},
    {"Report-To",           TO_CALLER},
    {"Reporting-Endpoints", TO_CALLER},
    {"Origin-Agent-Cluster", TO_CALLER},
    {"Accept-CH",           TO_CALLER},
    {"Critical-CH",         TO_CALLER},
    {"Set-Login",           TO_CALLER},
    {"Use-As-Dictionary",   TO_CALLER},
    /* fields that make a browser navigate or fetch, whatever the body is */
    {"Refresh",             TO_CALLER},
    {"Link",                TO_CALLER},
    /* set by the gateway itself */
    {"Status",              TO_CALLER}, /* the status line of the gateway protocol (RFC 3875 6.3.3) */
    {"Content-Security-Policy", TO_CALLER},
    {"Content-Security-Policy-Report-Only", TO_CALLER},
    {"X-Content-Type-Options", TO_CALLER},
    {"X-Frame-Options",     TO_CALLER},
    {"Server",              TO_CALLER},
    {"X-Upstream-Failed",   TO_CALLER},
    /* shared caches must not keep what was decided for one caller */
    {"Cache-Control",       TO_CALLER},
    {"Expires",             TO_CALLER},
    {"Pragma",              TO_CALLER},
    {"Age",                 TO_CALLER},
    {"Surrogate-Control",   TO_CALLER},
    {"CDN-Cache-Control",   TO_CALLER},
    /* commands to our web server, such as to send a file of this host */
    {"Secure-Session-*",     TO_CALLER},
    {"X-Accel-*",            TO_CALLER},
    {"X-Sendfile*",         TO_CALLER},
    {"X-LIGHTTPD-*",         TO_CALLER},
    {"X-Reproxy-*",          TO_CALLER},
};
/* clang-format on */

/* Return a character of a name as names are compared. */
static char
plain(char c)
{
    return (char) (c == '_' ? '-' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Return the number of characters at which two names are the same. */
static size_t
names_agree(const char *one, const char *other)
{
    size_t i = 0;
    while (one[i] != '\0' && plain(one[i]) == plain(other[i]))
        i++;
    return i;
}

bool
header_is(const char *one, const char *other)
{
    size_t same = names_agree(one, other);
    return one[same] == '\0' && other[same] == '\0';
}

static bool
row_matches(const char *row, const char *name)
{
    size_t length = strlen(row);
    return row[length - 1] == '*' ? names_agree(row, name) >= length - 1 : header_is(row, name);
}

bool
header_may_be(const char *name, enum header_use use)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if ((refused[i].uses & use) != 0 && row_matches(refused[i].name, name))
            return false;
    return true;
}

static const char *
header_name_fault(const char *name, enum header_use use)
{
    size_t length = strlen(name);
    if (length == 0 || length > MANAGED_HEADER_NAME_MAX
        || strspn(name, HEADER_NAME_CHARS) != length)
        return "is not the name of a header field";
    return header_may_be(name, use) ? NULL : "is a header field that cannot be set here";
}

/* A line end in a value would begin another field. */
static const char *
header_value_fault(const json_t *value)
{
    const char *c = json_string_value(value);
    if (c == NULL || json_string_length(value) > MANAGED_HEADER_VALUE_MAX)
        return "must have a text of at most 1024 octets";
    for (; *c != '\0'; c++)
        if ((unsigned char) *c < 0x20 || (unsigned char) *c > 0x7e)
            return "must have visible ASCII characters and spaces only";
    return NULL;
}

/* Return the fault of an object of header fields. */
static const char *
headers_fault(TALLOC_CTX *mem, const json_t *object, enum header_use use)
{
    const char *name;
    json_t *value;
    if (json_object_size(object) > MANAGED_HEADERS_MAX)
        return "must have at most 32 header fields";
    json_object_foreach ((json_t *) (uintptr_t) object, name, value) {
        const char *why = header_name_fault(name, use);
        if (why == NULL)
            why = header_value_fault(value);
        if (why != NULL && strspn(name, HEADER_NAME_CHARS) == strlen(name)
            && strlen(name) <= MANAGED_HEADER_NAME_MAX)
            return field_fault_text(mem, "%s: %s", name, why);
        if (why != NULL)
            return why;
    }
    return NULL;
}

const char *
header_request_rule(TALLOC_CTX *mem, const json_t *value)
{
    return headers_fault(mem, value, HEADER_IN_REQUEST);
}

const char *
header_answer_rule(TALLOC_CTX *mem, const json_t *value)
{
    return headers_fault(mem, value, HEADER_IN_ANSWER);
}

const char *
header_forward_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return header_name_fault(json_string_value(value), HEADER_FORWARDED);
}

const char *
header_any_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    (void) mem;
    return text[strspn(text, HEADER_NAME_CHARS)] == '\0' && strcmp(text, "*") != 0
               ? NULL
               : "must be the name of a header field";
}

const char *
header_credential_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return header_name_fault(json_string_value(value), HEADER_CREDENTIAL);
}

/* Set a field, in the place of one of the same name. */
static void
headers_set(struct managed_header *item, size_t *count, const char *name, const char *value)
{
    size_t i = 0;
    while (i < *count && !header_is(item[i].name, name))
        i++;
    item[i] = (struct managed_header){.name = name, .value = value};
    *count += i == *count;
}

bool
managed_headers_have(const struct managed_headers *headers, const char *name)
{
    size_t i = 0;
    while (i < headers->count && !header_is(headers->item[i].name, name))
        i++;
    return i < headers->count;
}

struct managed_headers
reader_headers(struct reader *reader, const char *member, const json_t *object,
               const struct managed_headers *base)
{
    const char *name;
    json_t *value;
    struct managed_headers none = {.count = 0};
    size_t count = 0, before = base != NULL ? base->count : 0;
    if (json_object_size(object) + before == 0)
        return none;
    struct managed_header *item = talloc_zero_array(reader->mem, struct managed_header,
                                                    (unsigned) (json_object_size(object) + before));
    if (item == NULL) {
        reader->lost = true;
        return none;
    }
    for (size_t i = 0; i < before; i++)
        headers_set(item, &count, base->item[i].name, base->item[i].value);
    size_t own = 0;
    json_object_foreach ((json_t *) (uintptr_t) object, name, value) {
        size_t was = count;
        headers_set(item, &count, name, json_string_value(value));
        own += count > was || before > 0;
    }
    /* Two names that differ in case or in underscores alone are one field. */
    if (own < json_object_size(object))
        reader_tell(reader, member, "names a header field twice");
    return (struct managed_headers){.item = item, .count = count};
}

void
reader_credential_apart(struct reader *reader, const char *member, const json_t *names)
{
    const char *kept = reader->resource->auth.header, *name;
    json_t *value;
    size_t index;
    bool named = false;
    if (kept == NULL)
        return;
    json_object_foreach ((json_t *) (uintptr_t) names, name, value)
        named = named || header_is(name, kept);
    json_array_foreach (names, index, value)
        named = named || header_is(json_string_value(value), kept);
    if (named)
        reader_tell_text(reader, member, "names %s, which carries the credential", kept);
}
