/*
 * The exchange with the policy engine: one kept HTTP/1.1 connection (RFC 9112), one request at a
 * time. libcurl makes the connection (UNIX socket, TCP, TLS) and moves the octets. Requests and
 * answers are framed here, because every token request asks for a decision and libcurl's own
 * framing took a quarter of the worker's time (performance.md 3.2: 53 against 26 microseconds).
 */
#ifndef AZ_POLICY_ENGINE_ENGINE_HTTP_H
#define AZ_POLICY_ENGINE_ENGINE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "base/op.h"
#include "policy/engine/http_answer.h"

/* A question for the engine. */
struct http_question {
    const char *path;  /* begins with a slash */
    const char *body;  /* of a POST; NULL: GET */
    size_t length;     /* octets of body */
    size_t answer_max; /* octets of the answer's body */
    long timeout_ms;   /* of the exchange; 0: the one the engine was made with */
};

/*
 * Ask op->az->engine: *ret is the body of a 200, on op->mem. AZ_UNAVAILABLE, with the reason in the
 * fault, in all other cases: no connection, no whole answer in time, a malformed answer, another
 * status. A kept connection that the engine has closed meanwhile is opened again, once, because
 * every request here may be repeated.
 */
enum az_status engine_http_call(struct op *op, const struct http_question *question, char **ret,
                                size_t *ret_length);

/*
 * Ask in the same way, but return an answer of any status, its body on op->mem, so that the caller
 * can read why the engine refused the question. AZ_UNAVAILABLE as above; ret->too_large is set if
 * the body has more than answer_max octets, ret->late if no answer came in time.
 */
enum az_status engine_http_exchange(struct op *op, const struct http_question *question,
                                    struct http_answer *ret);

/* Fail with AZ_UNAVAILABLE and quote an answer of unexpected status. */
enum az_status engine_http_unexpected(struct op *op, const struct http_answer *answer);

#endif
