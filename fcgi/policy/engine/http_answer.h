/* One HTTP/1.1 answer (RFC 9112), read from octets. */
#ifndef AZ_POLICY_ENGINE_HTTP_ANSWER_H
#define AZ_POLICY_ENGINE_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

/* Octets of a status line with its header fields; OPA sends about 120. */
#define HTTP_ANSWER_HEAD_MAX 8192

/* The state of the octets received so far. */
enum http_answer_state {
    HTTP_ANSWER_MORE,   /* the beginning of an answer */
    HTTP_ANSWER_WHOLE,  /* one answer, and nothing after it */
    HTTP_ANSWER_BROKEN, /* not an answer that is accepted; ret->why says why */
};

struct http_answer {
    int status;
    bool keep;  /* the connection may carry another request */
    char *body; /* points into the octets */
    size_t body_length;
    const char *why; /* constant text, when broken */
    bool too_large;  /* ... because the body has too many octets */
    bool late;       /* the question was sent, and no whole answer came in time */
};

/*
 * Read an answer. Its end must be given by one Content-Length or by chunks, not by both (RFC 9112
 * 6.3: request smuggling), and not by the end of the connection, because an answer that is cut
 * short would look whole. The body, its chunks joined in place, has at most body_max octets.
 */
enum http_answer_state http_answer_read(char *octets, size_t length, size_t body_max,
                                        struct http_answer *ret);

#endif
