/*
 * One request to the upstream of a managed resource. The gateway builds it anew: only the parts of
 * the caller's request that are named here reach the upstream, and the fields that head.h drops do
 * not reach the caller. HTTP/1.1, no redirects, no proxy, the address checked at connect, size and
 * time limited (gateway-admin.md 3.2).
 */
#ifndef AZ_GATEWAY_UPSTREAM_UPSTREAM_CALL_H
#define AZ_GATEWAY_UPSTREAM_UPSTREAM_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/op.h"
#include "gateway/upstream/credential.h"

struct managed_resource;
struct managed_route;
struct managed_secrets;
struct upstream_transfer;

/* Largest body that is read whole before it is sent, so that it can be sent again after the
 * upstream refused our credential, in octets. Most JSON bodies are smaller. */
#define UPSTREAM_REPLAY_MAX 65536
/* Largest answer that is taken into memory, in octets: those that are read as JSON, for
 * successWhen, redaction and tools. */
#define UPSTREAM_MEMORY_MAX 1048576
/* Header fields of an answer that are passed on; real answers have fewer than 40. */
#define UPSTREAM_FIELDS_MAX 64

/* A header field. */
struct upstream_field {
    const char *name;
    const char *value; /* without CR, LF and NUL */
};

/* The body of the request. All members are zero if it has no body. */
struct upstream_body {
    const void *octets; /* the whole body, or its beginning if there is `more` */
    size_t length;      /* octets of that */
    /* Read the octets after those: their number, 0 at the end, -1 if the caller has gone or is too
     * slow, NULL if all octets are in memory and the body can be sent again. */
    long (*more)(void *arg, void *buffer, size_t size);
    void *arg;         /* for `more` */
    int64_t announced; /* octets of the whole if there is `more`; -1: unknown, sent in chunks */
};

/* A request. The caller owns everything and keeps it until the transfer is done. */
struct upstream_call {
    const struct managed_resource *resource; /* upstreamUrl, upstreamAuth, requestHeaders */
    const struct managed_secrets *secrets;   /* from its upstreamAuth, or NULL */
    upstream_credential_fn *credential;      /* gets its credential (gateway/credential/types.h) */
    const struct managed_route *route;       /* its requestHeaders, retry, timeoutMs, or NULL */
    const struct upstream_caller *caller;    /* who calls (credential.h); NULL: the service itself,
                                                which has no caller-bound credential */
    const char *method;                      /* GET, POST, ... */
    const char *path; /* raw, added to the path of upstreamUrl (managed/choose.h); may be empty */
    const char
        *query; /* raw, without "?"; may be empty; the route's query.allow is applied to it */
    const struct upstream_field *fields; /* besides ours; upstream_fields() chooses a caller's */
    size_t field_count;
    json_t *policy_headers; /* object of texts: fields that policy demands, which win; or NULL */
    struct upstream_body body;
    size_t max_answer; /* octets of the answer's body; 0: SVC_GATEWAY_MAX_BODY_SIZE */
    long timeout_ms;   /* until the head of the answer is there, and again for each pause in its
                          body; 0: SVC_GATEWAY_RESPONSE_TIMEOUT */
};

/* The answer; on op->mem. */
struct upstream_answer {
    int status;                    /* HTTP status code, 200 to 599 */
    const char *content_type;      /* media type without parameters, in lower case; "" if absent */
    const char *content_type_line; /* the whole value, or NULL */
    /* Fields that may be passed on, without Content-Type, Content-Length and framing. */
    struct upstream_field field[UPSTREAM_FIELDS_MAX];
    size_t fields;
    const char *challenge; /* WWW-Authenticate, the first one of 401 or 403, or NULL. It is never
                              passed on */
    int64_t announced;     /* Content-Length; -1 if absent */
    size_t octets;         /* of the body, so far */
    bool stopped;          /* the sink ended it */
    bool masked;           /* the upstream repeated the credential, which was masked (echo.h) */
    bool failed; /* upstream_send_memory(): successWhen of the route says that it is a failure */
    const char *body; /* upstream_send_memory(): NUL-terminated; else NULL */
    int64_t took_ms;  /* until the head was there */
};

/* The place where the octets of the body go. Both functions return false to stop the transfer. */
struct upstream_sink {
    bool (*take)(void *arg, const void *octets, size_t length);
    void *arg;
    bool (*between)(void *arg); /* called after octets were taken, and while none come: it may send
                                   another request and wait for the answer; or NULL */
};

/*
 * Send the request with the credential of the resource and wait for the head of the answer. If the
 * upstream refuses a credential that can be renewed, it is renewed once and the request is sent
 * again, provided its body is in memory. *ret_transfer holds the connection and ends with op->mem
 * or upstream_done().
 *
 * AZ_UPSTREAM_UNREACHABLE: refused, not in time, a name without address, or an address that is not
 * allowed; AZ_UPSTREAM_TIMEOUT; AZ_UPSTREAM_INVALID: not HTTP, a bad head, or a Content-Length
 * above max_answer; AZ_UPSTREAM_AUTH: it refused the shared credential, or that is missing;
 * AZ_LINK_REQUIRED: it refused the caller's credential, or that is missing, and *ret_credential (or
 * NULL) names the link; AZ_TOO_LARGE: the body of the request is too large; AZ_INVALID_REQUEST: it
 * ended early.
 */
enum az_status upstream_begin(struct op *op, const struct upstream_call *call,
                              struct upstream_credential *ret_credential,
                              struct upstream_transfer **ret_transfer,
                              struct upstream_answer **ret_answer);

/* Pass the body of the answer to the sink as it arrives. AZ_UPSTREAM_INVALID: it broke off or grew
 * past max_answer; AZ_UPSTREAM_TIMEOUT: it paused for too long. The sink's `false` ends the
 * connection and is AZ_OK. */
enum az_status upstream_pump(struct upstream_transfer *transfer, const struct upstream_sink *sink);

/*
 * Let the body of the answer arrive beside other transfers of this process: octets go to the sink
 * (without `between`) whenever one of them is waited for, in upstream_run() too. No time limit
 * holds.
 */
void upstream_attend(struct upstream_transfer *transfer, const struct upstream_sink *sink);

/* True if nothing more of it comes. */
bool upstream_is_over(const struct upstream_transfer *transfer);

/* Let octets of attended transfers arrive, until something happens or so many milliseconds have
 * passed. False: libcurl cannot. */
bool upstream_run(struct az *az, int ms);

/* End the transfer; the connection is kept for the next one if the answer was read to its end. */
void upstream_done(struct upstream_transfer *transfer);

/*
 * Record the outcome of a call: the status of the resource (managed/status.h), and the metrics.
 * `st` is that of the call, `answer` may be NULL. upstream_send_memory() does that itself.
 */
void upstream_note(struct op *op, const struct managed_resource *resource, enum az_status st,
                   const struct upstream_answer *answer);

/* Begin, take the body into memory, answer->body and ->octets, end and note. AZ_UPSTREAM_INVALID:
 * it is larger than call->max_answer, or than UPSTREAM_MEMORY_MAX if that is 0. */
enum az_status upstream_send_memory(struct op *op, const struct upstream_call *call,
                                    struct upstream_credential *ret_credential,
                                    struct upstream_answer **ret_answer);

#endif
