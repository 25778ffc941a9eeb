/*
 * The witness: of the decisions that the machine makes in this process, OPA is asked some again
 * after their answers were sent (SVC_POLICY_WITNESS_RATE). If OPA decides otherwise by the same
 * revision, OPA decides that entrypoint until the next revision, in all processes of the host.
 */
#ifndef AZ_POLICY_ENGINE_WITNESS_H
#define AZ_POLICY_ENGINE_WITNESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

#include "base/op.h"
#include "policy/engine/engine.h"

/* Entrypoints of one revision that can be in doubt; there are fewer. */
#define WITNESS_DOUBTS_MAX 32

/* Memory that the processes of a host share, zero when it is made. Words that change on their own,
 * so a process that is killed leaves nothing half-written. */
struct witness_board {
    _Atomic uint64_t doubts;                    /* entries that were ever made */
    _Atomic uint64_t doubt[WITNESS_DOUBTS_MAX]; /* the newest of them; see witness_distrusts() */
    _Atomic int64_t
        quiet_until_ms;        /* OPA did not answer and is not asked before this time; monotonic */
    _Atomic uint64_t conflict; /* the newest entry of witness_note_conflict() */
};

/* Longest wait for OPA, in milliseconds: the worker serves no other request meanwhile. */
#define WITNESS_WAIT_MS 250

/* Time for which no process of the host asks OPA after one had no answer, in milliseconds. */
#define WITNESS_PAUSE_MS 1000

/* Decisions that are kept at a time. A request has one, a call of a tool a few. */
#define WITNESS_KEPT_MAX 8

/* Waiting requests that may be served before the kept decisions. */
#define WITNESS_POSTPONED_MAX 16

/* Return the witness of a process (az->witness). The board must live as long. NULL: no memory. */
struct witness *witness_new(TALLOC_CTX *mem, struct witness_board *board);

/* True if OPA must decide this entrypoint ("svc/decision/issue"), because the machine's answer by
 * this revision was another. Never without a witness (NULL). */
bool witness_distrusts(const struct witness *witness, const char *entrypoint, const char *revision);

/* Note that the policy of a revision contradicts itself for a question of an entrypoint, for the
 * readiness of all processes of the host. */
void witness_note_conflict(struct witness *witness, const char *entrypoint, const char *revision);

/* True if that is what was noted last. */
bool witness_saw_conflict(const struct witness *witness, const char *entrypoint,
                          const char *revision);

/*
 * Keep a decision of the machine for witness_run(), one in SVC_POLICY_WITNESS_RATE, chosen at
 * random so that no order of requests evades it. Input, result and revision of the answer are
 * copied, so call this before a reader of the result changes it. Without memory nothing is kept.
 */
void witness_keep(struct op *op, const char *entrypoint, const struct engine_answer *answer);

/* True if a decision is kept. */
bool witness_has_kept(const struct witness *witness);

/*
 * Ask OPA about the decisions that are kept, and compare: call this between two requests, with an
 * operation of its own. A difference is written to the log and to the audit log with both answers,
 * and marked for witness_distrusts(). An OPA that does not answer is counted and changes nothing.
 * `waits`: another request waits, which may go first WITNESS_POSTPONED_MAX times, unless each
 * decision is to be asked about.
 */
void witness_run(struct op *op, bool waits);

#endif
