/* Fetches and reports of the engines, and their consequences: which revisions may decide, and
 * whether a candidate was activated (policy.md 2.4). */
#ifndef AZ_STORE_POLICY_ENGINES_H
#define AZ_STORE_POLICY_ENGINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* An engine that has not reported for this long counts as gone. Seconds. An idle engine reports
 * after each long poll, every 25 s. */
#define ENGINE_SILENT_AFTER 60

/* One status of one engine. */
struct engine_report {
    const char *instance; /* its label */
    const char *revision; /* active revision, "" if none */
    const char *code;     /* bundle_error, or "" */
    const char *message;  /* with file:row where known, or "" */
    int64_t tried_ms; /* time of its last attempt by its own clock, milliseconds since 1970; 0 if
                         none */
    bool transport;   /* the error is about the transport and not about the bundle */
};

/* Record a status and notify the saves that wait; then do what engines_settle does. */
enum az_status engines_report(struct op *op, const struct engine_report *report);

/* Record that an engine (NULL: it does not name itself) is about to get a bundle's body. The time
 * is that of our clock, which is the engine's if it runs on the same host. */
enum az_status engines_note_fetch(struct op *op, int64_t bundle, const char *instance);

/* Wake the save that waits, because an engine asked for the bundle again and so has processed the
 * candidate. */
enum az_status engines_wake_saver(struct op *op);

/* Make the served revision the only acceptable one if all engines that reported within
 * ENGINE_SILENT_AFTER have it active; a candidate is left to its save. *ret_confirmed: it is.
 * Without any report `own_revision` (of GET /v1/status, may be NULL) decides. */
enum az_status engines_settle(struct op *op, const char *own_revision, bool *ret_confirmed);

/* State of a candidate at the engines. Texts on op->mem. */
struct engines_verdict {
    bool taken; /* every engine that reported lately has it; or none did, and our own has it */
    const char *refusal; /* message of the first engine that refused it; NULL: none did */
    const char *active;  /* active revision of an engine that refused it or does not have it yet;
                            NULL if no engine reported */
    const char *late;    /* engine without it whose report is the oldest; NULL: none */
    bool heard;          /* an engine reported since the candidate was published */
};

/* Read the state of a candidate; `own_revision` as above. */
enum az_status engines_verdict(struct op *op, int64_t bundle, const char *own_revision,
                               struct engines_verdict *ret);

/* *ret is true if decisions of a revision count, or may in a moment: it is acceptable, or a
 * candidate. */
enum az_status engines_may_decide(struct op *op, const char *revision, bool *ret);

/* Delete the reports of engines that have been silent for a day (housekeeping). */
enum az_status engines_forget(struct op *op);

#endif
