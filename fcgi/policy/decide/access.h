/* svc/decision/authzen and authzen_batch: may a subject act on a resource (AuthZEN 1.0). */
#ifndef AZ_POLICY_DECIDE_ACCESS_H
#define AZ_POLICY_DECIDE_ACCESS_H

#include "policy/decide/ask.h"

/* One access decision. Values are borrowed from the verdict's output. */
struct access_decision {
    bool allow;      /* the access is permitted */
    json_t *context; /* object that policy hands to the caller, or NULL */
    json_t *reasons; /* array, sorted; never NULL */
};

/* One call of the engine: its question, and its answer. */
struct access {
    struct access_question question;
    struct access_decision *decisions; /* one per request, in their order */
    bool entitled;                     /* the caller may ask; without it there is no decision */
};

/* Read the members of one decision. Return NULL, or the member that has a wrong type. */
const char *access_read(const struct decision *decision, struct access_decision *ret);

/* Ask once. AZ_OK with an answer. AZ_UNAVAILABLE: there is no valid answer, as in ask_issue(), or
 * it does not have one decision for each request. */
enum az_status access_ask(struct op *op, struct access *access, struct verdict *ret);

#endif
