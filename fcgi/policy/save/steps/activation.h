/* Waiting for the engines (policy.md 2.4). The caller has listened to svc_bundle_status since
 * before it published. */
#ifndef AZ_POLICY_SAVE_STEPS_ACTIVATION_H
#define AZ_POLICY_SAVE_STEPS_ACTIVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* The verdict of the engines on a candidate. Texts on op->mem. */
struct activation {
    bool taken;          /* every living engine has activated it */
    const char *refusal; /* the engine's message; NULL if no engine refused it, but some are late */
    const char *refused_by; /* name of that engine */
    const char *active;     /* revision that is active instead, NULL when no engine named one */
    const char *late;       /* engines that did not report it in time; NULL if no engine is known */
    bool reached;           /* some engine reported anything at all meanwhile */
};

/*
 * Find out which engines are alive before anything is published, while the policy as it is decides:
 * call them, and wait until each has asked for its bundle again, at most
 * SVC_BUNDLE_FETCH_GRACE_MS. The save then waits only for those that did. Without the call, one
 * dead engine would leave the others for that time with a candidate that may not decide: no token.
 */
enum az_status activation_call(struct op *op);

/*
 * Wait for the verdict on a candidate, at most SVC_BUNDLE_CONFIRM_TIMEOUT_MS. It follows from the
 * engines' own reports, read at each notification, and from the status of the engine beside this
 * process, read at each poll interval. AZ_UNAVAILABLE: the database session that holds the
 * save lock (`session`) was lost.
 */
enum az_status activation_await(struct op *op, unsigned session, int64_t bundle,
                                const char *revision, struct activation *ret);

/* Wait in the same way for the bundle that is served, which stays in any case. True once every
 * living engine has activated it. */
bool activation_follow(struct op *op, const char *revision);

#endif
