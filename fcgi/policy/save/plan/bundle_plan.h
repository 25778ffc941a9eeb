/* The plan of a policy that is saved, for the engine in this process: OPA's program makes it beside
 * the wait for the engines. A save does not need it: without a plan OPA decides. */
#ifndef AZ_POLICY_SAVE_PLAN_BUNDLE_PLAN_H
#define AZ_POLICY_SAVE_PLAN_BUNDLE_PLAN_H

#include <stdbool.h>

#include "policy/save/bundle/bundle_modules.h"
#include "rego/plan.h"

/* Limits of the program. The shipped policy takes 0.2 s, 60 MB and a file of 0.13 MB; a bundle of
 * ARCHIVE_MAX would take a hundred times as much, and a save must end. */
#define PLAN_SECONDS 30
#define PLAN_MEMORY ((size_t) 2 << 30)
#define PLAN_FILE_MAX ((size_t) 64 << 20)

struct planning;

/*
 * Begin to plan the modules of a bundle, unless the service decides by OPA or has their plan. The
 * result is never NULL and belongs to op->mem; a failure is one of the plan and told at its end.
 * Freeing it stops the program and removes its directory.
 */
enum az_status plan_begin(struct op *op, const struct bundle_modules *modules, const char *name,
                          struct planning **ret);

/* Begin in the same way, whatever engine the settings name: the trial of a save evaluates the plan
 * (policy.md 7.3). */
enum az_status plan_begin_trial(struct op *op, const struct bundle_modules *modules,
                                const char *name, struct planning **ret);

/*
 * Wait for the plan, check that the machine can read it, and store it, in the open transaction or
 * in one of its own. Checking and packing take 40 ms, so a save does that while the engines load.
 * *ret_warning tells the operator what OPA still decides, and why; NULL: nothing, or OPA decides by
 * configuration. AZ_OK without a plan too; other statuses are of the database.
 */
enum az_status plan_finish(struct op *op, struct planning *planning, const char **ret_warning);

/* The reason why there is no plan. On op->mem or constant. */
struct plan_lack {
    const char *why;     /* NULL: there is one */
    const char *refusal; /* what opa build says against the policy, one error in a line, or NULL */
    bool endless;        /* opa build reached a limit of time or memory */
};

/* Read the text of the plan that is stored for these modules, on op->mem. NULL: there is none. */
enum az_status plan_read(struct op *op, const char *modules, struct rego_plan_text *ret);

/* Wait for the plan of a trial and return plan.json as opa build wrote it, which nothing has
 * checked, or the stored one. It lives until plan_finish(), with what is read of it on `planning`.
 * Its text is NULL: *ret_lack says why there is none. */
enum az_status planning_text(struct op *op, struct planning *planning, struct rego_plan_text **ret,
                             struct plan_lack *ret_lack);

/* Make the plan of these modules unless it is stored, whatever engine the settings name: a
 * measurement needs it (policy.md I2). */
enum az_status plan_need(struct op *op, const struct bundle_modules *modules, const char *name,
                         struct plan_lack *ret);

/* Make the plan of the bundle that is served, if it has none: it was published before the service
 * decided in its own processes, or opa build failed. */
enum az_status plan_served(struct op *op, bool *ret_made, const char **ret_warning);

#endif
