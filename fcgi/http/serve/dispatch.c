#include "config.h"

#include "http/serve/dispatch.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/settings/settings.h"
#include "http/counters.h"
#include "http/form.h"
#include "http/match.h"
#include "http/origin.h"
#include "http/request_log.h"
#include "http/route.h"
#include "http/serve/failure.h"
#include "http/serve/way.h"
#include "http/shared.h"
#include "store/db/db.h"
#include "trace/trace.h"

/* Longest answer with its head, in octets. */
#define RESPONSE_MAX (HTTP_ANSWER_MAX + (64 << 10))

/* Headers of an answer that pages of other origins may read, and the seconds for which a browser
 * may remember the answer to a preflight request. */
#define CORS_RESPONSE_HEADERS                                                                      \
    "WWW-Authenticate, DPoP-Nonce, ETag, Retry-After, X-Request-ID, Mcp-Session-Id"
#define CORS_MAX_AGE "7200"

/* The row of requests that match no row. */
static const struct route unmatched = {.method = "",
                                       .path = "(none)",
                                       .operation = "none",
                                       .credential = &credential_none,
                                       .body = BODY_NONE,
                                       .dialect = DIALECT_BARE,
                                       .cache = CACHE_NONE};

static const char *
reason_phrase(int status)
{
    static const struct {
        int status;
        const char *phrase;
    } phrases[] = {
        {200, "OK"                    },
        {201, "Created"               },
        {204, "No Content"            },
        {302, "Found"                 },
        {304, "Not Modified"          },
        {400, "Bad Request"           },
        {401, "Unauthorized"          },
        {403, "Forbidden"             },
        {404, "Not Found"             },
        {405, "Method Not Allowed"    },
        {409, "Conflict"              },
        {410, "Gone"                  },
        {412, "Precondition Failed"   },
        {413, "Content Too Large"     },
        {414, "URI Too Long"          },
        {415, "Unsupported Media Type"},
        {422, "Unprocessable Content" },
        {429, "Too Many Requests"     },
        {500, "Internal Server Error" },
        {502, "Bad Gateway"           },
        {503, "Service Unavailable"   },
        {504, "Gateway Timeout"       },
    };
    for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "Status";
}

static enum az_status
check_rate(struct request *req)
{
    const struct settings *cfg = req->op.az->cfg;
    long retry_after = 0;
    if (!req->route->rate_limited || !cfg->rate_limit_enabled || req->op.az->shared == NULL
        || shared_rate_admit(req->op.az->shared, req->ip, op_now(&req->op), cfg->rate_limit_window,
                             cfg->rate_limit_requests, &retry_after))
        return AZ_OK;
    counters_add(req->op.az->counters, METRIC_RATE_LIMITED, req->route);
    respond_header(req, "Retry-After", talloc_asprintf(req->op.mem, "%ld", retry_after));
    return op_fail(&req->op, AZ_TOO_MANY_REQUESTS, NULL, NULL);
}

static enum az_status
handle_unmatched(struct request *req)
{
    return op_fail(&req->op, AZ_NOT_FOUND, NULL, NULL);
}

static enum az_status
handle_wrong_method(struct request *req)
{
    respond_header(req, "Allow",
                   req->route->cors == CORS_LISTED
                       ? talloc_asprintf(req->op.mem, "%s, OPTIONS", req->allow)
                       : req->allow);
    enum az_status own = req->route->wrong_method;
    return op_fail(&req->op, own != AZ_OK ? own : AZ_METHOD_NOT_ALLOWED, NULL, NULL);
}

/*
 * Answer the preflight request of the Fetch standard, which a browser sends before some
 * cross-origin requests. These rows read no cookie, only credentials that the caller sends itself
 * (gateway-admin.md 1.3).
 */
static enum az_status
handle_preflight(struct request *req)
{
    respond_header(req, "Access-Control-Allow-Methods", req->allow);
    respond_header(req, "Access-Control-Allow-Headers",
                   origin_request_headers(
                       req->op.mem, request_header(req, "HTTP_ACCESS_CONTROL_REQUEST_HEADERS")));
    respond_header(req, "Access-Control-Max-Age", CORS_MAX_AGE);
    return respond_empty(req, 204);
}

static const struct route *
find_guard(const char *path)
{
    for (const struct route *guard = route_guards; guard < route_guards + route_guards_count;
         guard++)
        if (strncmp(path, guard->path, strlen(guard->path)) == 0)
            return guard;
    return NULL;
}

/*
 * Make a row for a request that no row answers. If only the method is wrong, it has the cache
 * headers, rate limit and dialect of the path (specification 1 and 8). Below a prefix that asks for
 * a key it asks too, so that a caller without a key gets 401 as on existing paths (specification
 * 5.3).
 */
static enum az_status
make_route(struct request *req, const struct route *other)
{
    const struct route *guard = find_guard(req->path);
    const struct route *like = other != NULL ? other : guard != NULL ? guard : &unmatched;
    struct route *row = talloc(req->op.mem, struct route);
    if (row == NULL)
        return op_no_memory(&req->op);
    *row = unmatched;
    row->path = like->path;
    row->dialect = like->dialect;
    row->cache = like->cache;
    row->cors = like->cors;
    row->wrong_method = like->wrong_method;
    bool preflight =
        other != NULL && other->cors != CORS_CLOSED && strcmp(req->method, "OPTIONS") == 0;
    row->rate_limited = like->rate_limited && !preflight;
    row->credential = guard != NULL ? guard->credential : unmatched.credential;
    row->role = guard != NULL ? guard->role : unmatched.role;
    row->handle = preflight       ? handle_preflight
                  : other != NULL ? handle_wrong_method
                                  : handle_unmatched;
    req->route = row;
    return AZ_OK;
}

/* True if a web server asks if it may serve the request (FastCGI 6.3). */
static bool
is_authorizer(const struct request *req)
{
    const char *role = req->io->variable(req->io, HTTP_IO_ROLE);
    return role != NULL && strcmp(role, HTTP_IO_AUTHORIZER) == 0;
}

/* Drop a slash at the end, so that whatever reads the path sees one spelling of an endpoint. */
static enum az_status
drop_slash(struct request *req)
{
    size_t length = strlen(req->path);
    if (length > 1 && req->path[length - 1] == '/')
        req->path = talloc_strndup(req->op.mem, req->path, length - 1);
    return req->path != NULL ? AZ_OK : op_no_memory(&req->op);
}

static enum az_status
find_route(struct request *req)
{
    const struct route *row, *other;
    if (is_authorizer(req)) {
        req->route = &route_authorizer;
        return route_authorizer.is_on(req->op.az->cfg)
                   ? AZ_OK
                   : op_fail(&req->op, AZ_NOT_FOUND, NULL, "the gateway is switched off");
    }
    enum az_status st = route_find(req->op.mem, req->op.az->cfg, req->method, req->path,
                                   req->path_value, &row, &other, &req->allow);
    if (st == AZ_NOT_FOUND)
        return make_route(req, other);
    if (st != AZ_OK)
        return op_fail(&req->op, st, NULL, "out of memory for the path");
    req->route = row;
    return row->slash ? drop_slash(req) : AZ_OK;
}

static enum az_status
check_credential(struct request *req, bool before_body)
{
    const struct route_credential *credential = req->route->credential;
    return credential->check != NULL && credential->before_body == before_body
               ? credential->check(req)
               : AZ_OK;
}

/* Take the steps of a request, in the order that the row declares. */
static enum az_status
dispatch_answer(struct request *req, const struct http_io *io)
{
    enum az_status st = request_read_head(req, io);
    if (st == AZ_TARGET_TOO_LONG)
        find_route(req); /* for the dialect of the answer */
    if (st == AZ_OK)
        st = find_route(req);
    if (st == AZ_OK)
        st = way_check(req);
    if (st == AZ_OK)
        st = check_rate(req);
    if (st == AZ_OK)
        st = origin_check(req);
    if (st == AZ_OK)
        st = check_credential(req, true);
    if (st == AZ_OK)
        st = request_read_body(req);
    if (st == AZ_OK && req->route->precheck != NULL)
        st = req->route->precheck(req);
    if (st == AZ_OK)
        st = check_credential(req, false);
    if (st == AZ_OK)
        st = req->route->handle(req);
    return st;
}

/* Write the audit row of a request whose handler did not. If that fails, the request fails too. A
 * request that leaves none is counted. */
static void
write_audit(struct request *req)
{
    const struct az_status_row *row = az_status_row(req->op.fault.status);
    bool leaves_row = request_leaves_row(req);
    if (req->route->audited && !leaves_row)
        counters_add(req->op.az->counters, METRIC_UNAUDITED, req->route);
    if (req->audited || !leaves_row)
        return;
    struct az_fault fault = req->op.fault;
    az_fault_clear(&req->op.fault);
    request_fill_audit(req, req->res.status, row->audit_outcome);
    if (fault.status != AZ_OK) {
        req->audit.error = row->error;
        req->audit.reason = talloc_strdup(req->op.mem, fault.public_text);
    }
    audit_explain(&req->op, &req->audit);
    enum az_status st = audit_insert(&req->op, &req->audit);
    if (st == AZ_OK || row->http >= 500) {
        req->op.fault = fault;
        return;
    }
    req->res.headers = 0;
    respond_failure(req);
}

static void
dispatch_put_header(struct buf *out, const char *name, const char *value)
{
    if (value == NULL)
        return;
    buf_append_text(out, name);
    buf_append(out, ": ", 2);
    buf_append_text(out, value);
    buf_append(out, "\r\n", 2);
}

/* Send the body of a streamed answer. */
static void
send_stream(struct request *req)
{
    if (req->res.stream(req) != AZ_OK && req->io->cut != NULL)
        req->io->cut(req->io);
}

/* Append the head of the answer with the empty line that ends it. */
static void
put_head(struct request *req, struct buf *out)
{
    static const struct {
        const char *control, *pragma;
    } cache[] = {
        [CACHE_NONE] = {NULL,       NULL      },
        [CACHE_NO_STORE] = {"no-store", "no-cache"},
        [CACHE_PRIVATE] = {"no-store", NULL      },
        [CACHE_OWN] = {NULL,       NULL      }
    };
    const struct response *res = &req->res;
    char status[64], length[24];
    snprintf(status, sizeof(status), "%d %s", res->status, reason_phrase(res->status));
    snprintf(length, sizeof(length), "%zu", res->length + res->newline);
    dispatch_put_header(out, "Status", status);
    dispatch_put_header(out, "X-Request-ID", req->op.request_id);
    bool streamed = res->stream != NULL || res->begun;
    if (res->status != 204 && res->status != 304 && !streamed) /* RFC 9110 8.6 */
        dispatch_put_header(out, "Content-Length", length);
    dispatch_put_header(out, "Content-Type", res->content_type);
    bool kept = res->cache != NULL;
    dispatch_put_header(out, "Cache-Control", kept ? res->cache : cache[req->route->cache].control);
    dispatch_put_header(out, "Pragma", kept ? NULL : cache[req->route->cache].pragma);
    dispatch_put_header(out, "X-Content-Type-Options", "nosniff");
    const char *reader = origin_that_reads(req);
    dispatch_put_header(out, "Access-Control-Allow-Origin", reader);
    dispatch_put_header(out, "Access-Control-Expose-Headers",
                        reader != NULL ? CORS_RESPONSE_HEADERS : NULL);
    dispatch_put_header(out, "Vary", req->route->cors == CORS_LISTED ? "Origin" : NULL);
    for (size_t i = 0; i < res->headers; i++)
        dispatch_put_header(out, res->header[i].name, res->header[i].value);
    buf_append(out, "\r\n", 2);
}

static void
append_body(struct buf *out, const struct response *res)
{
    buf_append(out, res->body, res->length);
    if (res->newline)
        buf_append_char(out, '\n');
}

/* End an answer whose head is sent. */
static void
end_stream(struct request *req)
{
    if (req->res.stream != NULL)
        send_stream(req);
    else if (req->io->cut != NULL)
        req->io->cut(req->io);
}

/* Send head and body in one write: one record, and for a small answer one segment. */
static void
send_response(struct request *req)
{
    const struct response *res = &req->res;
    struct buf out;
    if (res->begun) {
        end_stream(req);
        return;
    }
    buf_init_secret(&out, req->op.mem, RESPONSE_MAX); /* it may hold tokens and secrets */
    put_head(req, &out);
    if (strcmp(req->method, "HEAD") != 0)
        append_body(&out, res);
    if (out.status == AZ_OK) {
        /* Count first: whoever has the answer finds it in the metrics. */
        counters_answered(req->op.az->counters, req->route, res->status,
                          clock_monotonic_us() - req->started_us);
        req->io->write(req->io, out.data, out.len);
    }
    buf_done(&out);
    if (out.status == AZ_OK && res->stream != NULL && strcmp(req->method, "HEAD") != 0)
        send_stream(req);
    if (out.status == AZ_OK || res->length == 0)
        return;
    op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the answer of %zu octets is too large", res->length);
    req->res.headers = 0;
    respond_empty(req, 500);
    send_response(req);
}

enum az_status
dispatch_begin_stream(struct request *req, const char *content_type)
{
    struct response *res = &req->res;
    struct buf out;
    res->status = 200;
    res->content_type = content_type;
    res->begun = true;
    buf_init(&out, req->op.mem, RESPONSE_MAX);
    put_head(req, &out);
    if (out.status == AZ_OK)
        counters_answered(req->op.az->counters, req->route, res->status,
                          clock_monotonic_us() - req->started_us);
    enum az_status st =
        out.status == AZ_OK ? response_write(req, out.data, out.len) : op_no_memory(&req->op);
    buf_done(&out);
    return st;
}

/* Wipe the body and the parameters, and an answer that must not be stored: passwords and tokens,
 * client secrets of the admin API. */
static void
wipe(struct request *req)
{
    if (req->body != NULL)
        explicit_bzero((void *) (uintptr_t) req->body, req->body_length);
    for (size_t i = 0; i < req->params; i++)
        explicit_bzero((void *) (uintptr_t) req->param[i].value, strlen(req->param[i].value));
    bool cacheable = req->route->cache == CACHE_NONE || req->route->cache == CACHE_OWN;
    if (!cacheable && req->res.length > 0)
        explicit_bzero((void *) (uintptr_t) req->res.body, req->res.length);
    for (size_t i = 0; i < req->res.headers; i++)
        /* The copy that respond_redirect made may hold a code. */
        if (req->res.status == 302 && strcmp(req->res.header[i].name, "Location") == 0)
            explicit_bzero((void *) (uintptr_t) req->res.header[i].value,
                           strlen(req->res.header[i].value));
}

/* End the trace of the request, after its answer. */
static void
end_trace(const struct request *req)
{
    const char *path = req->route->path;
    const struct trace_facts facts = {.name = trace_method(req->method),
                                      .place = *path == '/' ? path : NULL,
                                      .number = req->res.status,
                                      .failed = req->res.status >= 500};
    trace_end(req->op.az->tracer, req->op.az->metrics, &facts);
}

static uint64_t
trips_of(const struct az *az)
{
    return az->db != NULL ? db_trips(az->db) : 0;
}

/* Send the answer, with everything that is written about it. */
static void
end_request(struct request *req)
{
    struct az *az = req->op.az;
    write_audit(req);
    send_response(req);
    req->io->finish(req->io);
    end_trace(req);
    request_log(req, req->started_us, trips_of(az) - req->trips);
    if (az->db != NULL)
        db_settle(&req->op);
    wipe(req);
}

void
dispatch(struct az *az, const struct http_io *io)
{
    /* Without an answer the web server would wait until its own time limit. */
    static const char no_memory[] = "Status: 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    struct request *req = talloc_zero(NULL, struct request);
    if (req == NULL) {
        io->write(io, no_memory, sizeof(no_memory) - 1);
        io->finish(io);
        return;
    }
    req->started_us = clock_monotonic_us();
    req->trips = trips_of(az);
    metrics_note_process(az->metrics, PROCESS_BUSY);
    trace_begin(az->tracer, io->variable(io, "HTTP_TRACEPARENT"));
    req->op.mem = req;
    req->op.az = az;
    req->op.watch = az->by_operator != NULL ? az->by_operator->watch : NULL;
    req->op.request_id = "none";
    req->route = &unmatched;
    enum az_status st = dispatch_answer(req, io);
    if (st == AZ_OK && req->res.status == 0)
        st = op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the handler of the route did not answer");
    if (st != AZ_OK) {
        if (req->op.fault.status == AZ_OK)
            op_fail(&req->op, st == AZ_INVALID ? AZ_SERVER_ERROR : st, NULL,
                    "the failure has no recorded cause");
        respond_failure(req);
    }
    end_request(req);
    talloc_free(req);
    metrics_note_process(az->metrics,
                         az->db != NULL && db_is_open(az->db) ? PROCESS_IDLE : PROCESS_CLOSED);
}
