/* The machine that runs plans. */
#ifndef AZ_REGO_MACHINE_H
#define AZ_REGO_MACHINE_H

#include <stdint.h>

#include "rego/plan.h"

/* Most locals of all calls that have begun: ten times what known policies need. */
#define REGO_LOCALS_MAX 65536
/* Most blocks that run within one another, those of calls included. A level takes at most 600
 * octets of the C stack (measured: 550 with AddressSanitizer), so that all take 2.4 MB of the usual
 * 8. */
#define REGO_NESTING_MAX 4000
/* Octets of the reason why an evaluation ended. */
#define REGO_WHY_SIZE 256

/* The ways in which an evaluation ends. */
enum rego_outcome {
    REGO_DONE,     /* with a value, or undefined */
    REGO_GIVE_UP,  /* the machine cannot answer exactly as OPA does: ask OPA */
    REGO_CONFLICT, /* the policy contradicts itself, which is an error for OPA too */
    REGO_EXCEEDED, /* more statements, memory or time than an evaluation may take */
    REGO_TOUCHED,  /* the answer depends on a value that the question hides */
};

/* Bounds of one evaluation. */
struct rego_bounds {
    uint64_t statements;
    size_t octets;       /* of the arena */
    int64_t deadline_us; /* by clock_monotonic_us(), or 0 if there is none */
    uint64_t steps;      /* of builtins, or 0 if any number may be taken */
};

/* The place of a rule in the plan. */
struct rego_place {
    const char *file; /* of the plan; NULL: not known */
    uint32_t row;
};

/* A question, with all that its answer depends on. */
struct rego_question {
    const struct rego_plan *plan;
    const struct rego_function *entrypoint;
    const struct rego_value *input; /* NULL: undefined */
    const struct rego_value *data;  /* base documents */
    int64_t now_ns;                 /* time.now_ns() */
    bool hides;                     /* the input has rego_hidden within it */
    struct rego_place *stopped;     /* gets the place where an evaluation ended early, or NULL */
};

/* A running evaluation; builtins get it too. */
struct rego_machine {
    struct rego_arena *arena;
    const struct rego_question *question;
    struct rego_bounds bounds;
    uint64_t statements;             /* run so far */
    uint64_t pause;                  /* number of the statement before which bounds are looked at */
    uint64_t steps;                  /* of builtins so far */
    uint64_t clock_steps;            /* of builtins since the clock was last read */
    const struct rego_value **local; /* of all calls */
    size_t locals;                   /* used */
    unsigned depth;                  /* of blocks */
    const struct rego_value **memo;  /* results of functions of input and data alone, by index */
    const struct rego_value *result;
    enum rego_outcome outcome;
    char why[REGO_WHY_SIZE];
};

/*
 * Evaluate an entrypoint. *ret_value is NULL if it is undefined; it lives as long as the arena, the
 * input and the data. Other outcomes than REGO_DONE have a reason in `why`, for the operator.
 */
enum rego_outcome rego_evaluate(struct rego_arena *arena, const struct rego_question *question,
                                const struct rego_bounds *bounds,
                                const struct rego_value **ret_value, char why[REGO_WHY_SIZE]);

/* End the evaluation. Always returns NULL, which a builtin can return in turn. */
const struct rego_value *rego_stop(struct rego_machine *machine, enum rego_outcome outcome,
                                   const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Steps of builtins between two readings of the clock: some milliseconds. */
#define REGO_CLOCK_STEPS (1 << 20)

/*
 * Count steps of a builtin, each of some nanoseconds at most. False: the evaluation has ended,
 * since it takes too long. A builtin that takes more steps than its arguments have octets and
 * values calls this within its loops.
 */
bool rego_spend(struct rego_machine *machine, uint64_t steps);

#endif
