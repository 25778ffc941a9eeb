/* The class of a decision: what a candidate changes in it (policy.md I9). Pure. */
#ifndef AZ_POLICY_IMPACT_CLASSES_H
#define AZ_POLICY_IMPACT_CLASSES_H

#include <stdbool.h>

#include "policy/decide/effect.h"

/* A decision has one class. No decision (503) counts as not allowed. */
enum impact_class {
    IMPACT_SAME,
    IMPACT_NEWLY_DENIED,  /* the base allows, the candidate does not */
    IMPACT_NEWLY_ALLOWED, /* the reverse */
    IMPACT_NARROWED,      /* both allow; fewer rights */
    IMPACT_WIDENED,       /* both allow; other rights, of which the base lacks some */
    IMPACT_OTHER,         /* anything else */
    IMPACT_CLASSES
};

/* Their names in the API. */
extern const char *const impact_class_names[IMPACT_CLASSES];

/* The differences of a decision of IMPACT_OTHER; bits by number. */
enum impact_other {
    IMPACT_LIFETIME_LONGER,
    IMPACT_LIFETIME_SHORTER,
    IMPACT_SINGLE_USE,
    IMPACT_OBLIGATIONS,
    IMPACT_CLAIMS,
    IMPACT_EXTENSIONS,
    IMPACT_CONTEXT,
    IMPACT_STEP_UP,
    IMPACT_REASONS,
    IMPACT_OTHERS
};

extern const char *const impact_other_names[IMPACT_OTHERS];

struct impact_difference {
    enum impact_class class;
    bool mixed;     /* widened, and some rights are lost too */
    bool failing;   /* the candidate gives no decision, and the base did */
    bool words;     /* messages or details of reasons alone differ */
    unsigned other; /* bits of enum impact_other */
};

/* Compare what two policies do with one question. */
struct impact_difference impact_compare(const struct effect *base, const struct effect *candidate);

/* True if the reasons have one of these category, control and code. */
bool impact_has_reason(const json_t *reasons, const json_t *reason);

#endif
