/* One of two policies that are compared, ready to decide (policy.md I5, I8). */
#ifndef AZ_POLICY_IMPACT_SIDE_H
#define AZ_POLICY_IMPACT_SIDE_H

#include "policy/decide/effect.h"
#include "policy/engine/engine_plan.h"
#include "policy/impact/impact.h"
#include "policy/impact/tally.h"

/*
 * Work of one evaluation: what OPA, with ten million statements in a second, does in 250 ms, and
 * builtins in as much time. OPA would not answer so late either: the default of
 * SVC_POLICY_TIMEOUT_MS is shorter. It is counted, and not measured by a clock: the process has the
 * lowest priority, and a decision must not be called missing because the machine was busy.
 */
#define IMPACT_EVALUATION_STATEMENTS 2500000
#define IMPACT_EVALUATION_STEPS (1 << 26)
/* Time of one evaluation in any case, in microseconds. */
#define IMPACT_EVALUATION_US 10000000

/* Rows of data that the service reads itself (policy.md I8, I11). */
enum side_row { SIDE_REGISTRY, SIDE_TRUST, SIDE_DEFAULT_SCOPES, SIDE_ROWS };

struct side_rows {
    const json_t *row[SIDE_ROWS]; /* NULL: there is none */
};

struct side {
    struct engine_plan *plan;
    struct side_rows rows;
};

/* A question. */
struct side_question {
    const char *entrypoint; /* rule of the plan */
    const char *text;       /* the question as JSON text */
    json_t *input;          /* the same as an object */
    const json_t *hidden;   /* values that it lacks (hidden.h), or NULL */
    struct effect_route route;
};

/* States of knowing a decision. */
struct side_known {
    bool is;
    enum impact_unknown why; /* if it is not */
    const char *builtin;     /* reason why the machine does not decide, on op->mem; or NULL */
};

/* Read the rows in data.json onto mem. */
enum az_status side_read_rows(struct op *op, TALLOC_CTX *mem, const char *data,
                              struct side_rows *ret);

/* Read the text of the plan of a policy, on mem. AZ_UNAVAILABLE as below. */
enum az_status side_read_plan(struct op *op, TALLOC_CTX *mem, const struct impact_side *from,
                              const char **ret, size_t *ret_length);

/* Read a policy, on mem. `before` (unless NULL) is the plan of the other one, which may be the
 * same. AZ_UNAVAILABLE: the plan is missing or cannot be run, with the reason. */
enum az_status side_read(struct op *op, TALLOC_CTX *mem, const struct impact_side *from,
                         struct engine_plan *before, struct side *ret);

/* Return the rule of a plan that decides a question, on mem; NULL if no rule does. */
const char *side_entrypoint(TALLOC_CTX *mem, const json_t *input);

/* True if a change from one policy to the other cannot change a decision of a rule (I7): the
 * machine decides the same, and so does C, which reads the resource types. */
bool side_is_unreached(TALLOC_CTX *mem, const struct side *one, const struct side *other,
                       const char *entrypoint);

/* Let one side decide by the clock of the question; `ret` has room for its effect_count(), and is
 * set if the decision is known. What does not end in time, or contradicts itself, is no decision.
 */
enum az_status side_decide(struct op *op, const struct side *side,
                           const struct side_question *asked, struct effect *ret,
                           struct side_known *ret_known);

#endif
