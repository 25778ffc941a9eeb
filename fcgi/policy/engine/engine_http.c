#include "config.h"

#include "policy/engine/engine_http.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "policy/engine/engine.h"
#include "trace/trace.h"

/* Octets of the first read; a decision with its header is under 4 kB. */
#define READ_SIZE 4096

struct engine {
    CURL *curl;                  /* the connection; NULL when there is none */
    int socket;                  /* of the connection, to wait on */
    const char *address;         /* as configured, for messages */
    bool usable;                 /* SVC_OPA_URL has a valid form */
    char *socket_path;           /* UNIX socket, or NULL */
    char *base;                  /* http://opa, or the address without its path */
    char *host;                  /* value of Host (RFC 9112 3.2) */
    long timeout_ms;             /* of one exchange, with its connection */
    char error[CURL_ERROR_SIZE]; /* libcurl's own words */
};

/* One request and its answer. */
struct exchange {
    struct op *op;
    int64_t deadline_ms; /* monotonic */
    char *request;
    size_t request_length;
    char *octets;
    size_t used, size;
    size_t answer_max; /* octets of the body */
    bool dead;         /* the connection was closed before any octet of the answer arrived */
};

static void
disconnect(struct engine *engine)
{
    curl_easy_cleanup(engine->curl);
    engine->curl = NULL;
}

static int
engine_destroy(struct engine *engine)
{
    disconnect(engine);
    return 0;
}

/* Take https://host:port from https://host:port/path, and host:port for the Host field. */
static bool
read_address(struct engine *engine, const char *url)
{
    if (strncmp(url, "unix:", 5) == 0) {
        engine->socket_path = talloc_strdup(engine, url + 5);
        engine->base = talloc_strdup(engine, "http://opa");
        engine->host = talloc_strdup(engine, "opa");
        return engine->socket_path != NULL && engine->base != NULL && engine->host != NULL;
    }
    const char *host = strstr(url, "://");
    if (host == NULL)
        return false;
    host += 3;
    size_t length = strcspn(host, "/?#");
    engine->base = talloc_strndup(engine, url, (size_t) (host - url) + length);
    engine->host = talloc_strndup(engine, host, length);
    return engine->base != NULL && engine->host != NULL && strpbrk(engine->host, "@ \r\n") == NULL;
}

struct engine *
engine_new(TALLOC_CTX *mem, const char *url, long timeout_ms)
{
    struct engine *engine = talloc_zero(mem, struct engine);
    if (engine == NULL)
        return NULL;
    talloc_set_destructor(engine, engine_destroy);
    engine->timeout_ms = timeout_ms;
    engine->address = talloc_strdup(engine, url);
    engine->usable = engine->address != NULL && read_address(engine, url);
    if (engine->address != NULL)
        return engine;
    talloc_free(engine);
    return NULL;
}

static enum az_status
engine_http_fail(struct exchange *exchange, struct engine *engine, const char *why)
{
    disconnect(engine);
    return op_fail(exchange->op, AZ_UNAVAILABLE, NULL, "policy engine: %s (%s)", why,
                   engine->address);
}

/* Return the reason why there is no connection. libcurl names a host and port, which a UNIX socket
 * does not have. */
static const char *
connect_why(const struct engine *engine, CURLcode outcome)
{
    long number = 0;
    if (engine->socket_path == NULL)
        return engine->error[0] != '\0' ? engine->error : curl_easy_strerror(outcome);
    curl_easy_getinfo(engine->curl, CURLINFO_OS_ERRNO, &number);
    return number != 0 ? strerror((int) number) : "cannot connect to the socket";
}

/* Open the connection, TLS included. */
static enum az_status
connect_engine(struct exchange *exchange, struct engine *engine)
{
    int64_t left = exchange->deadline_ms - clock_monotonic_ms();
    curl_socket_t socket = CURL_SOCKET_BAD;
    if (!engine->usable)
        return engine_http_fail(exchange, engine, "SVC_OPA_URL is not an address");
    if (left <= 0)
        return engine_http_fail(exchange, engine, "no answer in time");
    if ((engine->curl = curl_easy_init()) == NULL)
        return op_no_memory(exchange->op);
    CURL *curl = engine->curl;
    engine->error[0] = '\0';
    if (engine->socket_path != NULL)
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, engine->socket_path);
    curl_easy_setopt(curl, CURLOPT_URL, engine->base);
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* no proxy variable may redirect questions */
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long) left);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, engine->error);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_SSL_ENABLE_ALPN, 0L);
    curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    CURLcode outcome = curl_easy_perform(curl);
    if (outcome == CURLE_OK)
        outcome = curl_easy_getinfo(curl, CURLINFO_ACTIVESOCKET, &socket);
    if (outcome != CURLE_OK || socket == CURL_SOCKET_BAD)
        return engine_http_fail(exchange, engine, connect_why(engine, outcome));
    engine->socket = socket;
    return AZ_OK;
}

/* Fail because no answer came in time, and name the process at a UNIX socket: it may hang. */
static enum az_status
fail_late(struct exchange *exchange, struct engine *engine)
{
    struct ucred peer = {.pid = 0};
    socklen_t length = sizeof(peer);
    bool known = engine->socket_path != NULL
                 && getsockopt(engine->socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0
                 && peer.pid > 0;
    const char *why = known ? talloc_asprintf(exchange->op->mem,
                                              "no answer in time from process %ld", (long) peer.pid)
                            : NULL;
    return engine_http_fail(exchange, engine, why != NULL ? why : "no answer in time");
}

/* Wait until the connection is ready, at most until the deadline. */
static bool
wait_for(const struct exchange *exchange, const struct engine *engine, short events)
{
    for (;;) {
        struct pollfd ready = {.fd = engine->socket, .events = events};
        int64_t left = exchange->deadline_ms - clock_monotonic_ms();
        int count = left > 0 ? poll(&ready, 1, (int) left) : 0;
        if (count > 0)
            return true;
        if (count == 0 || errno != EINTR)
            return false;
    }
}

static enum az_status
send_request(struct exchange *exchange, struct engine *engine)
{
    for (size_t at = 0, sent = 0; at < exchange->request_length; at += sent) {
        CURLcode outcome = curl_easy_send(engine->curl, exchange->request + at,
                                          exchange->request_length - at, &sent);
        if (outcome == CURLE_AGAIN) {
            sent = 0;
            if (!wait_for(exchange, engine, POLLOUT))
                return engine_http_fail(exchange, engine, "the question could not be sent in time");
        } else if (outcome != CURLE_OK) {
            exchange->dead = true;
            return engine_http_fail(exchange, engine, "the connection was closed");
        }
    }
    return AZ_OK;
}

static bool
make_buffer_room(struct exchange *exchange)
{
    if (exchange->used < exchange->size)
        return true;
    /* OPA sends chunks of 2 kB and more, so their framing never doubles an answer. */
    size_t most = HTTP_ANSWER_HEAD_MAX + 2 * exchange->answer_max;
    size_t size = exchange->size == 0 ? READ_SIZE : exchange->size * 4;
    size = size < most ? size : most;
    char *octets = size > exchange->used
                       ? talloc_realloc(exchange->op->mem, exchange->octets, char, (unsigned) size)
                       : NULL;
    if (octets == NULL)
        return false;
    exchange->octets = octets;
    exchange->size = size;
    return true;
}

static enum az_status
receive_answer(struct exchange *exchange, struct engine *engine, struct http_answer *ret)
{
    bool ready = false; /* TLS may hold octets that poll() no longer reports */
    for (;;) {
        size_t got = 0;
        if (!make_buffer_room(exchange)) {
            ret->too_large = exchange->used > exchange->answer_max;
            return engine_http_fail(exchange, engine, "the answer is too large");
        }
        if (!ready && !wait_for(exchange, engine, POLLIN)) {
            ret->late = true;
            return fail_late(exchange, engine);
        }
        CURLcode outcome = curl_easy_recv(engine->curl, exchange->octets + exchange->used,
                                          exchange->size - exchange->used, &got);
        ready = outcome == CURLE_OK;
        if (outcome == CURLE_AGAIN)
            continue;
        if (outcome != CURLE_OK || got == 0) {
            exchange->dead = exchange->used == 0;
            return engine_http_fail(exchange, engine,
                                    "the connection was closed before the answer was whole");
        }
        exchange->used += got;
        switch (http_answer_read(exchange->octets, exchange->used, exchange->answer_max, ret)) {
        case HTTP_ANSWER_WHOLE:
            return AZ_OK;
        case HTTP_ANSWER_BROKEN:
            return engine_http_fail(exchange, engine, ret->why);
        case HTTP_ANSWER_MORE:
            break;
        }
    }
}

/* True if unrequested octets or the end of the connection have arrived: the next answer would not
 * belong to the next question. */
static bool
is_stale(const struct engine *engine)
{
    struct pollfd ready = {.fd = engine->socket, .events = POLLIN};
    return poll(&ready, 1, 0) != 0;
}

/* Try the exchange once; exchange->dead is set if another connection may help. */
static enum az_status
try_exchange(struct exchange *exchange, struct engine *engine, struct http_answer *ret)
{
    if (engine->curl != NULL && is_stale(engine))
        disconnect(engine);
    bool kept = engine->curl != NULL;
    enum az_status st = kept ? AZ_OK : connect_engine(exchange, engine);
    if (st == AZ_OK)
        st = send_request(exchange, engine);
    if (st == AZ_OK)
        st = receive_answer(exchange, engine, ret);
    exchange->dead = exchange->dead && kept;
    if (st != AZ_OK)
        return st;
    if (!ret->keep)
        disconnect(engine);
    return AZ_OK;
}

static bool
write_request(struct exchange *exchange, const struct engine *engine, const char *path,
              const char *body, size_t length)
{
    const char *parent = trace_parent(exchange->op->az->tracer);
    char *head = talloc_asprintf(exchange->op->mem, "%s %s HTTP/1.1\r\nHost: %s\r\n",
                                 body == NULL ? "GET" : "POST", path, engine->host);
    if (head != NULL && parent != NULL)
        head = talloc_asprintf_append_buffer(head, "traceparent: %s\r\n", parent);
    if (head != NULL && body != NULL)
        head = talloc_asprintf_append_buffer(
            head, "Content-Type: application/json\r\nContent-Length: %zu\r\n", length);
    if (head != NULL)
        head = talloc_strdup_append_buffer(head, "\r\n");
    size_t size = head != NULL ? strlen(head) : 0;
    exchange->request = talloc_realloc(exchange->op->mem, head, char, (unsigned) (size + length));
    if (head == NULL || exchange->request == NULL)
        return false;
    if (body != NULL)
        memcpy(exchange->request + size, body, length);
    exchange->request_length = size + length;
    return true;
}

enum az_status
engine_http_exchange(struct op *op, const struct http_question *question, struct http_answer *ret)
{
    struct engine *engine = op->az->engine;
    long timeout_ms = question->timeout_ms > 0 ? question->timeout_ms : engine->timeout_ms;
    struct exchange exchange = {.op = op,
                                .answer_max = question->answer_max,
                                .deadline_ms = clock_monotonic_ms() + timeout_ms};
    *ret = (struct http_answer){.status = 0};
    if (!write_request(&exchange, engine, question->path, question->body,
                       question->body != NULL ? question->length : 0))
        return op_no_memory(op);
    enum az_status st = try_exchange(&exchange, engine, ret);
    if (st != AZ_OK && exchange.dead) {
        exchange.dead = false;
        az_fault_clear(&op->fault);
        st = try_exchange(&exchange, engine, ret);
    }
    return st;
}

/* Octets of an answer that is quoted: it has no other form than text. */
#define QUOTE_MAX 200

/* The place and the message come first: a text is cut behind them. */
enum az_status
engine_http_unexpected(struct op *op, const struct http_answer *answer)
{
    json_t *error = NULL;
    jsonx_parse(op->mem, answer->body, answer->body_length, ENGINE_ANSWER_DEPTH_MAX, &error, NULL);
    const char *first = engine_first_error(op->mem, json_object_get(error, "errors"),
                                           json_string_value(json_object_get(error, "message")));
    if (first != NULL)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: HTTP %d: %s", answer->status,
                       first);
    return op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: HTTP %d: %.*s", answer->status,
                   answer->body_length < QUOTE_MAX ? (int) answer->body_length : QUOTE_MAX,
                   answer->body);
}

enum az_status
engine_http_call(struct op *op, const struct http_question *question, char **ret,
                 size_t *ret_length)
{
    struct http_answer answer;
    enum az_status st = engine_http_exchange(op, question, &answer);
    if (st != AZ_OK)
        return st;
    if (answer.status != 200)
        return engine_http_unexpected(op, &answer);
    *ret = answer.body;
    *ret_length = answer.body_length;
    return AZ_OK;
}
