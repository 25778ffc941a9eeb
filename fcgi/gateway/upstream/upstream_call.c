#include "config.h"

#include "gateway/upstream/upstream_call.h"

#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "gateway/upstream/challenge.h"
#include "gateway/upstream/credential.h"
#include "gateway/upstream/fields.h"
#include "gateway/upstream/refusal.h"
#include "gateway/upstream/room.h"
#include "gateway/upstream/success.h"
#include "gateway/upstream/target.h"
#include "gateway/upstream/transfer.h"
#include "managed/auth.h"
#include "metrics/metrics.h"
#include "store/gateway/resources.h"

/* A request while it is sent, perhaps more than once. */
struct sending {
    struct op *op;
    const struct upstream_call *call;
    struct upstream_origin origin;
    struct upstream_credential credential;
    char *refused; /* the credential that it replaces, or NULL for the first one; secret */
    bool renewed;  /* the credential is the second one */
    struct upstream_field_list fields;
    struct transfer_plan plan;
};

/* ---- the plan */

static int64_t
smaller(int64_t limit, int64_t own)
{
    return own > 0 && own < limit ? own : limit;
}

static void
list_headers(struct upstream_field_list *list, const struct managed_headers *headers)
{
    for (size_t i = 0; i < headers->count; i++)
        upstream_field_set(list, headers->item[i].name, headers->item[i].value);
}

/* On a preserveHost route the upstream makes links with the host name of this service. Use the
 * issuer's host: the Host of a caller could poison a cache of the upstream. */
static const char *
own_host(const struct op *op)
{
    const char *authority = strstr(op->az->cfg->oidc_issuer, "://");
    return authority != NULL ? talloc_strndup(op->mem, authority + 3, strcspn(authority + 3, "/"))
                             : NULL;
}

/* Collect the header fields; later ones win: the caller's, then resource and route, the gateway's,
 * policy's, the credential. */
static enum az_status
collect_fields(struct sending *sending)
{
    const struct upstream_call *call = sending->call;
    struct upstream_field_list *list = &sending->fields;
    const char *name, *host;
    json_t *value;
    list->count = 0;
    list->full = false;
    for (size_t i = 0; i < call->field_count; i++)
        upstream_field_set(list, call->fields[i].name, call->fields[i].value);
    list_headers(list, call->route != NULL ? &call->route->request_headers
                                           : &call->resource->request_headers);
    upstream_field_set(list, "X-Request-Id", sending->op->request_id);
    json_object_foreach (call->policy_headers, name, value)
        upstream_field_set(list, name, json_string_value(value));
    if (call->route != NULL && call->route->preserve_host && (host = own_host(sending->op)) != NULL)
        upstream_field_force(list, "Host", host);
    if (sending->credential.header != NULL && sending->credential.value != NULL)
        upstream_field_force(list, sending->credential.header, sending->credential.value);
    return list->full ? op_fail(sending->op, AZ_INVALID_REQUEST,
                                "The request has too many header fields", NULL)
                      : AZ_OK;
}

/* Build the request target: the path below upstreamUrl, the allowed parameters, the credential. */
static enum az_status
build_target(struct sending *sending)
{
    const struct upstream_call *call = sending->call;
    const struct managed_route *route = call->route;
    const char *own = sending->credential.query;
    struct op *op = sending->op;
    char *query = upstream_query(op->mem, call->query, route != NULL ? route->query_allow : NULL,
                                 route != NULL ? route->query_allow_count : 0, own);
    if (query != NULL && own != NULL && sending->credential.value != NULL)
        query = upstream_query_add(op->mem, query, own, sending->credential.value);
    enum az_status st = query != NULL ? upstream_target(op->mem, sending->origin.path, call->path,
                                                        query, &sending->plan.target)
                                      : AZ_INVALID;
    return st == AZ_INVALID
               ? op_fail(op, AZ_INVALID_REQUEST, "The path or the query is not valid",
                         "it has a character that RFC 3986 does not allow, or is too long")
               : st;
}

/* Look for the credential in the answer. A parameter may come back as the address has it, and Basic
 * as the password alone. */
static enum az_status
watch_credential(struct sending *sending)
{
    const struct upstream_call *call = sending->call;
    const struct upstream_credential *credential = &sending->credential;
    struct op *op = sending->op;
    const char *plain = NULL, *encoded = NULL;
    if (credential->value == NULL)
        return AZ_OK;
    if (call->resource->auth.type == MANAGED_AUTH_BASIC && call->secrets != NULL)
        plain = call->secrets->password;
    if (credential->query != NULL
        && (encoded = upstream_query_add(op->mem, "", "x", credential->value)) == NULL)
        return op_no_memory(op);
    if (encoded != NULL)
        plain = strchr(encoded, '=') + 1;
    bool good = echo_make(op->mem, credential->value, plain, &sending->plan.echo);
    if (encoded != NULL)
        explicit_bzero((char *) (uintptr_t) encoded, strlen(encoded));
    return good ? AZ_OK : op_no_memory(op);
}

static enum az_status
make_plan(struct sending *sending)
{
    const struct upstream_call *call = sending->call;
    const struct settings *cfg = sending->op->az->cfg;
    const struct managed_route *route = call->route;
    int64_t limit = smaller(cfg->gateway_response_timeout * 1000, call->timeout_ms);
    enum managed_auth_type type = call->resource->auth.type;
    sending->plan = (struct transfer_plan){
        .origin = sending->origin.origin,
        .host = sending->origin.host,
        .scheme = sending->origin.scheme,
        .method = call->method,
        .body = &call->body,
        .max_body =
            (size_t) smaller(cfg->gateway_max_body_size, route != NULL ? route->max_body : 0),
        .max_answer = (size_t) smaller(cfg->gateway_max_body_size, (int64_t) call->max_answer),
        .connect_ms = cfg->gateway_connect_timeout * 1000,
        .timeout_ms = (long) smaller(limit, route != NULL ? route->timeout_ms : 0),
        .private_connection = type != MANAGED_AUTH_NONE && !managed_auth_is_shared(type),
        .gone = call->caller != NULL ? call->caller->gone : NULL,
        .gone_arg = call->caller != NULL ? call->caller->arg : NULL,
    };
    enum az_status st = collect_fields(sending);
    sending->plan.fields = sending->fields.field;
    sending->plan.field_count = sending->fields.count;
    if (st == AZ_OK)
        st = build_target(sending);
    return st == AZ_OK ? watch_credential(sending) : st;
}

/* ---- sending */

/* Send once, or again after a connection that failed, as often as the route says. Nothing was sent
 * then, so that is safe for idempotent methods at least (gateway-admin.md 3.2). */
static enum az_status
send_once(struct sending *sending, struct upstream_transfer **ret)
{
    const struct managed_route *route = sending->call->route;
    int64_t more = route != NULL && transfer_may_repeat(sending->call->method) ? route->retries : 0;
    bool connected;
    for (;;) {
        enum az_status st = make_plan(sending);
        if (st == AZ_OK)
            st = transfer_begin(sending->op, &sending->plan, ret, &connected);
        if (st != AZ_UPSTREAM_UNREACHABLE || connected || more-- <= 0)
            return st;
        az_fault_clear(&sending->op->fault);
    }
}

static bool
is_refusal(const struct sending *sending, const struct upstream_transfer *transfer)
{
    return sending->call->resource->auth.type != MANAGED_AUTH_NONE
           && (transfer->answer->status == 401 || transfer->answer->status == 403);
}

/* True if a text repeats a credential, with or without its scheme. */
static bool
repeats(const char *text, const char *credential)
{
    const char *space = credential != NULL ? strrchr(credential, ' ') : NULL;
    return credential != NULL && strstr(text, space != NULL ? space + 1 : credential) != NULL;
}

/* Return the scopes that the upstream asks for with its refusal, or NULL. The caller and the person
 * see them, so a challenge that repeats a credential of this request is ignored. */
static json_t *
challenged_scopes(const struct sending *sending, const struct upstream_answer *answer)
{
    if (answer->status != 403 || answer->challenge == NULL
        || repeats(answer->challenge, sending->credential.value)
        || repeats(answer->challenge, sending->refused))
        return NULL;
    return upstream_challenge_scopes(sending->op->mem, answer->challenge);
}

/* Get the credential, or a new one to replace `refused`. */
static enum az_status
get_credential(struct sending *sending, const char *refused, const json_t *challenge)
{
    const struct upstream_wish wish = {.resource = sending->call->resource,
                                       .secrets = sending->call->secrets,
                                       .caller = sending->call->caller,
                                       .refused = refused,
                                       .challenge = challenge,
                                       .again = refused != NULL && sending->renewed};
    struct upstream_credential credential = {.header = NULL};
    enum az_status st = sending->call->credential(sending->op, &wish, &credential);
    upstream_credential_done(&sending->credential);
    sending->credential = credential;
    /* The token endpoint refuses this service itself; callers have no part in that. */
    if (st == AZ_UPSTREAM_AUTH && !credential.personal)
        resource_event(sending->op, sending->call->resource, MANAGED_AUTH_REFUSED, NULL);
    return st;
}

static void
forget_refused(struct sending *sending)
{
    if (sending->refused != NULL)
        explicit_bzero(sending->refused, strlen(sending->refused));
}

/* Get another credential in place of the one that was refused. */
static enum az_status
replace_credential(struct sending *sending, const json_t *challenge)
{
    forget_refused(sending);
    sending->refused = talloc_strdup(sending->op->mem, sending->credential.value);
    return sending->refused != NULL ? get_credential(sending, sending->refused, challenge)
                                    : op_no_memory(sending->op);
}

/*
 * Record a 401 of the shared credential. A caller chooses the request, so the refusal of a caller's
 * request only counts as a failure. A refusal of the service's own request (a sync) is an error if
 * no request has succeeded yet.
 */
static void
note_refusal(struct op *op, const struct managed_resource *resource, bool by_caller)
{
    const char *reason = managed_event_reason(MANAGED_CALL_REFUSED);
    log_text(AZ_SEV_WARN, "gateway", "%s: %s", resource->name, reason);
    if (by_caller)
        resource_event(op, resource, MANAGED_CALL_REFUSED, NULL);
    else if (resource->status == MANAGED_PENDING)
        resource_event(op, resource, MANAGED_AUTH_REFUSED, NULL);
    else
        resource_event(op, resource, MANAGED_SYNC_FAILED, reason);
}

static enum az_status
fail_refused(struct sending *sending, int status, bool counts)
{
    if (counts)
        note_refusal(sending->op, sending->call->resource, sending->call->caller != NULL);
    return op_fail(sending->op, AZ_UPSTREAM_AUTH, NULL,
                   "upstream %s refuses the credential with %d", sending->origin.origin, status);
}

/*
 * The upstream refused the credential: take the next step (refusal.h). Only the operator can act on
 * a shared credential: the answer is 502, never the 401 of the upstream, after which clients would
 * throw their tokens away (decisions.md "Gateway").
 */
static enum az_status
credential_refused(struct sending *sending, struct upstream_transfer **transfer)
{
    int status = (*transfer)->answer->status;
    const json_t *challenge = challenged_scopes(sending, (*transfer)->answer);
    const struct upstream_refusal refusal = {
        .status = status,
        .shown = sending->credential.value != NULL,
        .bound = sending->credential.caller_bound,
        .personal = sending->credential.personal,
        .renewable = sending->credential.renewable,
        .renewed = sending->renewed,
        .repeatable = sending->call->body.more == NULL,
    };
    enum upstream_refusal_step step = upstream_refusal_next(&refusal);
    upstream_done(*transfer);
    *transfer = NULL;
    if (step == REFUSAL_END || step == REFUSAL_END_COUNT)
        return fail_refused(sending, status, step == REFUSAL_END_COUNT);
    enum az_status st = replace_credential(sending, challenge);
    if (st == AZ_OK && step == REFUSAL_AGAIN) {
        sending->renewed = true;
        return send_once(sending, transfer);
    }
    return st == AZ_OK ? fail_refused(sending, status, false) : st;
}

/* Read upstreamUrl. An MCP server is asked at the path as written: with and without a slash at the
 * end are two addresses (RFC 3986 6.2.3), and stock servers have one of them. */
static enum az_status
find_origin(struct sending *sending)
{
    const struct managed_resource *resource = sending->call->resource;
    struct upstream_origin *origin = &sending->origin;
    struct op *op = sending->op;
    if (upstream_origin_read(op->mem, resource->upstream_url, origin) != AZ_OK
        || (strcmp(origin->scheme, "https") != 0 && !transfer_host_is_listed(op, origin->host)))
        return op_fail(op, AZ_UPSTREAM_UNREACHABLE, NULL,
                       "upstreamUrl of %s is not an https URL with a host; "
                       "SVC_GATEWAY_ALLOWED_INSECURE_HOSTS can allow http",
                       resource->name);
    if (resource->upstream != MANAGED_MCP)
        origin->path = upstream_base_path(op->mem, origin->path);
    return origin->path != NULL ? AZ_OK : op_no_memory(op);
}

enum az_status
upstream_begin(struct op *op, const struct upstream_call *call,
               struct upstream_credential *ret_credential, struct upstream_transfer **ret_transfer,
               struct upstream_answer **ret_answer)
{
    struct sending *sending = talloc_zero(op->mem, struct sending);
    struct upstream_transfer *transfer = NULL;
    if (sending == NULL)
        return op_no_memory(op);
    sending->op = op;
    sending->call = call;
    enum az_status st = find_origin(sending);
    if (st == AZ_OK)
        st = upstream_room_keep(op, call->resource->name, call->caller);
    if (st == AZ_OK)
        st = get_credential(sending, NULL, NULL);
    if (st == AZ_OK)
        st = send_once(sending, &transfer);
    for (int i = 0; i < 2 && st == AZ_OK && is_refusal(sending, transfer); i++)
        st = credential_refused(sending, &transfer);
    if (ret_credential != NULL)
        ret_credential->link = sending->credential.link;
    upstream_credential_done(&sending->credential);
    forget_refused(sending);
    if (st != AZ_OK)
        return st;
    *ret_transfer = transfer;
    *ret_answer = transfer->answer;
    return AZ_OK;
}

/* ---- the whole */

static bool
take_into_memory(void *arg, const void *octets, size_t length)
{
    return buf_append(arg, octets, length) == AZ_OK;
}

enum az_status
upstream_send_memory(struct op *op, const struct upstream_call *call,
                     struct upstream_credential *ret_credential,
                     struct upstream_answer **ret_answer)
{
    struct upstream_call limited = *call;
    struct upstream_transfer *transfer;
    struct upstream_answer *answer = NULL;
    struct buf body;
    if (limited.max_answer == 0)
        limited.max_answer = UPSTREAM_MEMORY_MAX;
    buf_init_secret(&body, op->mem, limited.max_answer);
    buf_append(&body, "", 0);
    const struct upstream_sink sink = {.take = take_into_memory, .arg = &body};
    enum az_status st = upstream_begin(op, &limited, ret_credential, &transfer, &answer);
    if (st == AZ_OK) {
        st = upstream_pump(transfer, &sink);
        upstream_done(transfer);
    }
    if (st == AZ_OK && body.status != AZ_OK)
        st = op_no_memory(op);
    size_t length = 0;
    char *text = st == AZ_OK ? buf_take(&body, &length) : NULL;
    buf_done(&body);
    if (st == AZ_OK) {
        answer->body = text != NULL ? text : "";
        answer->failed = upstream_is_failure(op->mem, call->route, answer->body, length);
        *ret_answer = answer;
    }
    upstream_note(op, call->resource, st, answer);
    return st;
}

/* ---- the outcome */

void
upstream_note(struct op *op, const struct managed_resource *resource, enum az_status st,
              const struct upstream_answer *answer)
{
    enum managed_event event = MANAGED_CALL_FAILED;
    const char *outcome = "answered";
    if (st == AZ_UPSTREAM_AUTH) {
        outcome = "refused";
        event = MANAGED_EVENTS; /* the status was changed where the refusal was seen */
    } else if (st == AZ_UPSTREAM_UNREACHABLE) {
        outcome = "unreachable";
    } else if (st == AZ_UPSTREAM_TIMEOUT) {
        outcome = "timeout";
    } else if (st == AZ_UPSTREAM_INVALID) {
        outcome = "invalid";
    } else if (st != AZ_OK || answer == NULL) {
        return; /* the fault is the caller's, or this service's */
    } else if (answer->failed || answer->status >= 500) {
        outcome = "failed";
    } else {
        event = MANAGED_CALL_OK;
    }
    const char *labels[] = {managed_upstream_word(resource->upstream), outcome};
    metrics_add(op->az->metrics, METRIC_UPSTREAM_CALLS, 0, labels);
    if (answer != NULL)
        metrics_observe(op->az->metrics, METRIC_UPSTREAM_SECONDS, 0, answer->took_ms * 1000);
    if (event != MANAGED_EVENTS)
        resource_event(op, resource, event, NULL);
}
