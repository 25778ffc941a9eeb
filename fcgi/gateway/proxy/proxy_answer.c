#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/json/jsonx.h"
#include "gateway/proxy/proxy_private.h"
#include "gateway/upstream/success.h"

/* In a browser every answer belongs to our origin, so its content must not run there. */
#define ANSWER_CSP "default-src 'none'; sandbox"

static bool
is_redacted(const struct proxied *proxied)
{
    return json_array_size(proxied->obligations.redact) > 0;
}

bool
proxy_wants_memory(const struct proxied *proxied)
{
    return proxied->route->success_pointer != NULL || is_redacted(proxied);
}

/* ---- redaction */

/* Fields that describe the octets of the body, which a redaction changes. */
static bool
describes_octets(const char *name)
{
    static const char *const names[] = {"ETag",           "Content-MD5",   "Digest",
                                        "Content-Digest", "Repr-Digest",   "Last-Modified",
                                        "Accept-Ranges",  "Content-Range", "Content-Encoding"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Remove what policy wants hidden. A body that cannot be read as JSON could contain it in any form,
 * and a part of a body (RFC 9110 15.3.7) without its name, so they are not passed on. */
static enum az_status
redact(struct proxied *proxied, const char **body, size_t *length)
{
    struct op *op = &proxied->req->op;
    json_t *document = NULL;
    const char *why = NULL;
    if (!is_redacted(proxied) || *length == 0)
        return AZ_OK;
    if (proxied->answer != NULL && proxied->answer->status == 206)
        why = "the response is a part of the body";
    if (why != NULL
        || jsonx_parse(op->mem, *body, *length, UPSTREAM_JSON_DEPTH_MAX, &document, &why) != AZ_OK)
        return op_fail(op, AZ_UPSTREAM_INVALID, "The response of the upstream cannot be redacted",
                       "resource %s: %s", proxied->resource->name,
                       why != NULL ? why : "out of memory");
    char *text = upstream_redact(document, proxied->obligations.redact)
                     ? jsonx_dump(op->mem, document)
                     : NULL;
    if (text == NULL)
        return op_fail(op, AZ_UPSTREAM_INVALID, "The response of the upstream cannot be redacted",
                       "resource %s: an obligation `redact` has a bad pointer",
                       proxied->resource->name);
    *body = text;
    *length = strlen(text);
    return AZ_OK;
}

/* ---- STATIC */

enum az_status
proxy_answer_static(struct proxied *proxied)
{
    struct request *req = proxied->req;
    const struct managed_answer *response = proxied->route->response;
    const char *type = "application/octet-stream";
    size_t length = response->length;
    /* A copy, because the dispatcher wipes what it has sent. */
    const char *body = length > 0 ? talloc_memdup(req->op.mem, response->body, length) : "";
    if (body == NULL)
        return op_no_memory(&req->op);
    enum az_status st = redact(proxied, &body, &length);
    if (st != AZ_OK)
        return st;
    if (proxied->obligations.response_max_bytes > 0
        && (int64_t) length > proxied->obligations.response_max_bytes)
        return op_fail(&req->op, AZ_UPSTREAM_INVALID, "The response is too large",
                       "the answer of route %s is larger than policy allows", proxied->route->id);
    for (size_t i = 0; i < response->headers.count; i++) {
        const struct managed_header *header = &response->headers.item[i];
        if (strcasecmp(header->name, "Content-Type") == 0)
            type = header->value;
        else
            respond_header(req, header->name, header->value);
    }
    respond_header(req, "Content-Security-Policy", ANSWER_CSP);
    return respond_octets(req, response->status, length > 0 ? type : NULL, body, length);
}

/* ---- upstreams */

static void
pass_headers(struct proxied *proxied, bool changed)
{
    const struct upstream_answer *answer = proxied->answer;
    for (size_t i = 0; i < answer->fields; i++)
        if (!changed || !describes_octets(answer->field[i].name))
            respond_header(proxied->req, answer->field[i].name, answer->field[i].value);
    respond_header(proxied->req, "Content-Security-Policy", ANSWER_CSP);
}

enum az_status
proxy_answer_memory(struct proxied *proxied)
{
    struct request *req = proxied->req;
    struct upstream_call *call = &proxied->call;
    if (call->max_answer == 0 || call->max_answer > UPSTREAM_MEMORY_MAX)
        call->max_answer = UPSTREAM_MEMORY_MAX;
    enum az_status st =
        upstream_send_memory(&req->op, call, &proxied->credential, &proxied->answer);
    if (st != AZ_OK)
        return st;
    const struct upstream_answer *answer = proxied->answer;
    const char *body = answer->body;
    size_t length = answer->octets;
    st = redact(proxied, &body, &length);
    if (st != AZ_OK)
        return st;
    pass_headers(proxied, is_redacted(proxied));
    if (answer->failed)
        respond_header(req, "X-Upstream-Failed", "true");
    return respond_octets(req, answer->status, answer->content_type_line, body, length);
}

static bool
pass_octets(void *arg, const void *octets, size_t length)
{
    struct proxied *proxied = arg;
    struct request *req = proxied->req;
    proxied->passed += (int64_t) length;
    bool last = proxied->answer->announced >= 0 && proxied->passed >= proxied->answer->announced;
    return response_write(req, octets, length) == AZ_OK
           && (last || req->io->flush == NULL || req->io->flush(req->io));
}

/* Pass the body on. Its last octets are sent with the end of the answer, in one record. The status
 * has been sent, so the dispatcher can only close the connection after a failure. */
static enum az_status
stream_answer(struct request *req)
{
    struct proxied *proxied = req->res.stream_arg;
    const struct upstream_sink sink = {.take = pass_octets, .arg = proxied};
    /* A reader of events waits for the head, and the first event may be minutes away. */
    bool reads =
        proxied->answer->announced >= 0 || req->io->flush == NULL || req->io->flush(req->io);
    enum az_status st = reads ? upstream_pump(proxied->transfer, &sink) : AZ_OK;
    if (st == AZ_OK && (!reads || proxied->answer->stopped))
        st = op_fail(&req->op, AZ_UNAVAILABLE, NULL, "the reader of the answer has gone");
    upstream_done(proxied->transfer);
    upstream_note(&req->op, proxied->resource, st, proxied->answer);
    return st;
}

enum az_status
proxy_answer_stream(struct proxied *proxied)
{
    struct request *req = proxied->req;
    enum az_status st = upstream_begin(&req->op, &proxied->call, &proxied->credential,
                                       &proxied->transfer, &proxied->answer);
    if (st != AZ_OK) {
        upstream_note(&req->op, proxied->resource, st, NULL);
        return st;
    }
    const struct upstream_answer *answer = proxied->answer;
    pass_headers(proxied, false);
    if (answer->announced >= 0 && answer->status != 204 && answer->status != 304)
        respond_header(req, "Content-Length",
                       talloc_asprintf(req->op.mem, "%lld", (long long) answer->announced));
    st = respond_stream(req, answer->content_type_line, stream_answer, proxied);
    req->res.status = answer->status;
    return st;
}
