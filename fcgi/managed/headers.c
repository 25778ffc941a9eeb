#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "managed/reader.h"

#define TOKEN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"
#define HEADER_NAME_MAX 64

/* Uses of a header field by a document. */
enum {
    IN_REQUEST = 1, /* requestHeaders */
    FORWARDED = 2,  /* forwardHeaders */
    IN_ANSWER = 4,  /* response.headers */
    CREDENTIAL = 8, /* upstreamAuth.header */
};

/*
 * Header fields that a document may not name, by their uses. Those of one connection and of framing
 * would let a request be read as two (RFC 9112 11.2); Host and X-Forwarded-* tell an upstream who
 * asks it; a credential of the caller must not reach it, and one of ours stands in upstreamAuth,
 * where it is sealed. A name that ends with "-" stands for all that begin with it.
 */
/* clang-format off */
static const struct {
    const char *name;
    unsigned uses; /* for which it is refused */
} refused[] = {
    {"Connection",          IN_REQUEST | FORWARDED | IN_ANSWER | CREDENTIAL},
    {"Keep-Alive",          IN_REQUEST | FORWARDED | IN_ANSWER | CREDENTIAL},
    {"Proxy",               IN_REQUEST | FORWARDED | CREDENTIAL}, /* CVE-2016-5385 */
    {"Proxy-",              IN_REQUEST | FORWARDED | IN_ANSWER | CREDENTIAL},
    {"TE",                  IN_REQUEST | FORWARDED | IN_ANSWER | CREDENTIAL},
    {"Trailer",             IN_REQUEST | FORWARDED | IN_ANSWER | CREDENTIAL},
    {"Transfer-Encoding",   IN_REQUEST | FORWARDED | IN_ANSWER | CREDENTIAL},
    {"Upgrade",             IN_REQUEST | FORWARDED | IN_ANSWER | CREDENTIAL},
    {"Content-Length",      IN_REQUEST | FORWARDED | IN_ANSWER | CREDENTIAL},
    {"Content-Encoding",    IN_REQUEST | IN_ANSWER | CREDENTIAL},
    {"Expect",              IN_REQUEST | FORWARDED | CREDENTIAL},
    {"Host",                IN_REQUEST | FORWARDED | IN_ANSWER | CREDENTIAL},
    {"Forwarded",           IN_REQUEST | FORWARDED | CREDENTIAL},
    {"X-Forwarded-",        IN_REQUEST | FORWARDED | CREDENTIAL},
    {"Cookie",              IN_REQUEST | FORWARDED | CREDENTIAL},
    {"Authorization",       IN_REQUEST | FORWARDED},
    {"DPoP",                IN_REQUEST | FORWARDED | CREDENTIAL},
    {"X-Admin-API-Key",     FORWARDED | CREDENTIAL},
    {"X-Bundle-API-Key",    FORWARDED | CREDENTIAL},
    {"Set-Cookie",          IN_ANSWER},
    {"WWW-Authenticate",    IN_ANSWER},
    {"Strict-Transport-Security", IN_ANSWER},
    {"Alt-Svc",             IN_ANSWER},
    {"Clear-Site-Data",     IN_ANSWER},
    {"Status",              IN_ANSWER}, /* would be the status line of the gateway protocol (RFC 3875 6.3.3) */
    {"X-Request-ID",        IN_REQUEST | FORWARDED | IN_ANSWER | CREDENTIAL},
};
/* clang-format on */

/* True if a name is that of a row. An underscore is a dash: an upstream behind CGI does not tell
 * them apart (RFC 3875 4.1.18). */
static bool
names_match(const char *row, const char *name)
{
    char dashed[HEADER_NAME_MAX + 1];
    size_t length = strlen(row), i = 0;
    for (; name[i] != '\0'; i++)
        dashed[i] = (char) (name[i] == '_' ? '-' : name[i]);
    dashed[i] = '\0';
    return row[length - 1] == '-' ? strncasecmp(row, dashed, length) == 0
                                  : strcasecmp(row, dashed) == 0;
}

static const char *
header_name_fault(const char *name, unsigned use)
{
    size_t length = strlen(name);
    if (length == 0 || length > HEADER_NAME_MAX || strspn(name, TOKEN) != length)
        return "is not the name of a header field";
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if ((refused[i].uses & use) != 0 && names_match(refused[i].name, name))
            return "is a header field that cannot be set here";
    return NULL;
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
headers_fault(TALLOC_CTX *mem, const json_t *object, unsigned use)
{
    const char *name;
    json_t *value;
    if (json_object_size(object) > MANAGED_HEADERS_MAX)
        return "must have at most 32 header fields";
    json_object_foreach ((json_t *) (uintptr_t) object, name, value) {
        const char *why = header_name_fault(name, use);
        if (why == NULL)
            why = header_value_fault(value);
        if (why != NULL && strspn(name, TOKEN) == strlen(name) && strlen(name) <= HEADER_NAME_MAX)
            return field_fault_text(mem, "%s: %s", name, why);
        if (why != NULL)
            return why;
    }
    return NULL;
}

const char *
header_request_rule(TALLOC_CTX *mem, const json_t *value)
{
    return headers_fault(mem, value, IN_REQUEST);
}

const char *
header_answer_rule(TALLOC_CTX *mem, const json_t *value)
{
    return headers_fault(mem, value, IN_ANSWER);
}

const char *
header_forward_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return header_name_fault(json_string_value(value), FORWARDED);
}

const char *
header_credential_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return header_name_fault(json_string_value(value), CREDENTIAL);
}

/* Set a field, in the place of one of the same name. */
static void
headers_set(struct managed_header *item, size_t *count, const char *name, const char *value)
{
    size_t i = 0;
    while (i < *count && strcasecmp(item[i].name, name) != 0)
        i++;
    item[i] = (struct managed_header){.name = name, .value = value};
    *count += i == *count;
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
    /* Two names that differ in case alone are one field. */
    if (own < json_object_size(object))
        reader_tell(reader, member, "names a header field twice");
    return (struct managed_headers){.item = item, .count = count};
}
