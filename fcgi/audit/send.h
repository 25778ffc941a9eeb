/* One request that gives a part of the audit log to another server. */
#ifndef AZ_AUDIT_SEND_H
#define AZ_AUDIT_SEND_H

#include "base/op.h"
#include "http/fetch/fetch.h"

/* Octets of an answer that are read: a report of what was not kept, or signatures. */
#define SEND_ANSWER_MAX (64 << 10)

/* The meaning of an answer. */
enum send_outcome {
    SEND_TAKEN,  /* 2xx */
    SEND_HELD,   /* 401, 403, 404: an administrator has to do something */
    SEND_DENIED, /* 400, 413: this content is refused */
    SEND_LATER,  /* any other answer, or none: try again */
};

/* The result of a request. */
struct sent {
    enum send_outcome outcome;
    const char *error; /* why it was not taken, for the administrator; without any secret */
    struct fetch_answer answer;
};

/* Post JSON, or plain text. `header` is NAME: VALUE, a secret, or NULL. Each failure is an outcome;
 * `name` is the setting of the URL. */
struct sent send_post(struct op *op, const char *name, const struct fetch_request *request,
                      const char *header);

#endif
