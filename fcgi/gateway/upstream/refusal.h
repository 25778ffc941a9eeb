/* The next step after an upstream refused the credential of a request with 401 or 403. A plain
 * function. */
#ifndef AZ_GATEWAY_UPSTREAM_REFUSAL_H
#define AZ_GATEWAY_UPSTREAM_REFUSAL_H

#include <stdbool.h>

/* The facts about a refusal. */
struct upstream_refusal {
    int status;      /* 401 or 403 */
    bool shown;      /* the request had a credential */
    bool bound;      /* it is the caller's own account */
    bool personal;   /* it is about one caller, as a token that was exchanged for a person */
    bool renewable;  /* another one can be got */
    bool renewed;    /* it is the second one already */
    bool repeatable; /* the request can be sent again: its body is in memory */
};

enum upstream_refusal_step {
    REFUSAL_AGAIN,    /* get another credential and send the request again */
    REFUSAL_REPLACE,  /* get another credential, or the link that the person must open; the request
                         is not sent again */
    REFUSAL_END,      /* the call fails */
    REFUSAL_END_COUNT /* the call fails, and counts as a refusal of the shared credential */
};

/*
 * Return the next step. A caller's own account may need a refresh or a new link; a shared
 * credential is renewed once, on 401. Only a 401 of a shared credential counts: with 403 the
 * upstream speaks about what the caller asked for.
 */
enum upstream_refusal_step upstream_refusal_next(const struct upstream_refusal *refusal);

#endif
