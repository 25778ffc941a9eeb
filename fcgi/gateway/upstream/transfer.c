#include "config.h"

#include "gateway/upstream/transfer.h"

#include <gnutls/gnutls.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/uri.h"
#include "http/fetch/fetch_address.h"
#include "http/fetch/fetch_roots.h"

/* Connections that a worker keeps, and the seconds for which an idle one is used again: upstreams
 * close theirs after some time, and a request that meets that must be sent twice. */
#define KEPT_CONNECTIONS 16
#define KEPT_SECONDS 20L
/* Interval at which a waiting worker checks if the caller has gone, in milliseconds. */
#define LOOK_MS 250

/* The connections of a process. One request at a time uses them. */
struct upstreams {
    CURLM *multi;
};

bool
transfer_host_is_listed(const struct op *op, const char *host)
{
    return uri_host_is_listed(op->az->cfg->gateway_insecure_hosts, host);
}

static int
upstreams_free(struct upstreams *upstreams)
{
    curl_multi_cleanup(upstreams->multi);
    return 0;
}

/* Return the connections of this process; NULL: no memory. */
static CURLM *
connections(struct az *az)
{
    if (az->upstreams == NULL) {
        struct upstreams *made = talloc_zero(az, struct upstreams);
        if (made == NULL || (made->multi = curl_multi_init()) == NULL) {
            talloc_free(made);
            return NULL;
        }
        talloc_set_destructor(made, upstreams_free);
        curl_multi_setopt(made->multi, CURLMOPT_MAXCONNECTS, (long) KEPT_CONNECTIONS);
        curl_multi_setopt(made->multi, CURLMOPT_PIPELINING, (long) CURLPIPE_NOTHING);
        az->upstreams = made;
    }
    return az->upstreams->multi;
}

/* ---- what libcurl calls */

/* Check the address to which libcurl is about to connect. It connects to this very address, so a
 * name that resolves to another one a moment later (DNS rebinding) gains nothing. */
static curl_socket_t
open_checked(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct upstream_transfer *transfer = arg;
    (void) purpose;
    bool listed = transfer_host_is_listed(transfer->op, transfer->plan.host);
    if (fetch_address_is_forbidden(&address->addr, address->addrlen)
        || (!listed && !fetch_address_is_public(&address->addr, address->addrlen))) {
        transfer->refused_address = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Note that the exchange went on, so that the time limit of a pause begins again. */
static void
went_on(struct upstream_transfer *transfer)
{
    transfer->slow_ms = clock_monotonic_ms() + transfer->plan.timeout_ms;
}

/* Read from the caller; announced octets must come, and no more of them are passed on. */
static size_t
read_more(struct upstream_transfer *transfer, char *buffer, size_t room)
{
    const struct upstream_body *body = transfer->plan.body;
    if (body->announced >= 0 && (uint64_t) (body->announced - transfer->sent) < room)
        room = (size_t) (body->announced - transfer->sent);
    long got = room > 0 ? body->more(body->arg, buffer, room) : 0;
    if (got < 0 || (got == 0 && body->announced > transfer->sent))
        transfer->end = END_CALLER;
    else if ((uint64_t) got > transfer->plan.max_body - (uint64_t) transfer->sent)
        transfer->end = END_BODY_LARGE;
    return transfer->end == END_NONE ? (size_t) got : CURL_READFUNC_ABORT;
}

static size_t
give_body(char *buffer, size_t size, size_t count, void *arg)
{
    struct upstream_transfer *transfer = arg;
    const struct upstream_body *body = transfer->plan.body;
    size_t room = size * count, got = 0;
    if ((uint64_t) transfer->sent < body->length) {
        size_t left = body->length - (size_t) transfer->sent;
        got = left < room ? left : room;
        memcpy(buffer, (const char *) body->octets + transfer->sent, got);
    } else if (body->more != NULL) {
        got = read_more(transfer, buffer, room);
    }
    if (got != CURL_READFUNC_ABORT)
        transfer->sent += (int64_t) got;
    went_on(transfer);
    return got;
}

/* libcurl sends the body again if a kept connection turned out to be closed. What came from the
 * caller is gone. */
static int
rewind_body(void *arg, curl_off_t offset, int origin)
{
    struct upstream_transfer *transfer = arg;
    if (offset != 0 || origin != SEEK_SET
        || (uint64_t) transfer->sent > transfer->plan.body->length)
        return CURL_SEEKFUNC_FAIL;
    transfer->sent = 0;
    return CURL_SEEKFUNC_OK;
}

/* True if the answer has a body whose length Content-Length says (RFC 9110 8.6). */
static bool
length_counts(const struct upstream_transfer *transfer)
{
    int status = transfer->answer->status;
    return strcmp(transfer->plan.method, "HEAD") != 0 && status != 204 && status != 304;
}

/* Mask the credential in the fields that are passed on. The names too: a token may be one. */
static void
mask_head(struct upstream_transfer *transfer)
{
    struct upstream_answer *answer = transfer->answer;
    const char *type[] = {answer->content_type, answer->content_type_line};
    if (transfer->plan.echo == NULL)
        return;
    for (size_t i = 0; i < answer->fields; i++) {
        const char *both[] = {answer->field[i].name, answer->field[i].value};
        for (size_t j = 0; j < 2; j++)
            echo_mask(transfer->plan.echo, (char *) (uintptr_t) both[j], strlen(both[j]));
    }
    for (size_t i = 0; i < 2; i++)
        if (type[i] != NULL && *type[i] != '\0')
            echo_mask(transfer->plan.echo, (char *) (uintptr_t) type[i], strlen(type[i]));
}

static size_t
take_line(char *line, size_t size, size_t count, void *arg)
{
    struct upstream_transfer *transfer = arg;
    bool before = transfer->head.complete;
    if (!upstream_head_line(&transfer->head, line, size * count))
        return 0;
    if (before || !transfer->head.complete)
        return size * count;
    mask_head(transfer);
    transfer->answer->took_ms = clock_monotonic_ms() - transfer->began_ms;
    if (transfer->answer->announced > 0 && length_counts(transfer)
        && (uint64_t) transfer->answer->announced > transfer->plan.max_answer) {
        transfer->end = END_ANSWER_LARGE;
        return 0;
    }
    return size * count;
}

static bool
pass_masked(struct upstream_transfer *transfer, const void *octets, size_t length)
{
    return transfer->plan.echo != NULL
               ? echo_feed(transfer->plan.echo, transfer->sink, octets, length)
               : transfer->sink->take(transfer->sink->arg, octets, length);
}

/* Pass octets on. Those that come with the head wait until upstream_pump() asks for them. */
static size_t
take_octets(char *octets, size_t size, size_t count, void *arg)
{
    struct upstream_transfer *transfer = arg;
    struct upstream_answer *answer = transfer->answer;
    size_t length = size * count, left = transfer->plan.max_answer - answer->octets;
    if (transfer->sink == NULL)
        return CURL_WRITEFUNC_PAUSE;
    size_t passed = length < left ? length : left;
    if (passed > 0 && !pass_masked(transfer, octets, passed)) {
        transfer->end = END_STOPPED;
        return 0;
    }
    answer->octets += passed;
    went_on(transfer);
    if (passed == length)
        return length;
    transfer->end = END_ANSWER_LARGE;
    return 0;
}

/* ---- the request */

/* Set an option. None may fail, because each one keeps an attack out. */
#define SET(transfer, option, value)                                                               \
    (curl_easy_setopt((transfer)->curl, (option), (value)) == CURLE_OK)

static bool
add_line(struct upstream_transfer *transfer, const char *name, const char *value)
{
    char *line =
        talloc_asprintf(transfer->op->mem, "%s:%s%s", name, *value != '\0' ? " " : "", value);
    struct curl_slist *longer = line != NULL ? curl_slist_append(transfer->lines, line) : NULL;
    if (line != NULL)
        gnutls_memset(line, 0, strlen(line));
    transfer->lines = longer != NULL ? longer : transfer->lines;
    return longer != NULL;
}

/* Set the header fields. libcurl adds fields of its own unless they are there, or are named without
 * a value. No content coding is negotiated, so that a few octets cannot unpack to gigabytes. */
static bool
set_fields(struct upstream_transfer *transfer)
{
    static const char *const own[] = {"Accept", "Content-Type", "Expect"};
    const struct transfer_plan *plan = &transfer->plan;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (!add_line(transfer, own[i], ""))
            return false;
    for (size_t i = 0; i < plan->field_count; i++)
        if (*plan->fields[i].value != '\0'
            && !add_line(transfer, plan->fields[i].name, plan->fields[i].value))
            return false;
    return SET(transfer, CURLOPT_USERAGENT, PACKAGE_NAME "/" PACKAGE_VERSION)
           && SET(transfer, CURLOPT_HTTPHEADER, transfer->lines);
}

bool
transfer_may_repeat(const char *method)
{
    static const char *const idempotent[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"};
    for (size_t i = 0; i < sizeof(idempotent) / sizeof(idempotent[0]); i++)
        if (strcmp(method, idempotent[i]) == 0)
            return true;
    return false;
}

static bool
set_method(struct upstream_transfer *transfer)
{
    const struct transfer_plan *plan = &transfer->plan;
    const struct upstream_body *body = plan->body;
    curl_off_t length =
        body->more != NULL ? (curl_off_t) body->announced : (curl_off_t) body->length;
    if (strcmp(plan->method, "HEAD") == 0)
        return SET(transfer, CURLOPT_NOBODY, 1L);
    if (!SET(transfer, CURLOPT_CUSTOMREQUEST, plan->method))
        return false;
    if (body->more != NULL || body->length > 0)
        return SET(transfer, CURLOPT_UPLOAD, 1L) && SET(transfer, CURLOPT_INFILESIZE_LARGE, length)
               && SET(transfer, CURLOPT_READFUNCTION, give_body)
               && SET(transfer, CURLOPT_READDATA, transfer)
               && SET(transfer, CURLOPT_SEEKFUNCTION, rewind_body)
               && SET(transfer, CURLOPT_SEEKDATA, transfer);
    /* RFC 9110 8.6: a method that expects a body says that there is none. */
    return strcmp(plan->method, "POST") != 0 && strcmp(plan->method, "PUT") != 0
                   && strcmp(plan->method, "PATCH") != 0
               ? true
               : SET(transfer, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) 0)
                     && SET(transfer, CURLOPT_POSTFIELDS, "");
}

/*
 * Say which connection may be used. The answers of one caller must never reach another one through
 * an upstream that lost count of its answers, so requests with a caller's own credential have
 * connections of their own. libcurl repeats a request if a kept connection was closed before any
 * octet of the answer came; a method that is not idempotent gets a new connection, so that it is
 * sent once (RFC 9110 9.2.2).
 */
static bool
set_connection(struct upstream_transfer *transfer)
{
    bool fresh = transfer->plan.private_connection || !transfer_may_repeat(transfer->plan.method);
    return SET(transfer, CURLOPT_FORBID_REUSE, transfer->plan.private_connection ? 1L : 0L)
           && SET(transfer, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L)
           && SET(transfer, CURLOPT_MAXAGE_CONN, KEPT_SECONDS)
           && SET(transfer, CURLOPT_CONNECTTIMEOUT_MS, transfer->plan.connect_ms)
           && SET(transfer, CURLOPT_OPENSOCKETFUNCTION, open_checked)
           && SET(transfer, CURLOPT_OPENSOCKETDATA, transfer)
           && SET(transfer, CURLOPT_PROXY, "") /* ignore proxy variables */
           && SET(transfer, CURLOPT_NETRC, (long) CURL_NETRC_IGNORED)
           && SET(transfer, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2)
           && SET(transfer, CURLOPT_SSL_VERIFYPEER, 1L) && SET(transfer, CURLOPT_SSL_VERIFYHOST, 2L)
           && fetch_set_roots(transfer->curl, transfer->op->az->cfg);
}

static bool
upstream_set_exchange(struct upstream_transfer *transfer)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    if (!SET(transfer, CURLOPT_PROTOCOLS_STR, transfer->plan.scheme))
        return false;
#else
    if (!SET(transfer, CURLOPT_PROTOCOLS,
             strcmp(transfer->plan.scheme, "https") == 0 ? CURLPROTO_HTTPS : CURLPROTO_HTTP))
        return false;
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
    /* A name server that does not answer must not hold us past the timeout; its thread ends on its
     * own. */
    curl_easy_setopt(transfer->curl, CURLOPT_QUICK_EXIT, 1L);
#endif
    return SET(transfer, CURLOPT_URL, transfer->plan.origin)
           && SET(transfer, CURLOPT_REQUEST_TARGET, transfer->plan.target)
           && SET(transfer, CURLOPT_NOSIGNAL, 1L) && SET(transfer, CURLOPT_FOLLOWLOCATION, 0L)
           && SET(transfer, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1)
           && SET(transfer, CURLOPT_HEADERFUNCTION, take_line)
           && SET(transfer, CURLOPT_HEADERDATA, transfer)
           && SET(transfer, CURLOPT_WRITEFUNCTION, take_octets)
           && SET(transfer, CURLOPT_WRITEDATA, transfer)
           && SET(transfer, CURLOPT_ERRORBUFFER, transfer->error);
}

/* ---- running */

static void
take_messages(struct upstream_transfer *transfer)
{
    int left;
    for (CURLMsg *msg; (msg = curl_multi_info_read(transfer->op->az->upstreams->multi, &left));)
        if (msg->msg == CURLMSG_DONE && msg->easy_handle == transfer->curl) {
            transfer->finished = true;
            transfer->outcome = msg->data.result;
        }
}

/* Begin the time limit of the answer when the connection is there; until then, that of the
 * connection runs too. */
static void
note_connection(struct upstream_transfer *transfer)
{
    curl_off_t us = 0;
    if (!transfer->connected
        && curl_easy_getinfo(transfer->curl, CURLINFO_PRETRANSFER_TIME_T, &us) == CURLE_OK
        && us > 0) {
        transfer->connected = true;
        went_on(transfer);
    }
}

/* Wait until something happens, at most until the next look or deadline. */
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
        curl_multi_poll(transfer->op->az->upstreams->multi, NULL, 0, (int) wait, NULL);
}

/* Run until the head is there (without a sink) or the whole answer is. */
static void
transfer_run(struct upstream_transfer *transfer)
{
    int running;
    while (transfer->end == END_NONE) {
        CURLMcode code = curl_multi_perform(transfer->op->az->upstreams->multi, &running);
        take_messages(transfer);
        if (code != CURLM_OK && !transfer->finished) {
            transfer->finished = true;
            transfer->outcome = CURLE_FAILED_INIT;
        }
        if (transfer->finished || (transfer->sink == NULL && transfer->head.complete))
            return;
        if (transfer->end == END_NONE)
            transfer_wait(transfer);
    }
}

/* ---- the outcome */

/* True if no connection was made. The timer of the connection is the only one that libcurl runs. */
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
        [END_BODY_LARGE] =   {AZ_TOO_LARGE, NULL, "the body passed the limit while it was passed on"},
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
        curl_multi_remove_handle(transfer->op->az->upstreams->multi, transfer->curl);
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
        transfer->answer != NULL && set_connection(transfer) && upstream_set_exchange(transfer)
        && set_method(transfer) && set_fields(transfer)
        && curl_multi_add_handle(op->az->upstreams->multi, transfer->curl) == CURLM_OK;
    if (transfer->added)
        return transfer;
    talloc_free(transfer);
    return NULL;
}

enum az_status
transfer_begin(struct op *op, const struct transfer_plan *plan, struct upstream_transfer **ret,
               bool *ret_connected)
{
    struct upstream_transfer *transfer = transfer_new(op, plan);
    *ret_connected = true;
    if (transfer == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "out of memory, or libcurl does not support a required option");
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
    went_on(transfer);
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
