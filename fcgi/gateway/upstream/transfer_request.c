/* The request of a transfer as options of libcurl, and the functions that libcurl calls. */
#include "config.h"

#include <gnutls/gnutls.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "gateway/upstream/transfer_private.h"
#include "http/fetch/fetch_address.h"
#include "http/fetch/fetch_roots.h"
#include "managed/headers.h"
#include "trace/trace.h"

/* Seconds for which an idle connection is used again: upstreams close idle connections after some
 * time, and a request on a closed one must be sent again. */
#define KEPT_SECONDS 20L

bool
transfer_host_is_listed(const struct op *op, const char *host)
{
    return uri_host_is_listed(op->az->cfg->gateway_insecure_hosts, host);
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

void
transfer_went_on(struct upstream_transfer *transfer)
{
    transfer->slow_ms = clock_monotonic_ms() + transfer->plan.timeout_ms;
}

/* Read from the caller; exactly the announced number of octets must come and is passed on. */
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
    transfer_went_on(transfer);
    return got;
}

/* libcurl sends the body again if a kept connection turned out to be closed. Octets that were read
 * from the caller cannot be read again. */
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

/* True if the credential cannot be looked for in the body, because it has a content coding. */
static bool
is_coded(const struct upstream_transfer *transfer)
{
    const struct upstream_answer *answer = transfer->answer;
    for (size_t i = 0; i < answer->fields && transfer->plan.echo != NULL; i++)
        if (header_is(answer->field[i].name, "Content-Encoding")
            && strcasecmp(answer->field[i].value, "identity") != 0)
            return true;
    return false;
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
    if (is_coded(transfer)) {
        transfer->head.fault = "the response has a content coding that was not asked for, in which "
                               "a repeated credential cannot be seen";
        return 0;
    }
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
    transfer_went_on(transfer);
    if (passed == length)
        return length;
    transfer->end = END_ANSWER_LARGE;
    return 0;
}

/* ---- the request */

/* Set an option. No option may fail, because each one keeps an attack out. */
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

/* True if the request has a body, whose octets a caller chose. */
static bool
has_body(const struct upstream_body *body)
{
    return body->more != NULL || body->length > 0;
}

/*
 * True if no other request may use the connection. An upstream that answers without reading a body
 * takes its octets for the next request: it would be answered with the credential of whoever comes
 * after it, and policy never saw it. And the answers of one caller must never reach another one
 * through an upstream that lost count of its answers, so requests with a caller's own credential
 * have connections of their own too.
 */
static bool
is_alone(const struct upstream_transfer *transfer)
{
    return transfer->plan.private_connection || has_body(transfer->plan.body);
}

/* Set the header fields. libcurl adds fields of its own unless they are there, or are named without
 * a value. No content coding is negotiated, so that a few octets cannot unpack to gigabytes. */
static bool
set_fields(struct upstream_transfer *transfer)
{
    static const char *const own[] = {"Accept", "Content-Type", "Expect"};
    const struct transfer_plan *plan = &transfer->plan;
    const char *parent = trace_parent(transfer->op->az->tracer);
    if (parent != NULL && !add_line(transfer, TRACE_FIELD, parent))
        return false;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (!add_line(transfer, own[i], ""))
            return false;
    for (size_t i = 0; i < plan->field_count; i++)
        if (*plan->fields[i].value != '\0'
            && (parent == NULL || !header_is(plan->fields[i].name, TRACE_FIELD))
            && !add_line(transfer, plan->fields[i].name, plan->fields[i].value))
            return false;
    /* RFC 9112 9.6: the upstream reads no other request from the connection, in what is left of a
     * body neither. */
    if (is_alone(transfer) && !add_line(transfer, "Connection", "close"))
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
    if (has_body(body))
        return SET(transfer, CURLOPT_UPLOAD, 1L) && SET(transfer, CURLOPT_INFILESIZE_LARGE, length)
               && SET(transfer, CURLOPT_READFUNCTION, give_body)
               && SET(transfer, CURLOPT_READDATA, transfer)
               && SET(transfer, CURLOPT_SEEKFUNCTION, rewind_body)
               && SET(transfer, CURLOPT_SEEKDATA, transfer);
    /* RFC 9110 8.6: say that there is no body if the method expects one. */
    return strcmp(plan->method, "POST") != 0 && strcmp(plan->method, "PUT") != 0
                   && strcmp(plan->method, "PATCH") != 0
               ? true
               : SET(transfer, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) 0)
                     && SET(transfer, CURLOPT_POSTFIELDS, "");
}

/* Say which connection may be used. libcurl repeats a request if a kept connection was closed
 * before any octet of the answer came; a method that is not idempotent gets a new connection, so
 * that it is sent once (RFC 9110 9.2.2). */
static bool
set_connection(struct upstream_transfer *transfer)
{
    bool alone = is_alone(transfer), fresh = alone || !transfer_may_repeat(transfer->plan.method);
    return SET(transfer, CURLOPT_FORBID_REUSE, alone ? 1L : 0L)
           && SET(transfer, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L)
           && SET(transfer, CURLOPT_MAXAGE_CONN, KEPT_SECONDS)
           && SET(transfer, CURLOPT_CONNECTTIMEOUT_MS, transfer->plan.connect_ms)
           /* A host that is gone must not leave a stream that waits for ever. */
           && SET(transfer, CURLOPT_TCP_KEEPALIVE, 1L)
           && SET(transfer, CURLOPT_OPENSOCKETFUNCTION, open_checked)
           && SET(transfer, CURLOPT_OPENSOCKETDATA, transfer)
           && SET(transfer, CURLOPT_PROXY, "") /* ignore proxy variables */
           && SET(transfer, CURLOPT_NETRC, (long) CURL_NETRC_IGNORED)
           && SET(transfer, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2)
           && SET(transfer, CURLOPT_SSL_VERIFYPEER, 1L) && SET(transfer, CURLOPT_SSL_VERIFYHOST, 2L)
           && (strcmp(transfer->plan.scheme, "https") != 0
               || fetch_set_roots(transfer->curl, transfer->op->az->cfg));
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
    /* A name server that does not answer must not delay the request past the timeout; the thread
     * that asks it ends by itself. */
    curl_easy_setopt(transfer->curl, CURLOPT_QUICK_EXIT, 1L);
#endif
    return SET(transfer, CURLOPT_URL, transfer->plan.origin)
           && SET(transfer, CURLOPT_REQUEST_TARGET, transfer->plan.target)
           && SET(transfer, CURLOPT_NOSIGNAL, 1L) && SET(transfer, CURLOPT_FOLLOWLOCATION, 0L)
           && SET(transfer, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1)
           && SET(transfer, CURLOPT_HEADERFUNCTION, take_line)
           && SET(transfer, CURLOPT_HEADERDATA, transfer)
           && SET(transfer, CURLOPT_WRITEFUNCTION, take_octets)
           && SET(transfer, CURLOPT_WRITEDATA, transfer) && SET(transfer, CURLOPT_PRIVATE, transfer)
           && SET(transfer, CURLOPT_ERRORBUFFER, transfer->error);
}

bool
transfer_prepare(struct upstream_transfer *transfer)
{
    return set_connection(transfer) && upstream_set_exchange(transfer) && set_method(transfer)
           && set_fields(transfer);
}
