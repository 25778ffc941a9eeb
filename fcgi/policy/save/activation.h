/* Waiting for the engines (policy.md 2.4). Who waits listens to svc_bundle_status since before it
 * published. */
#ifndef AZ_POLICY_SAVE_ACTIVATION_H
#define AZ_POLICY_SAVE_ACTIVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* What became of a candidate. Texts on op->mem. */
struct activation {
    bool taken;          /* every engine has it */
    const char *refusal; /* the engine's message; NULL: refused by none, only late */
    const char *active;  /* revision that is active instead, NULL when no engine said one */
    const char *late;    /* an engine that did not say it has it in time; NULL: none is known */
    bool reached;        /* some engine said anything at all meanwhile */
};

/*
 * Waits for the verdict on a candidate, at most SVC_BUNDLE_CONFIRM_TIMEOUT_MS: the engines' own
 * reports, and what the engine beside us says when asked, each time somebody wakes us and each poll
 * interval. AZ_UNAVAILABLE when the session `session` with the save lock is lost.
 */
enum az_status activation_await(struct op *op, unsigned session, int64_t bundle,
                                struct activation *ret);

/* The same for what is served and stays: true once every engine has it. */
bool activation_follow(struct op *op);

#endif
