/* One question, decided by OPA and by the machine with the plan of the same revision. */
#ifndef AZ_POLICY_ENGINE_COMPARE_H
#define AZ_POLICY_ENGINE_COMPARE_H

#include "policy/engine/engine.h"
#include "policy/engine/engine_plan.h"

enum compare_result {
    COMPARE_SAME,
    COMPARE_DIFFERS,
    COMPARE_OPA_ALONE, /* the machine gave up, so that OPA would decide */
    COMPARE_MOVED,     /* OPA decided by another revision */
};

/* The answers. All on op->mem. */
struct comparison {
    enum compare_result result;
    json_t *embedded, *opa; /* NULL: undefined, or an error */
    const char *why;        /* why the machine decided nothing, or NULL */
    const char *opa_why;    /* why OPA decided nothing, or NULL */
    long embedded_us, opa_us;
};

/* True if two results of an entrypoint are equal; NULL is undefined. */
bool compare_equal(const json_t *one, const json_t *other);

/* True if a failure of OPA is its answer: it answered, and has this revision. Then the fault is
 * cleared, and *ret_why has its text. Otherwise *ret_moved says if it has another revision. It must
 * answer within timeout_ms; 0 stands for SVC_POLICY_TIMEOUT_MS. */
bool compare_failure_counts(struct op *op, enum no_decision lack, const char *revision,
                            long timeout_ms, const char **ret_why, bool *ret_moved);

/* Ask both. AZ_UNAVAILABLE: OPA cannot be reached. */
enum az_status compare_question(struct op *op, const struct engine_plan *plan, const char *revision,
                                const char *entrypoint, const json_t *input,
                                struct comparison *ret);

#endif
