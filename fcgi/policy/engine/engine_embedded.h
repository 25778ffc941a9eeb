/* The engine in this process (SVC_POLICY_ENGINE=embedded): OPA's plan of the confirmed revision,
 * run by the machine of rego/. OPA judges every save and decides what the machine cannot. */
#ifndef AZ_POLICY_ENGINE_ENGINE_EMBEDDED_H
#define AZ_POLICY_ENGINE_ENGINE_EMBEDDED_H

#include <jansson.h>

#include "policy/engine/engine.h"

/* True if the settings ask for this engine. */
bool embedded_wanted(const struct az *az);

/* True if this process holds the revision. */
bool embedded_holds(const struct az *az, const char *revision);

/*
 * Evaluate as engine_evaluate() does, by the revision that this process holds; the first call loads
 * one. *ret_ask_opa: the machine does not answer, and OPA must be asked; nothing else counts then.
 * AZ_UNAVAILABLE: the policy contradicts itself, or a bound of engine_plan.h was passed.
 */
enum az_status embedded_evaluate(struct op *op, const char *entrypoint, const json_t *input,
                                 struct engine_answer *ret, bool *ret_ask_opa);

/*
 * Look which revision may decide now. True if it is another one than this process held, so that a
 * question that was answered by the old one can be asked again at once: by the new one, which is
 * loaded, or by OPA while another worker of the host loads one. A second call before that loads it.
 * One trip.
 */
bool embedded_renew(struct op *op);

/* True if OPA decides because another revision may decide than this process holds. */
bool embedded_behind(const struct az *az);

/* Load the revision that OPA decides by meanwhile, unless another worker of the host is loading
 * one. After an answer, and before the next decision. */
void embedded_catch_up(struct op *op);

/* OPA has decided by this revision. Load the revision that may decide now, or note that it is to be
 * loaded, if this process holds another one: while OPA decides an entrypoint, nothing else shows
 * that the reason for that has ended with the old revision. */
void embedded_follow(struct op *op, const char *revision);

/*
 * Check for readiness that this process holds a plan of the revision that may decide. *ret_note, on
 * op->mem, names the entrypoints that call a builtin which the machine lacks, so that OPA decides
 * such questions; it is NULL if there are none. AZ_UNAVAILABLE: OPA decides all, or an entrypoint
 * that the machine decided otherwise (witness.h); the reason is in the fault. One trip.
 */
enum az_status embedded_check(struct op *op, const char **ret_note);

/* After embedded_check(): AZ_UNAVAILABLE, with the entrypoint in the fault, if the policy that this
 * process holds was seen to contradict itself on this host. */
enum az_status embedded_check_conflicts(struct op *op);

#endif
