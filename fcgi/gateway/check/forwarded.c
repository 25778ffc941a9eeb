#include "config.h"

#include "gateway/check/forwarded.h"

#include <string.h>
#include <strings.h>

#include "base/raw_uri.h"
#include "managed/pattern.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
/* Characters of a target (RFC 3986 3.3 and 3.4), and the sign of an encoding; without ";", at which
 * some servers part a path and a query and some do not. */
#define PATH_CHARACTERS LETTERS DIGITS "-._~!$&'()*+,=:@/%"
#define QUERY_CHARACTERS PATH_CHARACTERS "?"

static bool
consists_of(const char *text, const char *characters)
{
    return text[strspn(text, characters)] == '\0';
}

/* True if a text is a method: a token (RFC 9110 5.6.2). */
static bool
is_method(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length <= FORWARDED_METHOD_MAX
           && consists_of(text, LETTERS DIGITS "!#$%&'*+-.^_`|~");
}

/* True if a text is a port: 1 to 5 digits, none of them a leading zero. */
static bool
is_port(const char *text)
{
    return *text >= '1' && *text <= '9' && strlen(text) <= 5 && consists_of(text, DIGITS);
}

/* Return scheme and host in one spelling, on mem; NULL: malformed, or no memory. */
static const char *
read_origin(TALLOC_CTX *mem, const char *proto, const char *host)
{
    static const struct {
        const char *scheme, *port;
    } schemes[] = {
        {"https", "443"},
        {"http",  "80" },
    };
    size_t length = strlen(host), i = strcmp(proto, "https") == 0 ? 0 : 1;
    bool literal = *host == '[';
    char *lower = talloc_strdup(mem, host);
    if (lower == NULL || strcmp(proto, schemes[i].scheme) != 0 || length > FORWARDED_HOST_MAX)
        return NULL;
    for (char *c = lower; *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char) (*c + 32) : *c;
    char *end = literal ? strchr(lower, ']') : lower + strcspn(lower, ":");
    if (end == NULL)
        return NULL;
    char *port = end + (literal ? 1 : 0);
    if (*port != '\0' && (*port != ':' || !is_port(port + 1)))
        return NULL;
    if (*port == ':' && strcmp(port + 1, schemes[i].port) == 0)
        *port = '\0';
    size_t name = (size_t) (end - lower);
    size_t good = literal ? 1 + strspn(lower + 1, DIGITS "abcdef:.")
                          : strspn(lower, "abcdefghijklmnopqrstuvwxyz" DIGITS ".-");
    if (name == 0 || good != name || end[-1] == '.')
        return NULL;
    return talloc_asprintf(mem, "%s://%s", proto, lower);
}

/* True if a path has a part that servers read in two ways. */
static bool
is_ambiguous(const char *path)
{
    for (const char *c = path; *c != '\0'; c++) {
        if (c[0] == '%' && (strncmp(c, "%2F", 3) == 0 || strncmp(c, "%5C", 3) == 0))
            return true;
        if (c[0] == '/' && c[1] == '/')
            return true;
        size_t dots = c[0] == '/' ? strspn(c + 1, ".") : 0;
        if (dots >= 1 && dots <= 2 && (c[dots + 1] == '/' || c[dots + 1] == '\0'))
            return true;
    }
    return !consists_of(path, PATH_CHARACTERS);
}

/* Read the target: path and query in one spelling. AZ_INVALID: a character that they do not have.
 */
static enum az_status
read_target(TALLOC_CTX *mem, const char *uri, struct forwarded *ret)
{
    size_t length = strcspn(uri, "?");
    const char *path = talloc_strndup(mem, uri, length);
    ret->raw = path != NULL ? raw_uri_encode(mem, path, RAW_URI_PATH) : NULL;
    ret->path = ret->raw != NULL ? managed_path_plain(mem, ret->raw) : NULL;
    ret->query = raw_uri_encode(mem, uri[length] == '?' ? uri + length + 1 : "", RAW_URI_QUERY);
    if (ret->path == NULL || ret->query == NULL)
        return AZ_SERVER_ERROR;
    if (!consists_of(ret->path, PATH_CHARACTERS ";")
        || !consists_of(ret->query, QUERY_CHARACTERS ";"))
        return AZ_INVALID;
    return is_ambiguous(ret->path) || strchr(ret->query, ';') != NULL ? AZ_FORBIDDEN : AZ_OK;
}

enum az_status
forwarded_read(TALLOC_CTX *mem, const struct forwarded_fields *fields, struct forwarded *ret,
               const char **ret_why)
{
    *ret = (struct forwarded){.method = fields->method};
    *ret_why = NULL;
    if (fields->proto != NULL && fields->host != NULL)
        ret->origin = read_origin(mem, fields->proto, fields->host);
    if (fields->method == NULL || !is_method(fields->method))
        *ret_why = "X-Forwarded-Method";
    else if (fields->proto == NULL)
        *ret_why = "X-Forwarded-Proto";
    else if (ret->origin == NULL)
        *ret_why = "X-Forwarded-Host or X-Forwarded-Proto";
    else if (fields->uri == NULL || *fields->uri != '/' || strlen(fields->uri) > FORWARDED_URI_MAX)
        *ret_why = "X-Forwarded-Uri";
    return *ret_why != NULL ? AZ_INVALID_REQUEST : read_target(mem, fields->uri, ret);
}

/* Return the octets of an address that a request begins with, or 0. */
static size_t
covered(const char *url, const struct forwarded *request)
{
    size_t origin = strlen(request->origin), length = strlen(url);
    if (length < origin || strncmp(url, request->origin, origin) != 0
        || (url[origin] != '\0' && url[origin] != '/'))
        return 0;
    const char *prefix = url + origin;
    size_t path = length - origin;
    if (strncmp(request->path, prefix, path) != 0
        || (request->path[path] != '\0' && request->path[path] != '/'))
        return 0;
    return length;
}

/* Return the octets of an address that a careless server might take a request for, or 0: letters of
 * another case are the same to it, and an encoded `;` begins a path parameter, as a raw one does.
 */
static size_t
resembles(const char *url, const struct forwarded *request)
{
    size_t origin = strlen(request->origin);
    const char *c = request->path;
    if (strncmp(url, request->origin, origin) != 0)
        return 0;
    for (const char *at = url + origin; *at != '\0';) {
        if (*at == '/' && strncmp(c, "%3B", 3) == 0)
            c += strcspn(c, "/");
        if (*c == '\0' || strncasecmp(c, at, 1) != 0)
            return 0;
        at++;
        c++;
    }
    return *c == '\0' || *c == '/' || strncmp(c, "%3B", 3) == 0 ? strlen(url) : 0;
}

void
forwarded_find(const struct forwarded *request, const struct managed_resource *const *resource,
               size_t count, struct forwarded_match *ret)
{
    size_t longest = 0, like = 0;
    *ret = (struct forwarded_match){.resource = NULL};
    for (size_t i = 0; i < count; i++) {
        const char *const *url = (const char *const *) resource[i]->public_urls;
        for (size_t j = 0; url != NULL && url[j] != NULL; j++) {
            size_t octets = covered(url[j], request), alike = resembles(url[j], request);
            like = alike > like ? alike : like;
            if (octets == 0 || octets < longest)
                continue;
            bool same = octets == longest && ret->resource != NULL;
            *ret = (struct forwarded_match){
                .resource = resource[i],
                .url = url[j],
                .place = j,
                .rest = request->path + (octets - strlen(request->origin)),
                .ambiguous = same,
            };
            longest = octets;
        }
    }
    ret->ambiguous = ret->ambiguous || like > longest;
}
