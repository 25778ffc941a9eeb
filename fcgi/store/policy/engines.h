/* What the engines fetched and report, and what follows from it: which revisions may decide, and
 * whether a candidate was taken (policy.md 2.4). */
#ifndef AZ_STORE_POLICY_ENGINES_H
#define AZ_STORE_POLICY_ENGINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* An engine that has not reported for so long is gone, and nobody waits for it. Seconds. An idle
 * one reports after each long poll, every 25 s. */
#define ENGINE_SILENT_AFTER 60

/* One status of one engine. */
struct engine_report {
    const char *instance; /* its label */
    const char *revision; /* active, "" if none */
    const char *code;     /* bundle_error, or "" */
    const char *message;  /* with file:row where known, or "" */
    int64_t tried_ms;     /* its own time of its last attempt, milliseconds since 1970; 0 if none */
    bool transport;       /* the error is one of fetching, not of the bundle */
};

/* Records a status and notifies the savers; then settles as below. */
enum az_status engines_report(struct op *op, const struct engine_report *report);

/* An engine (NULL: it does not name itself) is about to get a bundle's body. The time is our
 * clock's, which is the engine's where it runs beside us. */
enum az_status engines_note_fetch(struct op *op, int64_t bundle, const char *instance);

/* An engine asked for the bundle again: it has done something with the candidate. Wakes its saver,
 * who asks the engine beside it. */
enum az_status engines_wake_saver(struct op *op);

/*
 * When the engines heard of within ENGINE_SILENT_AFTER all have the served revision active, makes
 * it the only acceptable one; a candidate is left to its saver. *ret_confirmed: that is so now.
 * Without any report `own_revision` (of GET /v1/status, may be NULL) decides.
 */
enum az_status engines_settle(struct op *op, const char *own_revision, bool *ret_confirmed);

/* What is known of a candidate. Texts on op->mem. */
struct engines_verdict {
    bool taken;          /* every engine heard of lately has it; or none was, and ours has */
    const char *refusal; /* the message of the first engine that refused it; NULL: none did */
    const char *active; /* revision active where it was refused, or where it is not active yet; NULL
                           when no engine is heard of */
    const char *late;   /* the engine that is waited for and was heard of longest ago; NULL: none */
    bool heard;         /* some engine reported since it was published */
};

/* `own_revision` as above. */
enum az_status engines_verdict(struct op *op, int64_t bundle, const char *own_revision,
                               struct engines_verdict *ret);

/* Whether decisions of a revision count, or will in a moment: it is an acceptable one, or a
 * candidate that is being tried. */
enum az_status engines_may_decide(struct op *op, const char *revision, bool *ret);

/* Deletes the reports of engines that have been silent for a day (housekeeping). */
enum az_status engines_forget(struct op *op);

#endif
