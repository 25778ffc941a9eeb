/* Apply a checked decision: the rules that the endpoints and a forecast (effect.h) share. */
#ifndef AZ_POLICY_DECIDE_OUTCOME_H
#define AZ_POLICY_DECIDE_OUTCOME_H

#include "policy/decide/decision.h"
#include "policy/decide/question.h"

/* Return the bounds of an answer to evaluation 1 and evaluation 2. */
struct decision_bounds outcome_issue_bounds(const struct issue_question *question);
struct decision_bounds outcome_introspect_bounds(const json_t *baseline);

/* Return the seconds that a token lives: those of policy or the configured ones, and never longer
 * than the token that it stands for. */
int64_t outcome_lifetime(const struct op *op, const struct issue_question *question,
                         const struct decision *decision);

/*
 * Return AZ_OK if the decision allows a token. Otherwise return the status of the denial, or of an
 * allow that grants none of the requested details, or neither details nor a requested scope;
 * *ret_text is the public text, or NULL.
 */
enum az_status outcome_issue(struct op *op, const struct issue_question *question,
                             const struct decision *decision, const char **ret_text);

/* True if a code of the decision denies introspection to the caller (decisions.md "Policy"). */
bool outcome_refuses_caller(const struct decision *decision);

/* True if a code of the decision hides the token from the caller. */
bool outcome_hides_token(const struct decision *decision);

/* True if nothing of the token is granted now. A token that had authorization details
 * (specification 4.2) is inactive when it loses them. While it has them, it needs no scope. */
bool outcome_lost_all(const json_t *baseline, const struct decision *decision);

/* True if the caller may ask for access decisions (AuthZEN); without that there is none. */
bool outcome_entitled(const struct decision *decision, bool batch);

#endif
