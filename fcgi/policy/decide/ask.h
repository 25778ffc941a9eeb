/* One question, one call, one checked answer: evaluation 1 and evaluation 2. */
#ifndef AZ_POLICY_DECIDE_ASK_H
#define AZ_POLICY_DECIDE_ASK_H

#include "policy/decide/decision.h"
#include "policy/decide/question.h"

/* What was asked and answered, in the form that is stored with tokens and audit rows. */
struct verdict {
    struct decision decision;    /* the checked answer */
    const unsigned char *input;  /* packed pdpInput */
    size_t input_length;         /* octets */
    const unsigned char *output; /* packed pdpOutput, with revision, engine and its time */
    size_t output_length;        /* octets */
};

/*
 * Asks once. AZ_OK with an answer, allow or deny; AZ_UNAVAILABLE when there is none that counts:
 * the verdict then holds no decision, but what the audit row shows (policy.md 6.6), the packed
 * input and as output the error. The caller compares decision.revision with the acceptable ones
 * where it reads or writes the database.
 */
enum az_status ask_issue(struct op *op, const struct issue_question *question, struct verdict *ret);
enum az_status ask_introspect(struct op *op, const struct introspect_question *question,
                              struct verdict *ret);

/*
 * The same for any entrypoint, with a document of question.h: what the two above are made of. A
 * NULL input is one that could not be made.
 */
enum az_status ask_entrypoint(struct op *op, const char *entrypoint, json_t *input,
                              const struct decision_bounds *bounds, struct verdict *ret);

/* Puts the operation's fault into the packed output, as `error` (policy.md 6.6): for a decision
 * that did not count after all. */
void ask_note_error(struct op *op, struct verdict *verdict);

/* Longest time a request waits for an acceptable revision while a save is being confirmed.
 * Milliseconds. */
#define ASK_REVISION_WAIT_MS 1000

/*
 * After an answer whose revision may not decide: waits a moment and says true while it is worth
 * asking again; false when the time is up (the fault then says so). `started_ms` is of
 * clock_monotonic_ms().
 */
bool ask_again(struct op *op, int64_t started_ms, const char *revision);

#endif
