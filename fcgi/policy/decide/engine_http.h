/*
 * The exchange with the policy engine: one kept HTTP/1.1 connection (RFC 9112), one request at a
 * time. libcurl makes the connection (UNIX socket, TCP, TLS) and moves the octets; request and
 * answer are framed here, because a decision is asked for at every request and libcurl's own
 * framing was a quarter of the worker's time (performance.md 3.2: 53 against 26 microseconds).
 */
#ifndef AZ_POLICY_DECIDE_ENGINE_HTTP_H
#define AZ_POLICY_DECIDE_ENGINE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "base/op.h"

/* Octets of a status line with its header fields; OPA sends about 120. */
#define HTTP_ANSWER_HEAD_MAX 8192

/*
 * Asks op->az->engine: POST with a body, GET when body is NULL; path begins with a slash. *ret is
 * the body of a 200, of at most answer_max octets, on op->mem. AZ_UNAVAILABLE, with the reason in
 * the fault, for everything else: no connection, no whole answer in time, an answer out of form,
 * another status. A kept connection that the engine has closed meanwhile is opened again, once:
 * every request here may be repeated.
 */
enum az_status engine_http_call(struct op *op, const char *path, const char *body, size_t length,
                                size_t answer_max, char **ret, size_t *ret_length);

/* A question that engine_http_call() would be too short for. */
struct http_question {
    const char *path;  /* begins with a slash */
    const char *body;  /* NULL: GET */
    size_t length;     /* octets of body */
    size_t answer_max; /* octets of the answer's body */
    long timeout_ms;   /* of the exchange; 0: the one the engine was made with */
};

struct http_answer;

/*
 * The same for one who also wants what the engine says of a question it refuses: an answer of any
 * status, its body on op->mem. AZ_UNAVAILABLE as above; when ret->too_large is set, because the
 * body has more than answer_max octets.
 */
enum az_status engine_http_exchange(struct op *op, const struct http_question *question,
                                    struct http_answer *ret);

/* Fails with AZ_UNAVAILABLE for an answer whose status is not one that was hoped for. */
enum az_status engine_http_unexpected(struct op *op, const struct http_answer *answer);

/* What the octets that have come so far are. */
enum http_answer_state {
    HTTP_ANSWER_MORE,   /* the beginning of an answer */
    HTTP_ANSWER_WHOLE,  /* one answer, and nothing after it */
    HTTP_ANSWER_BROKEN, /* no answer that is accepted; ret->why says so */
};

struct http_answer {
    int status;
    bool keep;  /* the connection may carry another request */
    char *body; /* points into the octets */
    size_t body_length;
    const char *why; /* constant text, when broken */
    bool too_large;  /* ... because the body has too many octets */
};

/*
 * Reads an answer. Its end must be told by one Content-Length or by chunks (never by the end of the
 * connection: an answer cut short would look whole), not by both (RFC 9112 6.3: smuggling).
 * The body, chunks joined in place, is at most body_max octets.
 */
enum http_answer_state http_answer_read(char *octets, size_t length, size_t body_max,
                                        struct http_answer *ret);

#endif
