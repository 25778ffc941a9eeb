#include "config.h"

#include "gateway/upstream/target.h"

#include <string.h>

#include "base/buf.h"
#include "base/digits.h"
#include "base/uri.h"
#include "http/form.h"

#define UNRESERVED "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
/* pchar without pct-encoded, and the other characters of path and query (RFC 3986 3.3, 3.4). */
#define PATH_CHARS UNRESERVED "!$&'()*+,;=:@/"
#define QUERY_CHARS PATH_CHARS "?"
#define HOST_CHARS "abcdefghijklmnopqrstuvwxyz0123456789.-_"

enum az_status
upstream_origin_read(TALLOC_CTX *mem, const char *url, struct upstream_origin *ret)
{
    struct uri uri = {.host = NULL};
    if (url == NULL || uri_parse(mem, url, &uri) != AZ_OK || uri.host == NULL || *uri.host == '\0')
        return AZ_INVALID;
    if (uri.userinfo != NULL || uri.query != NULL || uri.fragment != NULL
        || (strcmp(uri.scheme, "https") != 0 && strcmp(uri.scheme, "http") != 0)
        || (strchr(uri.host, ':') == NULL && uri.host[strspn(uri.host, HOST_CHARS)] != '\0'))
        return AZ_INVALID;
    const char *origin = uri_origin(mem, &uri);
    if (origin == NULL)
        return AZ_SERVER_ERROR;
    *ret = (struct upstream_origin){origin, uri.scheme, uri.host, uri.path};
    return AZ_OK;
}

char *
upstream_base_path(TALLOC_CTX *mem, const char *path)
{
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/')
        length--;
    return talloc_strndup(mem, path, length);
}

/* ---- query */

static bool
is_listed(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Append a pair, with its semicolons encoded. */
static void
query_keep(struct buf *out, const char *pair, size_t length)
{
    if (out->len > 0)
        buf_append_char(out, '&');
    for (size_t i = 0; i < length; i++) {
        if (pair[i] == ';')
            buf_append_text(out, "%3B");
        else
            buf_append_char(out, pair[i]);
    }
}

char *
upstream_query(TALLOC_CTX *mem, const char *query, const char *const *allow, size_t allow_count,
               const char *own)
{
    size_t ignored;
    struct buf out;
    buf_init(&out, mem, 3 * UPSTREAM_TARGET_MAX);
    buf_append(&out, "", 0);
    for (const char *pair = query; *pair != '\0';) {
        size_t length = strcspn(pair, "&");
        const char *equals = memchr(pair, '=', length);
        size_t name_length = equals != NULL ? (size_t) (equals - pair) : length;
        char *name;
        if (request_url_decode(mem, pair, name_length, true, &name) == AZ_SERVER_ERROR) {
            buf_done(&out); /* a request without one of its parameters is another request */
            return NULL;
        }
        bool kept = length > 0 && name != NULL && (own == NULL || strcmp(name, own) != 0)
                    && (allow == NULL || is_listed(allow, allow_count, name));
        if (kept)
            query_keep(&out, pair, length);
        talloc_free(name);
        pair += length + (pair[length] == '&');
    }
    char *text =
        out.len > 0 || out.status != AZ_OK ? buf_take(&out, &ignored) : talloc_strdup(mem, "");
    buf_done(&out);
    return text;
}

static void
append_encoded(struct buf *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr(UNRESERVED, *c) != NULL)
            buf_append_char(out, *c);
        else
            buf_append_format(out, "%%%02X", (unsigned) (unsigned char) *c);
    }
}

char *
upstream_query_add(TALLOC_CTX *mem, const char *query, const char *name, const char *value)
{
    size_t ignored;
    struct buf out;
    buf_init_secret(&out, mem, UPSTREAM_TARGET_MAX);
    buf_append_text(&out, query);
    if (*query != '\0')
        buf_append_char(&out, '&');
    append_encoded(&out, name);
    buf_append_char(&out, '=');
    append_encoded(&out, value);
    char *text = buf_take(&out, &ignored);
    buf_done(&out);
    return text;
}

/* ---- the whole */

/* True if a text has only these characters and whole percent-encodings. */
static bool
is_encoded(const char *text, const char *chars)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '%') {
            if (digits_hex(c[1]) < 0 || digits_hex(c[2]) < 0)
                return false;
            c += 2;
        } else if (strchr(chars, *c) == NULL) {
            return false;
        }
    }
    return true;
}

/* True if a segment is "." or "..", also with encoded dots. */
static bool
is_dots(const char *segment, size_t length)
{
    size_t dots = 0;
    for (size_t i = 0; i < length; dots++) {
        if (segment[i] == '.')
            i++;
        else if (length - i >= 3 && segment[i] == '%' && segment[i + 1] == '2'
                 && (segment[i + 2] == 'e' || segment[i + 2] == 'E'))
            i += 3;
        else
            return false;
    }
    return dots == 1 || dots == 2;
}

static bool
path_is_safe(const char *path)
{
    if (!is_encoded(path, PATH_CHARS) || (*path != '/' && *path != '\0'))
        return false;
    for (const char *segment = path; *segment == '/';) {
        size_t length = strcspn(segment + 1, "/");
        if (is_dots(segment + 1, length))
            return false;
        segment += 1 + length;
    }
    return true;
}

enum az_status
upstream_target(TALLOC_CTX *mem, const char *base, const char *path, const char *query, char **ret)
{
    if (!path_is_safe(base) || !path_is_safe(path) || !is_encoded(query, QUERY_CHARS))
        return AZ_INVALID;
    char *target =
        talloc_asprintf(mem, "%s%s%s%s%s", base, path, *base == '\0' && *path == '\0' ? "/" : "",
                        *query != '\0' ? "?" : "", query);
    if (target == NULL)
        return AZ_SERVER_ERROR;
    if (strlen(target) > UPSTREAM_TARGET_MAX) {
        talloc_free(target);
        return AZ_INVALID;
    }
    *ret = target;
    return AZ_OK;
}
