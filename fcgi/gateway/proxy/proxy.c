#include "config.h"

#include "gateway/proxy/proxy.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/raw_uri.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "gateway/credential/types.h"
#include "gateway/link/link_account.h"
#include "gateway/proxy/proxy_private.h"
#include "gateway/query.h"
#include "managed/auth.h"
#include "policy/decide/gateway_answer.h"
#include "store/gateway/resources.h"

/* Checks in a row of a streamed answer that may fail because the database or the engine is away for
 * a moment. */
#define LOOKS_UNSURE_MAX 2

/* ---- the audit row */

/* Note what the gateway did, for the audit row (gateway-admin.md 3.8). */
static void
note_summary(struct proxied *proxied)
{
    const struct upstream_answer *answer = proxied->answer;
    TALLOC_CTX *mem = proxied->req->op.mem;
    struct jsonx_build summary = {
        jsonx_own(mem, json_pack("{s:s,s:s*}", "resource", proxied->access.name, "route",
                                 proxied->route != NULL ? proxied->route->id : NULL)),
        false};
    if (answer != NULL) {
        int64_t octets = answer->octets > 0 || answer->announced < 0 ? (int64_t) answer->octets
                                                                     : answer->announced;
        jsonx_set(&summary, "upstream_status", json_integer(answer->status));
        jsonx_set(&summary, "ms", json_integer((json_int_t) answer->took_ms));
        if (answer->masked)
            jsonx_set(&summary, "credential_masked", json_true());
        /* The audit row is written before a stream of unknown length is measured: the log line has
         * its octets. */
        if (proxied->transfer == NULL || answer->announced >= 0)
            jsonx_set(&summary, "octets", json_integer((json_int_t) octets));
    }
    json_t *whole = jsonx_built(&summary);
    if (whole == NULL)
        log_text(AZ_SEV_ERROR, "gateway", "out of memory for the summary of an audit row");
    proxied->req->audit.summary = whole != NULL ? jsonx_dump(mem, whole) : NULL;
}

/* ---- the route */

/* Refuse a resource that cannot serve. A complete one is tried although it is pending: its first
 * good answer makes it active (decisions.md "Gateway"). */
static enum az_status
proxy_check_resource(struct proxied *proxied)
{
    const struct managed_resource *resource = proxied->access.resource;
    struct op *op = &proxied->req->op;
    proxied->resource = resource;
    if (resource->missing != NULL)
        return op_fail(op, AZ_RESOURCE_UNAVAILABLE, NULL, "resource %s: %s is missing",
                       resource->name, resource->missing);
    if (resource->status == MANAGED_ERROR)
        return op_fail(op, AZ_RESOURCE_UNAVAILABLE, NULL, "resource %s: %s", resource->name,
                       resource->status_reason != NULL ? resource->status_reason : "error");
    return AZ_OK;
}

static enum az_status
choose_route(struct proxied *proxied)
{
    struct request *req = proxied->req;
    enum az_status st = managed_choose(req->op.mem, proxied->resource, req->method,
                                       req->path_value[1], &proxied->choice);
    proxied->route = proxied->choice.route;
    if (st == AZ_OK)
        return AZ_OK;
    if (st == AZ_METHOD_NOT_ALLOWED)
        respond_header(req, "Allow", proxied->choice.allow);
    return op_fail(&req->op, st, st == AZ_INVALID_REQUEST ? "The path is not valid" : NULL,
                   "no route of resource %s", proxied->resource->name);
}

/* ---- policy */

/* The audit row of a denial is written at once, so its summary comes first. */
static enum az_status
refuse_caller(struct proxied *proxied, const struct gateway_question *question,
              const struct gateway_decision *decision)
{
    note_summary(proxied);
    return gateway_refuse(proxied->req, &proxied->access, question, decision);
}

/* True if a caller whose answer is streamed would not be let in any more (gateway-admin.md 3.2
 * "Times"). */
static bool
is_unwelcome(struct proxied *proxied)
{
    const char *why = NULL;
    int64_t now = clock_monotonic_ms(), wait = GATEWAY_LOOK_SECONDS * 1000;
    if (proxied->look_ms == 0)
        proxied->look_ms = now + wait;
    if (now < proxied->look_ms)
        return false;
    enum az_status st = gateway_look_again(proxied->req, &proxied->access, proxied->access.resource,
                                           &proxied->question, &why);
    proxied->look_ms = clock_monotonic_ms() + wait;
    proxied->unsure = st == AZ_OK ? 0 : proxied->unsure + 1;
    if (proxied->unsure == LOOKS_UNSURE_MAX)
        why = "it cannot be found out if the request is allowed";
    if (why != NULL)
        log_text(AZ_SEV_INFO, "gateway", "resource %s: a stream was ended: %s",
                 proxied->resource->name, why);
    return why != NULL;
}

/* True if the answer must end: the caller has gone, or, while the answer is streamed, its token has
 * expired (RFC 6749 1.4) or it is not allowed any more. */
static bool
proxy_is_over(void *arg)
{
    struct gateway_bearer *holder = arg;
    struct proxied *proxied =
        (struct proxied *) (void *) ((char *) arg - offsetof(struct proxied, holder));
    int64_t expires_ms = holder->token->lookup.row.expires_at * 1000;
    if (proxied->gone(holder))
        return true;
    return proxied->transfer != NULL
           && (clock_realtime_ms() >= expires_ms || is_unwelcome(proxied));
}

/* Name the person, and find out if the account at the upstream is linked, where one is needed. */
static enum az_status
look_at_caller(struct proxied *proxied, bool *linked, const bool **ret)
{
    proxied->holder = (struct gateway_bearer){proxied->req, proxied->access.token};
    proxied->caller = gateway_caller(&proxied->holder);
    proxied->gone = proxied->caller.gone;
    proxied->caller.gone = proxy_is_over;
    *ret = NULL;
    if (!managed_auth_is_linked(proxied->resource->auth.type))
        return AZ_OK;
    *ret = linked;
    return link_is_linked(&proxied->req->op, &proxied->caller, proxied->resource, linked);
}

static enum az_status
proxy_ask(struct proxied *proxied)
{
    struct request *req = proxied->req;
    const bool *known;
    enum az_status st = look_at_caller(proxied, &proxied->linked, &known);
    if (st != AZ_OK)
        return st;
    json_t *query = NULL;
    if ((st = gateway_query(&req->op, proxied->resource, proxied->route, req->query, &query))
        != AZ_OK)
        return st;
    json_t *arguments = jsonx_own(
        req->op.mem, json_pack("{s:O,s:O}", "path", proxied->choice.values, "query", query));
    proxied->question = (struct gateway_question){
        .resource = gateway_target_of(proxied->resource, known),
        .action = {.kind = "http",
                   .name = proxied->route->action,
                   .route = proxied->route->id,
                   .method = req->method,
                   .path = *proxied->choice.path != '\0' ? proxied->choice.path : "/",
                   .scopes = proxied->route->scopes},
        .arguments = arguments,
        .always = proxied->route->obligations,
        .obligations =
            gateway_obligations_of("http", managed_upstream_word(proxied->resource->upstream)),
    };
    struct gateway_decision decision = {.allow = false};
    if (arguments == NULL)
        return op_no_memory(&req->op);
    st = gateway_decide(req, &proxied->access, &proxied->question, &decision);
    if (st != AZ_OK)
        return st;
    if (!decision.allow)
        return refuse_caller(proxied, &proxied->question, &decision);
    proxied->obligations = decision.obligations;
    return AZ_OK;
}

/* ---- the request */

/* Read from the caller. The wait is for one octet (accept_fastcgi.c); take the octets that came
 * with it too, or every record would become two. */
static long
read_caller(void *arg, void *buffer, size_t size)
{
    struct proxied *proxied = arg;
    size_t got = 0, more = 0;
    enum az_status st = request_read_piece(proxied->req, &proxied->body, buffer, size, &got);
    if (st == AZ_OK && got == 1 && size > 1)
        st = request_read_piece(proxied->req, &proxied->body, (char *) buffer + 1, size - 1, &more);
    return st == AZ_OK ? (long) (got + more) : -1;
}

/* Read the body, as far as it can be sent again; the rest is passed on as it arrives. */
static enum az_status
open_body(struct proxied *proxied)
{
    struct request *req = proxied->req;
    struct upstream_body *body = &proxied->call.body;
    size_t max = (size_t) req->op.az->cfg->gateway_max_body_size;
    if (proxied->route->max_body > 0 && (size_t) proxied->route->max_body < max)
        max = (size_t) proxied->route->max_body;
    enum az_status st = request_open_body(req, max, &proxied->body);
    if (st != AZ_OK)
        return st;
    size_t room = proxied->body.known && proxied->body.length < UPSTREAM_REPLAY_MAX
                      ? proxied->body.length
                      : UPSTREAM_REPLAY_MAX;
    char *octets = talloc_array(req->op.mem, char, (unsigned) room + 1);
    size_t used = 0, got = 1;
    if (octets == NULL)
        return op_no_memory(&req->op);
    for (; st == AZ_OK && used < room && got > 0; used += got)
        st = request_read_piece(req, &proxied->body, octets + used, room - used, &got);
    /* RFC 9110 9.3.1: a body of GET has no meaning, and servers disagree about where it ends. */
    if (st == AZ_OK && used > 0
        && (strcmp(req->method, "GET") == 0 || strcmp(req->method, "HEAD") == 0))
        st = op_fail(&req->op, AZ_INVALID_REQUEST, "A request with GET has no body", NULL);
    bool whole = got == 0 || (proxied->body.known && used == proxied->body.length);
    *body = (struct upstream_body){.octets = octets, .length = used, .announced = -1};
    if (!whole) {
        body->more = read_caller;
        body->arg = proxied;
        body->announced = proxied->body.known ? (int64_t) proxied->body.length : -1;
    }
    return st;
}

/* A part of a body can be exactly the value that policy wants hidden, without its name, or a piece
 * of a credential that the upstream repeats, which would not be recognised; and requests for one
 * part after the other would pass a body that is larger than policy allows. An empty value is not
 * sent. */
static void
proxy_ask_for_all(struct proxied *proxied)
{
    if (json_array_size(proxied->obligations.redact) == 0
        && proxied->obligations.response_max_bytes == 0
        && proxied->resource->auth.type == MANAGED_AUTH_NONE)
        return;
    upstream_field_force(&proxied->fields, "Range", "");
    upstream_field_force(&proxied->fields, "If-Range", "");
}

static enum az_status
build_call(struct proxied *proxied)
{
    struct request *req = proxied->req;
    struct upstream_call *call = &proxied->call;
    char *path = NULL;
    enum az_status st =
        managed_upstream_path(req->op.mem, proxied->resource, req->method, &proxied->choice, &path);
    if (st != AZ_OK)
        return op_fail(&req->op, st == AZ_INVALID ? AZ_INVALID_REQUEST : st,
                       "The path is not valid", NULL);
    upstream_fields_pass(req, &proxied->fields);
    for (const char **name = proxied->route->forward_headers; name != NULL && *name != NULL; name++)
        upstream_field_forward(req, *name, &proxied->fields);
    proxy_ask_for_all(proxied);
    call->resource = proxied->resource;
    call->route = proxied->route;
    call->caller = &proxied->caller;
    call->credential = gateway_credential;
    call->method = req->method;
    call->path = path;
    call->query = req->query;
    call->fields = proxied->fields.field;
    call->field_count = proxied->fields.count;
    call->policy_headers = proxied->obligations.headers;
    call->max_answer = (size_t) proxied->obligations.response_max_bytes;
    return resource_secrets(&req->op, proxied->resource, &call->secrets);
}

/* ---- the whole */

/* A link that is needed is named in the body. */
static enum az_status
explain_link(struct proxied *proxied, enum az_status st)
{
    struct request *req = proxied->req;
    const struct upstream_link *link = &proxied->credential.link;
    if (st == AZ_LINK_REQUIRED && link->url != NULL)
        req->error_body = jsonx_own(
            req->op.mem, json_pack("{s:s,s:s,s:s,s:s,s:I,s:O*,s:s}", "error", "link_required",
                                   "error_description", req->op.fault.public_text, "resource",
                                   proxied->resource->name, "link_url", link->url, "expires_in",
                                   (json_int_t) link->expires_in, "missing_scopes",
                                   link->missing_scopes, "request_id", req->op.request_id));
    return st;
}

static enum az_status
proxy_send(struct proxied *proxied)
{
    if (proxied->resource->upstream == MANAGED_STATIC)
        return proxy_answer_static(proxied);
    enum az_status st = open_body(proxied);
    if (st == AZ_OK)
        st = build_call(proxied);
    if (st != AZ_OK)
        return st;
    st = proxy_wants_memory(proxied) ? proxy_answer_memory(proxied) : proxy_answer_stream(proxied);
    return explain_link(proxied, st);
}

/* Encode raw characters of path and query, before anything reads them: the proof of a key, the
 * route, policy, the audit row and the upstream get one text. */
static enum az_status
encode_target(struct request *req)
{
    TALLOC_CTX *mem = req->op.mem;
    req->path = raw_uri_encode(mem, req->path, RAW_URI_PATH);
    req->path_value[1] = raw_uri_encode(mem, req->path_value[1], RAW_URI_PATH);
    req->query = raw_uri_encode(mem, req->query, RAW_URI_QUERY);
    return req->path != NULL && req->path_value[1] != NULL && req->query != NULL
               ? AZ_OK
               : op_no_memory(&req->op);
}

enum az_status
gateway_proxy_handle(struct request *req)
{
    struct proxied *proxied = talloc_zero(req->op.mem, struct proxied);
    if (proxied == NULL)
        return op_no_memory(&req->op);
    proxied->req = req;
    bool done = false;
    enum az_status st = encode_target(req);
    if (st == AZ_OK)
        st = proxy_preflight(req, &done);
    if (st != AZ_OK || done)
        return st;
    st = gateway_enter(req, GATEWAY_PROXY, req->path_value[0], &proxied->access);
    proxy_let_read(req, proxied->access.resource);
    if (st != AZ_OK)
        return st;
    st = proxy_check_resource(proxied);
    if (st == AZ_OK)
        st = choose_route(proxied);
    if (st == AZ_OK)
        st = proxy_ask(proxied);
    if (st == AZ_OK)
        st = proxy_send(proxied);
    if (!req->audited)
        note_summary(proxied);
    return st;
}
