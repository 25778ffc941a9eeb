#include "config.h"

#include <string.h>

#include "base/uri.h"
#include "managed/reader.h"

/* Limits of the lists, far above what the pages of one API need; reader.h has that of origins. */
#define ORIGIN_MAX 255
#define METHODS_MAX 6
#define CORS_HEADERS_MAX 32
#define HEADER_MAX 64

/* Seconds for which a browser keeps the answer of a preflight. */
#define MAX_AGE_DEFAULT 600

/* The member `cors` as it stands. */
struct raw_cors {
    const json_t *origins, *methods, *headers, *expose;
    int64_t max_age;
};

/* True if a text is an origin as a browser writes it in the field Origin (Fetch, "serializing a
 * request origin"): scheme and host in lower case, the port unless the scheme has it anyway, and
 * nothing after it. */
static bool
is_origin(TALLOC_CTX *mem, const char *text)
{
    struct uri uri;
    if (uri_parse(mem, text, &uri) != AZ_OK || uri.host == NULL || uri.userinfo != NULL
        || strpbrk(text, "*%?#") != NULL)
        return false;
    const char *own = strcmp(uri.scheme, "https") == 0  ? "443"
                      : strcmp(uri.scheme, "http") == 0 ? "80"
                                                        : NULL;
    const char *authority = strstr(text, "://");
    return own != NULL && authority != NULL && strchr(authority + 3, '/') == NULL
           && text[strcspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0'
           && (uri.port == NULL || (*uri.port != '\0' && strcmp(uri.port, own) != 0));
}

static const char *
cors_origin_rule(TALLOC_CTX *mem, const json_t *value)
{
    return is_origin(mem, json_string_value(value))
               ? NULL
               : "must be an origin as browsers write it, such as https://app.example or "
                 "http://localhost:3000, and no pattern";
}

static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", NULL};

#define INTO(member) FIELD_INTO(struct raw_cors, member)
/* clang-format off */
static const struct field cors_fields[] = {
    {"origins", FIELD_TEXT_LIST, .required = true, .max = MANAGED_ORIGINS_MAX,
     .item_max = ORIGIN_MAX, .rule = cors_origin_rule, INTO(origins),
     .help = "Origins of the pages, as browsers write them",
     .example = "[\"https://app.example\"]"},
    {"methods", FIELD_TEXT_LIST, .max = METHODS_MAX, .words = methods, INTO(methods),
     .help = "Methods that they may use; all that a route may have if it is left out",
     .example = "[\"GET\", \"POST\"]"},
    {"headers", FIELD_TEXT_LIST, .max = CORS_HEADERS_MAX, .item_max = HEADER_MAX,
     .rule = header_any_rule, INTO(headers),
     .help = "Header fields that they may send beside Authorization, Content-Type and DPoP",
     .example = "[\"If-Match\"]"},
    {"expose",  FIELD_TEXT_LIST, .max = CORS_HEADERS_MAX, .item_max = HEADER_MAX,
     .rule = header_any_rule, INTO(expose),
     .help = "Header fields of answers that they may read beside WWW-Authenticate, DPoP-Nonce, "
             "ETag, Retry-After and X-Request-ID", .example = "[\"X-Total-Count\"]"},
    {"maxAge",  FIELD_INTEGER,   .min = 1, .max = MANAGED_CORS_AGE_MAX, INTO(max_age),
     .help = "Seconds for which a browser keeps the answer of a preflight, 600 by default",
     .example = "600"},
};
/* clang-format on */
const struct field_table managed_cors_table = FIELD_TABLE(NULL, cors_fields, 0);

/* Append the texts of a list to a text, with commas. */
static const char *
append_list(struct reader *reader, const char *text, const json_t *list)
{
    size_t index;
    const json_t *item;
    char *all = talloc_strdup(reader->mem, text);
    json_array_foreach (list, index, item)
        if (all != NULL)
            all = talloc_asprintf_append_buffer(all, "%s%s", *all != '\0' ? ", " : "",
                                                json_string_value(item));
    reader->lost = reader->lost || all == NULL;
    return all;
}

void
reader_cors(struct reader *reader, const json_t *object)
{
    struct managed_cors *cors = &reader->resource->cors;
    struct raw_cors raw = {.max_age = MAX_AGE_DEFAULT};
    if (object == NULL)
        return;
    if (reader->resource->upstream == MANAGED_MCP)
        reader_tell(reader, "cors",
                    "is for REST and STATIC resources only; SVC_GATEWAY_ALLOWED_ORIGINS has the "
                    "origins of MCP clients");
    if (!reader_part(reader, "cors", &managed_cors_table, object, &raw))
        return;
    cors->origins = reader_list(reader, raw.origins);
    cors->methods = raw.methods != NULL ? append_list(reader, "", raw.methods)
                                        : "GET, HEAD, POST, PUT, PATCH, DELETE";
    cors->headers = append_list(reader, "Authorization, Content-Type, DPoP", raw.headers);
    cors->expose = append_list(
        reader, "WWW-Authenticate, DPoP-Nonce, ETag, Retry-After, X-Request-ID", raw.expose);
    cors->max_age = raw.max_age;
}
