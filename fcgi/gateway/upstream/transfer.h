/* One exchange with an upstream by libcurl, for upstream_call.c. Of credentials it knows only the
 * texts to mask. */
#ifndef AZ_GATEWAY_UPSTREAM_TRANSFER_H
#define AZ_GATEWAY_UPSTREAM_TRANSFER_H

#include <curl/curl.h>

#include "gateway/upstream/echo.h"
#include "gateway/upstream/head.h"
#include "gateway/upstream/upstream_call.h"

/* Longest time of a whole answer, in seconds. An upstream that sends an octet now and then would
 * hold a worker for ever; answers of language models take a few minutes. */
#define UPSTREAM_ANSWER_SECONDS 600

/* Reasons why this side ended an exchange. */
enum transfer_end {
    END_NONE,
    END_SLOW,         /* no head, or a pause in the body, within the time limit */
    END_STOPPED,      /* the sink ended it */
    END_CALLER,       /* the caller has gone, or stopped in the middle of its body */
    END_BODY_LARGE,   /* the body of the request passed the limit */
    END_ANSWER_LARGE, /* the body of the answer passed the limit */
};

/* Address of the upstream, and what is sent; on op->mem. The request target and the lines may hold
 * a credential, and are wiped with the transfer. */
struct transfer_plan {
    const char *origin; /* scheme://host[:port] */
    const char *host;   /* of it, in lower case, for the rules on addresses */
    const char *scheme; /* http or https */
    char *target;       /* path and query, raw; the transfer takes it */
    const char *method;
    const struct upstream_field *fields; /* all header fields; read when the request begins */
    size_t field_count;
    const struct upstream_body *body;
    size_t max_body;   /* octets of the request's body */
    size_t max_answer; /* octets of the answer's body */
    long connect_ms;
    long timeout_ms;
    bool private_connection; /* no other request may use the connection */
    struct echo *echo; /* masks the credential in the answer; the transfer takes it; or NULL if
                          there is nothing to mask */
    bool (*gone)(void *arg); /* or NULL */
    void *gone_arg;
};

struct upstream_transfer {
    struct op *op;
    struct transfer_plan plan;
    struct upstream_answer *answer;
    struct upstream_head head;
    CURL *curl;
    bool added;                       /* to the multi handle */
    struct curl_slist *lines;         /* header fields of the request */
    int64_t sent;                     /* octets of its body */
    const struct upstream_sink *sink; /* NULL before the head has arrived */
    enum transfer_end end;
    bool refused_address;
    bool connected; /* the request is being sent, and the time limit of the answer runs */
    bool finished;  /* libcurl is done, with: */
    CURLcode outcome;
    int64_t began_ms, slow_ms, last_ms; /* clock_monotonic_ms(): start, and the two deadlines */
    char error[CURL_ERROR_SIZE];
};

/* Send the request and wait for the head of the answer. AZ_UPSTREAM_UNREACHABLE with
 * *ret_connected false: no connection was made. The transfer is ended if this fails. */
enum az_status transfer_begin(struct op *op, const struct transfer_plan *plan,
                              struct upstream_transfer **ret, bool *ret_connected);

/* True if a method may be sent twice without harm (RFC 9110 9.2.2: idempotent). */
bool transfer_may_repeat(const char *method);

/* True if the operator allows private addresses and plain http for a host. */
bool transfer_host_is_listed(const struct op *op, const char *host);

#endif
