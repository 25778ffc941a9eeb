/* The answer to a request. */
#ifndef AZ_HTTP_RESPONSE_H
#define AZ_HTTP_RESPONSE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct request;

/* Longest body of an answer, in octets: that of a bundle, ARCHIVE_MAX before compression. */
#define HTTP_ANSWER_MAX (64 << 20)
/* Headers of one answer: those of an upstream's that the gateway passes on
 * (gateway/upstream/upstream_call.h), and 16 of ours. */
#define HTTP_HEADERS_MAX 80
/* Longest target of a redirect, in octets: Apache reads header lines of 8 KiB from a gateway. */
#define HTTP_LOCATION_MAX 8000

/* A header of the answer. */
struct http_header {
    const char *name;  /* as sent */
    const char *value; /* without CR or LF */
};

/* The answer. */
struct response {
    int status;               /* 0: not answered yet */
    const char *content_type; /* NULL: there is no body */
    const char *body;         /* on the request's memory */
    size_t length;            /* octets of body */
    bool newline;             /* a line feed follows the body */
    enum az_status (*stream)(
        struct request *req); /* writes the body, or NULL if `body` above has it */
    void *stream_arg;         /* for stream */
    const char *cache;        /* Cache-Control in place of the row's cache headers, or NULL */
    bool begun;               /* the head is sent: dispatch_begin_stream() */
    struct http_header header[HTTP_HEADERS_MAX]; /* besides Status, Content-Type and the row's */
    size_t headers;                              /* used entries of header */
};

/* Answer with JSON (borrowed) and a line feed, so that a shell's prompt begins its own line (RFC
 * 8259 2). AZ_SERVER_ERROR: json is NULL because it could not be built. */
enum az_status respond_json(struct request *req, int status, json_t *json);

/* Answer with JSON that is already text (the database made it) and a line feed. */
enum az_status respond_json_text(struct request *req, int status, const char *json);

/* Answer without a body. */
enum az_status respond_empty(struct request *req, int status);

/* Answer with octets that live on the request's memory. AZ_SERVER_ERROR: more than HTTP_ANSWER_MAX.
 */
enum az_status respond_octets(struct request *req, int status, const char *content_type,
                              const void *body, size_t length);

/*
 * Answer 200 with a body that `stream` writes by response_write after the head is sent, piece by
 * piece, so that it is never in memory whole. `arg` becomes req->res.stream_arg. If stream fails,
 * the connection is cut off, because the status is out already. It is not called for HEAD.
 */
enum az_status respond_stream(struct request *req, const char *content_type,
                              enum az_status (*stream)(struct request *req), void *arg);

/* Send octets of a streamed body. AZ_UNAVAILABLE: the reader has gone, or takes nothing. */
enum az_status response_write(struct request *req, const void *octets, size_t length);

/* Redirect the browser: 302 with Location (never 307, which would send a form again). The row sets
 * the cache header. The URL is copied; the copy is wiped after the answer, because it may hold a
 * code. AZ_SERVER_ERROR: longer than HTTP_LOCATION_MAX, or a character that a URL cannot have. */
enum az_status respond_redirect(struct request *req, const char *url);

/* Do the same with 303, after a form whose answer is another page (RFC 9110 15.4.4). */
enum az_status respond_see_other(struct request *req, const char *url);

/* Let caches keep the answer for max_age seconds and revalidate it by a strong ETag over its
 * octets; an answer that the caller has already becomes a 304 (RFC 9110 8.8.3, 13.1.2). */
enum az_status respond_cached(struct request *req, long max_age);

/* Let only the caller's own cache keep the answer for so many seconds, in place of the cache
 * headers of the row. An answer that replaces this one does not inherit it. */
void respond_kept(struct request *req, int64_t seconds);

/* Add a header. A value with a control character is dropped whole (response splitting). */
void respond_header(struct request *req, const char *name, const char *value);

/* Add a faulty field to the "fieldErrors" of req->error_body; the first message of a field stays.
 */
void request_field_error(struct request *req, const char *field, const char *message);

/* Fail with the fault of one field. Return AZ_INVALID_FIELDS. */
enum az_status request_invalid_field(struct request *req, const char *field, const char *message);

/* Do the same as a field_fault_fn (base/json/fields.h); `req` is the request. */
void request_field_fault(void *req, const char *field, const char *message);

#endif
