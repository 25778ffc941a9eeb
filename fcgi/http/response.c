#include "config.h"

#include "http/response.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/digest.h"
#include "http/request.h"

enum az_status
respond_octets(struct request *req, int status, const char *content_type, const void *body,
               size_t length)
{
    if (length > HTTP_ANSWER_MAX)
        return op_fail(&req->op, AZ_SERVER_ERROR, "The response is too large",
                       "the answer has %zu octets", length);
    req->res.status = status;
    req->res.content_type = content_type;
    req->res.body = body;
    req->res.length = length;
    req->res.newline = false;
    req->res.stream = NULL;
    req->res.cache = NULL;
    return AZ_OK;
}

enum az_status
respond_stream(struct request *req, const char *content_type,
               enum az_status (*stream)(struct request *req), void *arg)
{
    enum az_status st = respond_octets(req, 200, content_type, "", 0);
    req->res.stream = stream;
    req->res.stream_arg = arg;
    return st;
}

enum az_status
response_write(struct request *req, const void *octets, size_t length)
{
    return req->io->write(req->io, octets, length)
               ? AZ_OK
               : op_fail(&req->op, AZ_UNAVAILABLE, NULL, "the reader of the answer has gone");
}

enum az_status
respond_empty(struct request *req, int status)
{
    return respond_octets(req, status, NULL, "", 0);
}

enum az_status
respond_json_text(struct request *req, int status, const char *json)
{
    enum az_status st = respond_octets(req, status, "application/json", json, strlen(json));
    req->res.newline = st == AZ_OK;
    return st;
}

enum az_status
respond_json(struct request *req, int status, json_t *json)
{
    char *text = json != NULL ? jsonx_dump(req->op.mem, json) : NULL;
    if (text == NULL)
        return op_no_memory(&req->op);
    return respond_json_text(req, status, text);
}

static enum az_status
respond_location(struct request *req, int status, const char *url)
{
    bool fits = strlen(url) <= HTTP_LOCATION_MAX;
    for (const char *c = url; *c != '\0' && fits; c++)
        fits = (unsigned char) *c > 0x20 && (unsigned char) *c < 0x7f;
    if (!fits)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL,
                       "the target of a redirect is too long or contains a forbidden character");
    char *copy = talloc_strdup(req->op.mem, url);
    if (copy == NULL || req->res.headers == HTTP_HEADERS_MAX)
        return op_no_memory(&req->op);
    respond_header(req, "Location", copy);
    return respond_empty(req, status);
}

enum az_status
respond_redirect(struct request *req, const char *url)
{
    return respond_location(req, 302, url);
}

enum az_status
respond_see_other(struct request *req, const char *url)
{
    return respond_location(req, 303, url);
}

enum az_status
respond_cached(struct request *req, long max_age)
{
    char digest[SHA256_HEX_SIZE];
    enum az_status st = sha256_hex(req->res.body, req->res.length, digest);
    if (st != AZ_OK)
        return st;
    const char *etag = talloc_asprintf(req->op.mem, "\"%.32s\"", digest);
    const char *known = request_header(req, "HTTP_IF_NONE_MATCH");
    respond_header(req, "ETag", etag);
    respond_header(req, "Cache-Control",
                   talloc_asprintf(req->op.mem, "public, max-age=%ld", max_age));
    return known != NULL && etag != NULL && strcmp(known, etag) == 0
               ? respond_octets(req, 304, NULL, "", 0)
               : AZ_OK;
}

void
respond_kept(struct request *req, int64_t seconds)
{
    req->res.cache = talloc_asprintf(req->op.mem, "private, max-age=%lld", (long long) seconds);
}

void
respond_header(struct request *req, const char *name, const char *value)
{
    if (req->res.headers == HTTP_HEADERS_MAX || value == NULL)
        return;
    for (const char *c = value; *c != '\0'; c++)
        if ((unsigned char) *c < 0x20 || *c == 0x7f)
            return;
    req->res.header[req->res.headers++] = (struct http_header){name, value};
}

void
request_field_error(struct request *req, const char *field, const char *message)
{
    if (req->error_body == NULL)
        req->error_body = jsonx_own(req->op.mem, json_pack("{s:s,s:s,s:{}}", "error",
                                                           "invalid_request", "error_description",
                                                           "A field is not valid", "fieldErrors"));
    json_t *fields = json_object_get(req->error_body, "fieldErrors");
    if (json_object_get(fields, field) == NULL
        && json_object_set_new(fields, field, json_string(message)) != 0)
        op_no_memory(&req->op);
}

enum az_status
request_invalid_field(struct request *req, const char *field, const char *message)
{
    request_field_error(req, field, message);
    return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}

void
request_field_fault(void *req, const char *field, const char *message)
{
    request_field_error(req, field, message);
}
