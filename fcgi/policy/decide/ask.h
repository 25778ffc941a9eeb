/* Asking the policy engine for evaluation 1 (issuance) and evaluation 2 (introspection): one
 * question, one call, one checked answer. */
#ifndef AZ_POLICY_DECIDE_ASK_H
#define AZ_POLICY_DECIDE_ASK_H

#include "policy/decide/decision.h"
#include "policy/decide/question.h"
#include "policy/engine/engine.h"

/* The question and the answer, in the form that is stored with tokens and audit rows. */
struct verdict {
    const char *evaluation;      /* member of the input, which lives as long as the operation */
    struct decision decision;    /* the checked answer */
    struct question_text asked;  /* the question, until it is packed */
    const unsigned char *input;  /* packed pdpInput */
    size_t input_length;         /* octets */
    const unsigned char *output; /* packed pdpOutput, with revision, engine and duration */
    size_t output_length;        /* octets */
};

/*
 * Ask once. AZ_OK with an answer, allow or deny. AZ_UNAVAILABLE: there is no valid answer; the
 * verdict then holds no decision, only what the audit row shows (policy.md 6.6): the packed input,
 * and the error as output, with a reason of the control `system`. The caller compares
 * decision.revision with the acceptable ones when it reads or writes the database.
 */
enum az_status ask_issue(struct op *op, const struct issue_question *question, struct verdict *ret);
enum az_status ask_introspect(struct op *op, const struct introspect_question *question,
                              struct verdict *ret);

/* Ask any entrypoint in the same way, with a document of question.h. A NULL input is one that could
 * not be made. */
enum az_status ask_entrypoint(struct op *op, const char *entrypoint, json_t *input,
                              const struct decision_bounds *bounds, struct verdict *ret);

/* Do the same without packing question and answer: for one whose row may tell of a later decision,
 * or of less than was asked. The document must not be changed before ask_pack(). */
enum az_status ask_unpacked(struct op *op, const char *entrypoint, json_t *input,
                            const struct decision_bounds *bounds, struct verdict *ret);

/* Pack what a verdict has not packed yet. */
enum az_status ask_pack(struct op *op, struct verdict *verdict);

/* Put the operation's fault into the packed output as `error`, and the reason output_invalid
 * (policy.md 6.6), for a decision that was rejected later. */
void ask_note_error(struct op *op, struct verdict *verdict);

/* Refuse an answer that ask_entrypoint() read: a member that only the caller knows is wrong. Return
 * AZ_UNAVAILABLE; the verdict keeps what the audit row shows. */
enum az_status ask_refuse(struct op *op, const char *member, const char *why,
                          struct verdict *verdict);

/* Longest time that a request waits for an acceptable revision while a save is being confirmed, in
 * milliseconds. */
#define ASK_REVISION_WAIT_MS 1000

/*
 * Pause after an answer of a revision that is not acceptable, unless this process decides itself
 * and now holds another one. True if the caller should ask again; false, with a fault, when the
 * time is up and this process holds no other one. A question that is asked again counts once in
 * the metrics. `started_ms` is a time of clock_monotonic_ms().
 */
bool ask_again(struct op *op, int64_t started_ms, const struct verdict *verdict);

#endif
