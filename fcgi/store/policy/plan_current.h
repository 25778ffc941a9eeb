/* Reading what this process decides by: the revision that may decide, its plan and its data. */
#ifndef AZ_STORE_POLICY_PLAN_CURRENT_H
#define AZ_STORE_POLICY_PLAN_CURRENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"

/* On op->mem. */
struct plan_current {
    const char *revision;      /* that may decide; NULL if none was published */
    bool known;                /* it is the one that the caller has; nothing below is set */
    const char *note;          /* about the plan, for the operator; or NULL */
    const char *modules;       /* name of the plan, or NULL if there is none */
    bool other_plan;           /* there is a plan, and not the known one */
    const unsigned char *plan; /* gzip of plan.json; NULL if absent or known */
    size_t plan_length;
    const unsigned char *body; /* archive of the bundle; NULL: there is no plan, or known */
    size_t body_length;
};

/* The plan that the caller already has; its members may be NULL. */
struct plan_known {
    const char *revision, *modules; /* names of the revision that it holds and of its plan */
    const char *data;               /* revision whose data it can have without the archive */
    bool compare;                   /* fetch names alone, neither plan nor body */
};

/*
 * Fetch the revision that may decide, with its plan and data unless the caller has them. Of several
 * that may, it is the one that an engine has confirmed. One trip.
 */
enum az_status plan_current(struct op *op, const struct plan_known *known,
                            struct plan_current *ret);

#endif
