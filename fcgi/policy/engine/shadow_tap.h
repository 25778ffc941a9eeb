/*
 * The way of decisions to the process that puts them to the shadow of the policy (policy.md 7.2):
 * of the decisions of this process some are chosen, and sent after their answers. Sending never
 * waits: what the queue does not take is dropped and counted. The parent of --workers makes one,
 * for all its processes; others have none, and send nothing.
 */
#ifndef AZ_POLICY_ENGINE_SHADOW_TAP_H
#define AZ_POLICY_ENGINE_SHADOW_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/op.h"
#include "policy/engine/engine.h"

/* Octets of one decision with its question on its way. A larger one is dropped: an ordinary one has
 * some thousand, and the kernel's default queue of a socket holds 208 KiB. */
#define SHADOW_TAP_OCTETS_MAX (128 << 10)

/* Decisions of one request that are kept. A request has one, a call of a tool a few. */
#define SHADOW_TAP_KEPT_MAX 8

/* Largest rate: one decision in so many is chosen. */
#define SHADOW_RATE_MAX 1000000

/* A decision as it arrives. Texts point into what was received. */
struct shadow_question {
    const char *revision; /* that decided */
    const char *request_id;
    const char *input;
    const char *result; /* JSON; "": undefined */
};

/* Make the way: a queue, and memory that processes forked later share. NULL: it cannot be made. */
struct shadow_tap *shadow_tap_new(TALLOC_CTX *mem);

/* Choose one decision in `rate` in all processes from now on; 0 chooses no decision. Without a tap
 * (NULL), this function and those below do nothing. */
void shadow_tap_set_rate(struct shadow_tap *tap, int64_t rate);

/* Tell the parent that there is a shadow; and learn of it, once. */
void shadow_tap_wake(struct shadow_tap *tap);
bool shadow_tap_is_woken(struct shadow_tap *tap);

/* Keep a decision if it is chosen. Input and result are copied, so call this before a reader of the
 * result changes it. */
void shadow_tap_keep(struct op *op, const struct engine_answer *answer);

/* Send what is kept: call this after the answer. */
void shadow_tap_send(struct az *az);

/* Wait for a decision, at most so many milliseconds. True if *ret is one; it lives until the next
 * call. */
bool shadow_tap_receive(struct shadow_tap *tap, int ms, struct shadow_question *ret);

/* Return how many decisions were dropped since the last call. */
int64_t shadow_tap_take_dropped(struct shadow_tap *tap);

#endif
