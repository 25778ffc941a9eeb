/* One revision of the policy as the machine (rego/machine.h) runs it: OPA's plan and the base
 * documents, read once into one arena. Knows nothing of requests or the database. */
#ifndef AZ_POLICY_ENGINE_ENGINE_PLAN_H
#define AZ_POLICY_ENGINE_ENGINE_PLAN_H

#include <jansson.h>
#include <stdint.h>

#include "rego/machine.h"

/*
 * Bounds of one decision. OPA evaluates ten million statements in a second, so one that needs more
 * than these would not get an answer from OPA in the default SVC_POLICY_TIMEOUT_MS either; the
 * shipped policy takes 600 to 1,100. The memory is a thousand times what a decision takes, and what
 * a host can spare for each of its workers.
 */
#define ENGINE_PLAN_STATEMENTS_MAX 20000000
#define ENGINE_PLAN_ANSWER_OCTETS_MAX (64 << 20)

/* Octets of a plan in memory, and of its data. With larger ones OPA decides alone. */
#define ENGINE_PLAN_OCTETS_MAX REGO_PLAN_OCTETS_MAX

struct engine_plan;

/* The texts of a revision. Plans with one name are the same. */
struct engine_plan_texts {
    const char *name; /* of the plan */
    const char
        *plan; /* plan.json of `opa build -t plan`; NULL: `before` has the plan of that name */
    const char *data; /* data.json of the bundle; not read if there is a tree */
    size_t plan_length, data_length;
    const struct rego_plan *code;  /* the plan, if it is read already; it outlives the result */
    const struct rego_value *tree; /* the same as an object that outlives the plan, or NULL */
};

/*
 * Read a revision; free the result with talloc. `before` (unless NULL) is another one: a plan with
 * the same name is shared with it, because most saves change data alone. NULL, with the reason in
 * *ret_why (on mem or constant): the machine cannot run it exactly as OPA does, or no memory.
 */
struct engine_plan *engine_plan_read(TALLOC_CTX *mem, const struct engine_plan_texts *texts,
                                     struct engine_plan *before, const char **ret_why);

/* A question. */
struct engine_plan_question {
    const char *entrypoint;  /* as the plan names it: "svc/decision/issue/result" */
    const char *input;       /* JSON text, which OPA would get; or NULL */
    size_t length;           /* octets of it */
    const json_t *document;  /* the same as a value, in place of a text; or NULL */
    size_t *document_length; /* gets the octets of its text */
    int64_t now_ns;          /* time.now_ns() */
    int64_t deadline_us;     /* by clock_monotonic_us() */
    uint64_t statements;     /* that it may take; 0: ENGINE_PLAN_STATEMENTS_MAX */
    uint64_t steps;          /* of builtins that it may take; 0: any number */
    /* Values that the input lacks, in objects by name, each of them null; or NULL. They are
     * defined, and what depends on one has the outcome REGO_TOUCHED. */
    const json_t *hidden;
    bool bare;                  /* there is no input: neither a text nor a document */
    struct rego_place *stopped; /* gets the place where the evaluation ended early, or NULL */
};

/*
 * Evaluate an entrypoint. REGO_DONE: *ret_result is the value, on mem, or NULL if it is undefined.
 * Otherwise the reason is in `why`. REGO_GIVE_UP also for an answer that JSON cannot hold as OPA
 * writes it: OPA must be asked.
 */
enum rego_outcome engine_plan_run(TALLOC_CTX *mem, const struct engine_plan *plan,
                                  const struct engine_plan_question *question, json_t **ret_result,
                                  char why[REGO_WHY_SIZE]);

/* Return why OPA decides some questions to an entrypoint, or all, for the operator: it may call a
 * builtin that the machine lacks, where the machine gives up, or the plan does not have it. NULL:
 * the machine decides it. On mem or constant. */
const char *engine_plan_lacks(TALLOC_CTX *mem, const struct engine_plan *plan,
                              const char *entrypoint);

/* True if two revisions give the same answer to each question to an entrypoint (rego/reach.h).
 * False: an answer may differ, a plan does not have it, or there is no memory. */
bool engine_plan_is_unreached(TALLOC_CTX *mem, const struct engine_plan *one,
                              const struct engine_plan *other, const char *entrypoint);

/* Return the name of the plan. */
const char *engine_plan_name(const struct engine_plan *plan);

#endif
