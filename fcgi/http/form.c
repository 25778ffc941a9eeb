#include "config.h"

#include "http/form.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/digits.h"
#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "http/response.h"
#include "http/route.h"

/* Decode into `out`, which has room for `length` octets and a NUL. False: the text is malformed. */
static bool
url_decode_into(char *out, const char *text, size_t length, bool form)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '+' && form) {
            c = ' ';
        } else if (c == '%') {
            int high = i + 2 < length ? digits_hex(text[i + 1]) : -1;
            int low = i + 2 < length ? digits_hex(text[i + 2]) : -1;
            if (high < 0 || low < 0 || (high == 0 && low == 0))
                return false;
            c = (char) (high << 4 | low);
            i += 2;
        } else if (c == '\0') {
            return false;
        }
        out[used++] = c;
    }
    out[used] = '\0';
    return utf8_valid(out, used);
}

enum az_status
request_url_decode(TALLOC_CTX *mem, const char *text, size_t length, bool form, char **ret)
{
    *ret = talloc_array(mem, char, (unsigned) length + 1);
    if (*ret == NULL)
        return AZ_SERVER_ERROR;
    if (url_decode_into(*ret, text, length, form))
        return AZ_OK;
    TALLOC_FREE(*ret);
    return AZ_INVALID;
}

enum az_status
request_decode_pair(TALLOC_CTX *mem, const char *pair, size_t length, char **ret_name,
                    char **ret_value)
{
    const char *equals = memchr(pair, '=', length), *end = pair + length;
    const char *name_end = equals != NULL ? equals : end,
               *value = equals != NULL ? equals + 1 : end;
    enum az_status st = request_url_decode(mem, pair, (size_t) (name_end - pair), true, ret_name);
    return st == AZ_OK ? request_url_decode(mem, value, (size_t) (end - value), true, ret_value)
                       : st;
}

static const struct route_param *
find_param(const struct route *route, const char *name)
{
    if (route->find_param != NULL)
        return route->find_param(name);
    for (const struct route_param *row = route->params; row != NULL && row->name != NULL; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

/* True if the row's handler answers faults itself: the answer of /authorize depends on the other
 * parameters. */
static bool
keeps_faults(const struct request *req)
{
    return req->route->body == BODY_QUERY_FAULTS || req->route->body == BODY_FORM_FAULTS;
}

/* Refuse the request, or keep the fault for the handler. The text is a constant. */
static enum az_status
form_fault(struct request *req, const char *text)
{
    if (!keeps_faults(req))
        return op_fail(&req->op, AZ_INVALID_REQUEST, text, NULL);
    req->param_fault = req->param_fault != NULL ? req->param_fault : text;
    return AZ_OK;
}

/* Take note of a repeated parameter. Neither value counts, because there is no telling which one
 * was meant. */
static enum az_status
repeat(struct request *req, size_t before)
{
    char text[96];
    const char *name = req->param[before].name;
    if (keeps_faults(req)) {
        req->param_repeated[before] = true;
        req->repeated = req->repeated != NULL ? req->repeated : name;
        return AZ_OK;
    }
    snprintf(text, sizeof(text), "The parameter %.40s is repeated", name);
    return op_fail(&req->op, AZ_INVALID_REQUEST, text, NULL);
}

/* Treat a parameter without a value as absent (RFC 6749 3.1). The admin API refuses it: a
 * script whose variable is not set would drop a limit, a condition or a filter. */
static enum az_status
take_empty(struct request *req, const char *name)
{
    return req->route->dialect == DIALECT_ADMIN ? request_invalid_field(
               req, name, "must not be empty; leave it out if none is meant")
                                                : AZ_OK;
}

/* Take one name=value pair. Unknown names are ignored (oauth.md C5); known ones may come once (RFC
 * 6749 3.1, 3.2). */
static enum az_status
take_pair(struct request *req, const char *pair, size_t length)
{
    char *name, *value;
    enum az_status st = request_decode_pair(req->op.mem, pair, length, &name, &value);
    if (st == AZ_INVALID)
        return form_fault(req, "A parameter is not form-encoded or not valid UTF-8");
    if (st != AZ_OK)
        return op_fail(&req->op, st, NULL, "out of memory for a parameter");
    const struct route_param *row = find_param(req->route, name);
    if (row == NULL)
        return AZ_OK;
    if (*value == '\0')
        return take_empty(req, row->name);
    for (size_t i = 0; i < req->params && !row->repeatable; i++)
        if (strcmp(req->param[i].name, name) == 0)
            return repeat(req, i);
    if (req->params == HTTP_PARAMS_MAX)
        return form_fault(req, "The request has too many parameters");
    req->param[req->params++] = (struct http_param){row->name, value};
    return AZ_OK;
}

enum az_status
request_parse_form(struct request *req, const char *text, size_t length)
{
    size_t pairs = 0;
    for (size_t start = 0; start < length;) {
        const char *next = memchr(text + start, '&', length - start);
        size_t end = next != NULL ? (size_t) (next - text) : length;
        /* Count ignored parameters too: decoding 60,000 empty ones would be wasted work. */
        if (end > start && ++pairs > HTTP_PARAMS_MAX)
            return form_fault(req, "The request has too many parameters");
        enum az_status st = end > start ? take_pair(req, text + start, end - start) : AZ_OK;
        if (st != AZ_OK)
            return st;
        start = end + 1;
    }
    return AZ_OK;
}

bool
request_media_type_is(const char *content_type, const char *wanted)
{
    size_t length = content_type != NULL ? strcspn(content_type, "; \t") : 0;
    return length == strlen(wanted) && strncasecmp(content_type, wanted, length) == 0;
}

bool
request_media_type_is_json(const char *content_type)
{
    size_t length = content_type != NULL ? strcspn(content_type, "; \t") : 0;
    return request_media_type_is(content_type, "application/json")
           || (length > 5 && strncasecmp(content_type + length - 5, "+json", 5) == 0);
}

/* Read Content-Length, which is digits alone (RFC 9110 8.6). *ret is at most max + 1. */
static bool
read_length(const char *text, size_t max, size_t *ret)
{
    int64_t length;
    size_t digits = strlen(text);
    if (digits_take(text, digits, (int64_t) max + 1, &length) != digits)
        return false;
    *ret = (size_t) length;
    return true;
}

/*
 * Read all octets of the body, at most the row's maximum; AZ_TOO_LARGE one past it. A body without
 * a length (chunked, behind Apache) is read to its end, or one octet past the maximum.
 */
static enum az_status
form_read_octets(struct request *req)
{
    const char *announced = req->io->variable(req->io, "CONTENT_LENGTH");
    bool known = announced != NULL && *announced != '\0';
    size_t max = req->route->body_max, length = max + 1;
    if (known && !read_length(announced, max, &length))
        return op_fail(&req->op, AZ_INVALID_REQUEST, "Content-Length is not a number", NULL);
    if (known && length > max)
        return op_fail(&req->op, AZ_TOO_LARGE, NULL, "the body has %s octets, the limit is %zu",
                       announced, max);
    char *body = talloc_size(req->op.mem, length + 1);
    if (body == NULL)
        return op_no_memory(&req->op);
    size_t used = 0;
    long got = 1;
    /* Ask for one octet more than announced, to see that the body ends where it should. */
    for (; used <= length && got > 0; used += (size_t) (got > 0 ? got : 0))
        got = req->io->read(req->io, body + used, length + 1 - used);
    if (!known && got < 0) /* what came is a part of a body, which may read as a whole one */
        return op_fail(&req->op, AZ_INVALID_REQUEST, "The request body is incomplete",
                       "received %zu octets", used);
    if (known && used > length)
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "The request body is longer than Content-Length",
                       "the body has more than the announced %zu octets", length);
    if (known && used < length)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "The request body is incomplete",
                       "received %zu of the announced %zu octets", used, length);
    if (used > max)
        return op_fail(&req->op, AZ_TOO_LARGE, NULL,
                       "a body without Content-Length exceeds the limit of %zu octets", max);
    body[used] = '\0';
    req->body = body;
    req->body_length = used;
    return AZ_OK;
}

enum az_status
request_open_body(struct request *req, size_t max, struct body_stream *ret)
{
    const char *announced = req->io->variable(req->io, "CONTENT_LENGTH");
    *ret = (struct body_stream){.max = max, .known = announced != NULL && *announced != '\0'};
    if (ret->known && !read_length(announced, max, &ret->length))
        return op_fail(&req->op, AZ_INVALID_REQUEST, "Content-Length is not a number", NULL);
    if (ret->known && ret->length > max)
        return op_fail(&req->op, AZ_TOO_LARGE, NULL, "the body has %s octets, the limit is %zu",
                       announced, max);
    return AZ_OK;
}

enum az_status
request_read_piece(struct request *req, struct body_stream *body, void *buffer, size_t size,
                   size_t *ret_got)
{
    long got = size > 0 ? req->io->read(req->io, buffer, size) : 0;
    *ret_got = got > 0 ? (size_t) got : 0;
    body->used += *ret_got;
    if (body->known ? body->used > body->length : body->used > body->max)
        return body->known
                   ? op_fail(&req->op, AZ_INVALID_REQUEST,
                             "The request body is longer than Content-Length", NULL)
                   : op_fail(&req->op, AZ_TOO_LARGE, NULL,
                             "a body without Content-Length exceeds the limit of %zu octets",
                             body->max);
    if (got < 0 || (got == 0 && size > 0 && body->known && body->used < body->length))
        return op_fail(&req->op, AZ_INVALID_REQUEST, "The request body is incomplete",
                       "received %zu octets", body->used);
    return AZ_OK;
}

static enum az_status
read_form(struct request *req)
{
    const char *type = req->io->variable(req->io, "CONTENT_TYPE");
    if (req->body_length == 0)
        return AZ_OK;
    if (!request_media_type_is(type, "application/x-www-form-urlencoded"))
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "The content type must be application/x-www-form-urlencoded", NULL);
    return request_parse_form(req, req->body, req->body_length);
}

/* Return the nesting of a JSON body. */
static size_t
json_depth(enum route_body kind)
{
    return kind == BODY_JSON_ENVELOPE  ? HTTP_JSON_ENVELOPE_MAX
           : kind == BODY_JSON_SCHEMAS ? HTTP_JSON_SCHEMAS_MAX
                                       : HTTP_JSON_DEPTH_MAX;
}

static enum az_status
form_read_json(struct request *req)
{
    const char *type = req->io->variable(req->io, "CONTENT_TYPE");
    const char *why = NULL;
    size_t depth = json_depth(req->route->body);
    if (req->body_length == 0 && req->route->body == BODY_JSON_OPTIONAL)
        return AZ_OK;
    if (!request_media_type_is_json(type))
        return op_fail(&req->op, AZ_MEDIA_TYPE, NULL, NULL);
    enum az_status st =
        jsonx_parse(req->op.mem, req->body, req->body_length, depth, &req->json, &why);
    if (st == AZ_SERVER_ERROR)
        return op_fail(&req->op, st, NULL, "out of memory for the body");
    if (st != AZ_OK) {
        char text[160];
        snprintf(text, sizeof(text), "The body is not valid JSON: %s", why);
        return op_fail(&req->op, AZ_INVALID_FIELDS, text, NULL);
    }
    if (!json_is_object(req->json))
        return op_fail(&req->op, AZ_INVALID_FIELDS, "The body must be a JSON object", NULL);
    return AZ_OK;
}

enum az_status
request_read_body(struct request *req)
{
    enum route_body kind = req->route->body;
    if (kind == BODY_NONE || kind == BODY_STREAM)
        return AZ_OK;
    if (kind == BODY_QUERY || kind == BODY_QUERY_FAULTS)
        return request_parse_form(req, req->query, strlen(req->query));
    enum az_status st = form_read_octets(req);
    if (st != AZ_OK)
        return st;
    if (kind == BODY_RAW)
        return AZ_OK;
    if (kind == BODY_JSON || kind == BODY_JSON_OPTIONAL || kind == BODY_JSON_ENVELOPE
        || kind == BODY_JSON_SCHEMAS) {
        st = req->route->params != NULL ? request_parse_form(req, req->query, strlen(req->query))
                                        : AZ_OK;
        return st == AZ_OK ? form_read_json(req) : st;
    }
    st = read_form(req);
    if (st == AZ_INVALID_REQUEST && kind == BODY_FORM_LENIENT) {
        char why[sizeof(req->op.fault.public_text)];
        snprintf(why, sizeof(why), "%s", req->op.fault.public_text);
        req->params = 0;
        az_fault_clear(&req->op.fault);
        /* For the line of the log: the answer does not tell it. */
        snprintf(req->op.fault.detail, sizeof(req->op.fault.detail), "form ignored: %s", why);
        return AZ_OK;
    }
    return st;
}
