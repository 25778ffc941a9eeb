/* Plans of policies: one for each set of modules, made when it is first saved. */
#ifndef AZ_STORE_POLICY_PLANS_H
#define AZ_STORE_POLICY_PLANS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"

/* A plan as it is stored. */
struct plan_new {
    const char *modules;       /* hex SHA-256 of the modules and the entrypoints */
    const unsigned char *plan; /* gzip of plan.json, or NULL if there is none */
    size_t length;             /* octets of it */
    const char *note;          /* why there is no plan, or what OPA still decides, or NULL */
};

/* The plan and the data of a revision, on op->mem. */
struct plan_stored {
    const unsigned char *plan; /* gzip of plan.json, or NULL if the revision has none */
    size_t plan_length;
    const unsigned char
        *body; /* archive of the bundle, which holds data.json; NULL: no such bundle */
    size_t body_length;
    const char *note; /* as above */
};

/* True in *ret if there is a plan for these modules; *ret_note is its note. The reason why there
 * was none says nothing of the next try. One trip. */
enum az_status plan_find(struct op *op, const char *modules, bool *ret, const char **ret_note);

/* Store a plan, in the open transaction or in one of its own. It replaces a row without a plan. */
enum az_status plan_store(struct op *op, const struct plan_new *plan);

/* Forget a plan that is damaged, so that the next save of its modules, or housekeeping, makes it
 * again. */
enum az_status plan_forget(struct op *op, const char *modules);

/* Plans that are kept although no bundle has them, such as the plans of candidates. */
#define PLANS_LOOSE_MAX 20

/* Delete the oldest plans without a bundle, beyond PLANS_LOOSE_MAX. Each measurement of a candidate
 * stores one, and auditors may ask for them. Those of the last minute stay: they may be in use. */
enum az_status plan_bound(struct op *op);

/* Read the revision that is served if it has no plan; *ret is NULL otherwise. One trip. */
enum az_status plan_missing(struct op *op, const char **ret);

/* Name the modules of the bundle that is served, which was published before plans were made. */
enum az_status plan_name_served(struct op *op, const char *revision, const char *modules);

/* Read the plan of these modules, without a bundle. One trip. */
enum az_status plan_fetch_named(struct op *op, const char *modules, struct plan_stored *ret);

/* Read the plan and the bundle of a revision that was published. One trip. */
enum az_status plan_fetch(struct op *op, const char *revision, struct plan_stored *ret);

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
