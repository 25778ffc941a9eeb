#include "config.h"

#include "gateway/upstream/transfer.h"

#include <gnutls/gnutls.h>
#include <string.h>

#include "base/clock.h"
#include "base/digits.h"
#include "base/log.h"
#include "gateway/process/gateway_process.h"
#include "gateway/upstream/transfer_private.h"
#include "trace/trace.h"

/* Connections that a worker keeps. */
#define KEPT_CONNECTIONS 16
/* Interval at which a waiting worker checks if the caller has gone, in milliseconds. */
#define LOOK_MS 250

/* The connections of a process. One request at a time uses them, and those that it sends between
 * the octets of an answer. */
struct upstreams {
    CURLM *multi;
};

static int
upstreams_free(struct upstreams *upstreams)
{
    curl_multi_cleanup(upstreams->multi);
    return 0;
}

/* Return the connections of this process, or NULL if out of memory. */
static CURLM *
connections(struct az *az)
{
    if (az->gateway->upstreams == NULL) {
        struct upstreams *made = talloc_zero(az, struct upstreams);
        if (made == NULL || (made->multi = curl_multi_init()) == NULL) {
            talloc_free(made);
            return NULL;
        }
        talloc_set_destructor(made, upstreams_free);
        curl_multi_setopt(made->multi, CURLMOPT_MAXCONNECTS, (long) KEPT_CONNECTIONS);
        curl_multi_setopt(made->multi, CURLMOPT_PIPELINING, (long) CURLPIPE_NOTHING);
        az->gateway->upstreams = made;
    }
    return az->gateway->upstreams->multi;
}

/* ---- running */

/* Note which transfers are done, including transfers that run beside another one
 * (upstream_sink.between, upstream_attend). */
static void
take_messages(CURLM *multi)
{
    int left;
    for (CURLMsg *msg; (msg = curl_multi_info_read(multi, &left));) {
        char *owner = NULL;
        if (msg->msg != CURLMSG_DONE
            || curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &owner) != CURLE_OK)
            continue;
        struct upstream_transfer *done = (void *) owner;
        done->finished = true;
        done->outcome = msg->data.result;
    }
}

/* Start the time limit of the answer when the connection is made; until then the limit of the
 * connection applies too. */
static void
note_connection(struct upstream_transfer *transfer)
{
    curl_off_t us = 0;
    if (!transfer->connected
        && curl_easy_getinfo(transfer->curl, CURLINFO_PRETRANSFER_TIME_T, &us) == CURLE_OK
        && us > 0) {
        transfer->connected = true;
        transfer_went_on(transfer);
    }
}

/* Wait for an event, at most until the next check of the caller or the deadline. */
static void
transfer_wait(struct upstream_transfer *transfer)
{
    note_connection(transfer);
    int64_t now = clock_monotonic_ms();
    int64_t until = transfer->slow_ms < transfer->last_ms ? transfer->slow_ms : transfer->last_ms;
    int64_t wait = until - now < LOOK_MS ? until - now : LOOK_MS;
    if (wait <= 0)
        transfer->end = END_SLOW;
    else if (transfer->plan.gone != NULL && transfer->plan.gone(transfer->plan.gone_arg))
        transfer->end = END_CALLER;
    else
        curl_multi_poll(transfer->op->az->gateway->upstreams->multi, NULL, 0, (int) wait, NULL);
}

/* Let the sink do what it has to do between octets. Its time does not count against the upstream's
 * limits. */
static void
run_between(struct upstream_transfer *transfer)
{
    const struct upstream_sink *sink = transfer->sink;
    int64_t began = clock_monotonic_ms();
    if (!sink->between(sink->arg))
        transfer->end = END_STOPPED;
    int64_t took = clock_monotonic_ms() - began;
    transfer->slow_ms += took;
    transfer->last_ms += took;
}

/* Run until the head (without a sink) or the whole answer has arrived. */
static void
transfer_run(struct upstream_transfer *transfer)
{
    int running;
    while (transfer->end == END_NONE) {
        CURLMcode code = curl_multi_perform(transfer->op->az->gateway->upstreams->multi, &running);
        take_messages(transfer->op->az->gateway->upstreams->multi);
        if (code != CURLM_OK && !transfer->finished) {
            transfer->finished = true;
            transfer->outcome = CURLE_FAILED_INIT;
        }
        if (transfer->finished || (transfer->sink == NULL && transfer->head.complete))
            return;
        if (transfer->end == END_NONE && transfer->sink != NULL && transfer->sink->between != NULL)
            run_between(transfer);
        if (transfer->end == END_NONE && !transfer->finished)
            transfer_wait(transfer);
    }
}

/* ---- the outcome */

/* True if no connection was made. libcurl's time-out is always the time-out of connecting. */
static bool
is_dial_failure(CURLcode outcome)
{
    static const CURLcode codes[] = {
        CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,          CURLE_OPERATION_TIMEDOUT,
        CURLE_SSL_CONNECT_ERROR,    CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER,
        CURLE_SSL_ISSUER_ERROR,     CURLE_SSL_INVALIDCERTSTATUS,
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i] == outcome)
            return true;
    return false;
}

static enum az_status
fail_ended(struct upstream_transfer *transfer)
{
    /* clang-format off */
    static const struct {
        enum az_status status;
        const char *text, *why;
    } rows[] = {
        [END_SLOW] =         {AZ_UPSTREAM_TIMEOUT, NULL, "the upstream did not answer in time"},
        [END_CALLER] =       {AZ_INVALID_REQUEST, "The body of the request is not complete",
                              "the caller has gone, or its body is shorter than announced"},
        [END_BODY_LARGE] =   {AZ_TOO_LARGE, NULL,
                              "the body passed the limit while it was passed on"},
        [END_ANSWER_LARGE] = {AZ_UPSTREAM_INVALID, "The response of the upstream is too large",
                              "the response is too large"},
    };
    /* clang-format on */
    return op_fail(transfer->op, rows[transfer->end].status, rows[transfer->end].text,
                   "upstream %s: %s", transfer->plan.origin, rows[transfer->end].why);
}

/* Record why there is no answer, or not all of it. */
static enum az_status
transfer_fail(struct upstream_transfer *transfer)
{
    const char *why =
        *transfer->error != '\0' ? transfer->error : curl_easy_strerror(transfer->outcome);
    if (transfer->end != END_NONE)
        return fail_ended(transfer);
    if (transfer->head.fault != NULL)
        return op_fail(transfer->op, AZ_UPSTREAM_INVALID, NULL, "upstream %s: %s",
                       transfer->plan.origin, transfer->head.fault);
    if (transfer->refused_address)
        return op_fail(transfer->op, AZ_UPSTREAM_UNREACHABLE, NULL,
                       "upstream %s: the host has a private or other special address; "
                       "SVC_GATEWAY_ALLOWED_INSECURE_HOSTS can allow a private one",
                       transfer->plan.origin);
    return op_fail(transfer->op,
                   is_dial_failure(transfer->outcome) ? AZ_UPSTREAM_UNREACHABLE
                                                      : AZ_UPSTREAM_INVALID,
                   NULL, "upstream %s: %s", transfer->plan.origin, why);
}

/* Take the handle back. libcurl closes the connection of an exchange that is not complete. */
static int
transfer_free(struct upstream_transfer *transfer)
{
    if (transfer->added)
        curl_multi_remove_handle(transfer->op->az->gateway->upstreams->multi, transfer->curl);
    curl_easy_cleanup(transfer->curl);
    for (struct curl_slist *line = transfer->lines; line != NULL; line = line->next)
        gnutls_memset(line->data, 0, strlen(line->data));
    curl_slist_free_all(transfer->lines);
    if (transfer->plan.target != NULL)
        gnutls_memset(transfer->plan.target, 0, strlen(transfer->plan.target));
    return 0;
}

void
upstream_done(struct upstream_transfer *transfer)
{
    talloc_free(transfer);
}

static struct upstream_transfer *
transfer_new(struct op *op, const struct transfer_plan *plan)
{
    struct upstream_transfer *transfer = talloc_zero(op->mem, struct upstream_transfer);
    if (transfer == NULL || connections(op->az) == NULL
        || (transfer->curl = curl_easy_init()) == NULL) {
        talloc_free(transfer);
        return NULL;
    }
    transfer->op = op;
    transfer->plan = *plan;
    talloc_steal(transfer, transfer->plan.target);
    talloc_steal(transfer, transfer->plan.echo);
    talloc_set_destructor(transfer, transfer_free);
    transfer->answer = talloc_zero(op->mem, struct upstream_answer);
    transfer->head = (struct upstream_head){.mem = op->mem, .answer = transfer->answer};
    transfer->began_ms = clock_monotonic_ms();
    transfer->slow_ms = transfer->began_ms + plan->connect_ms + plan->timeout_ms;
    transfer->last_ms = transfer->began_ms + UPSTREAM_ANSWER_SECONDS * 1000;
    transfer->added =
        transfer->answer != NULL && transfer_prepare(transfer)
        && curl_multi_add_handle(op->az->gateway->upstreams->multi, transfer->curl) == CURLM_OK;
    if (transfer->added)
        return transfer;
    talloc_free(transfer);
    return NULL;
}

/* Return the port of an origin. */
static int
origin_port(const struct transfer_plan *plan)
{
    int64_t port = strcmp(plan->scheme, "https") == 0 ? 443 : 80;
    const char *colon = strrchr(plan->origin, ':');
    if (colon != NULL)
        digits_read(colon + 1, UINT16_MAX, &port); /* behind a scheme alone are no digits */
    return (int) port;
}

static enum az_status
begin(struct op *op, const struct transfer_plan *plan, struct upstream_transfer **ret,
      bool *ret_connected)
{
    struct upstream_transfer *transfer = transfer_new(op, plan);
    *ret_connected = true;
    if (transfer == NULL)
        return op_no_memory(op);
    transfer_run(transfer);
    if (transfer->head.complete && transfer->end == END_NONE
        && !(transfer->finished && transfer->outcome != CURLE_OK)) {
        *ret = transfer;
        return AZ_OK;
    }
    enum az_status st = transfer_fail(transfer);
    *ret_connected = st != AZ_UPSTREAM_UNREACHABLE;
    upstream_done(transfer);
    return st;
}

enum az_status
transfer_begin(struct op *op, const struct transfer_plan *plan, struct upstream_transfer **ret,
               bool *ret_connected)
{
    struct trace_facts facts = {
        .name = trace_method(plan->method), .place = plan->host, .port = origin_port(plan)};
    int span = trace_open(op->az->tracer, TRACE_UPSTREAM);
    enum az_status st = begin(op, plan, ret, ret_connected);
    facts.failed = st != AZ_OK || (*ret)->answer->status >= 400;
    facts.number = st == AZ_OK ? (*ret)->answer->status : 0;
    trace_close(op->az->tracer, span, &facts);
    return st;
}

/* End the search for the credential, and tell the operator if the upstream repeated it. */
static void
end_masking(struct upstream_transfer *transfer)
{
    struct echo *echo = transfer->plan.echo;
    if (echo == NULL)
        return;
    if (transfer->end == END_NONE && transfer->outcome == CURLE_OK
        && !echo_end(echo, transfer->sink))
        transfer->end = END_STOPPED;
    if (echo->found)
        log_text(AZ_SEV_WARN, "gateway",
                 "upstream %s repeats the credential of the request; it was masked in the answer",
                 transfer->plan.origin);
    transfer->answer->masked = echo->found;
}

enum az_status
upstream_pump(struct upstream_transfer *transfer, const struct upstream_sink *sink)
{
    transfer->sink = sink;
    transfer_went_on(transfer);
    if (!transfer->finished) {
        curl_easy_pause(transfer->curl, CURLPAUSE_CONT); /* may call the sink */
        transfer_run(transfer);
    }
    end_masking(transfer);
    transfer->answer->stopped = transfer->end == END_STOPPED;
    if (transfer->answer->stopped
        || (transfer->end == END_NONE && transfer->finished && transfer->outcome == CURLE_OK))
        return AZ_OK;
    return transfer_fail(transfer);
}

/* ---- transfers that go on by themselves */

void
upstream_attend(struct upstream_transfer *transfer, const struct upstream_sink *sink)
{
    transfer->sink = sink;
    if (!transfer->finished)
        curl_easy_pause(transfer->curl, CURLPAUSE_CONT); /* may call the sink */
}

bool
upstream_is_over(const struct upstream_transfer *transfer)
{
    return transfer->finished || transfer->end != END_NONE;
}

bool
upstream_run(struct az *az, int ms)
{
    CURLM *multi = connections(az);
    int running;
    if (multi == NULL || curl_multi_perform(multi, &running) != CURLM_OK)
        return false;
    take_messages(multi);
    return curl_multi_poll(multi, NULL, 0, ms, NULL) == CURLM_OK;
}
