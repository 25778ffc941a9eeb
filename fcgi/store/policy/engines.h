/* Fetches and reports of the engines, and their consequences: which revisions may decide, and
 * whether a candidate was activated (policy.md 2.4). */
#ifndef AZ_STORE_POLICY_ENGINES_H
#define AZ_STORE_POLICY_ENGINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json/fields.h"
#include "base/op.h"
#include "store/db/rows/json_rows.h"

/* An engine that has not reported for this long, or has not asked for its bundle for this long,
 * counts as gone. Seconds, for SQL. An idle engine does both after each long poll, every 25 s. */
#define ENGINE_SILENT_AFTER "60"

/* The last report of each engine, for an administrator, and its members. At most 1000: whoever has
 * the bundle key can report under any name. */
extern const struct json_rows engine_rows;
extern const struct field_table engine_view;

/* One status of one engine. */
struct engine_report {
    const char *instance; /* its label */
    const char *revision; /* active revision, "" if there is none */
    const char *code;     /* bundle_error, or "" */
    const char *message;  /* with file:row where known, or "" */
    int64_t tried_ms; /* time of its last attempt by its own clock, milliseconds since 1970; 0 if
                         none */
    bool transport;   /* the error is about the transport and not about the bundle */
};

/* Record a status and notify the saves that wait; then do what engines_settle does. */
enum az_status engines_report(struct op *op, const struct engine_report *report);

/* Record that an engine (NULL: it does not name itself) asks for its bundle, and wake the save that
 * waits: the engine is alive, and has done with the bundle that it was given before. */
enum az_status engines_note_asked(struct op *op, const char *instance);

/* Record that an engine (NULL as above) is about to get a bundle's body. The time is that of our
 * clock, which is the engine's if it runs on the same host. */
enum az_status engines_note_fetch(struct op *op, int64_t bundle, const char *instance);

/*
 * Call the engines: end all long polls, so that each living engine asks again. Engines that do not
 * are not counted any more until they ask. *ret_before is for engines_unanswered(), on op->mem;
 * NULL: fewer than two engines count, and no engine was called.
 */
enum az_status engines_call(struct op *op, const char **ret_before);

/* Most engines that a text names; a hundred names would hide what it says. For
 * SQL. */
#define ENGINES_NAMED_MAX "5"

/* Read the names of the engines that were called and have not asked since; NULL: all have. */
enum az_status engines_unanswered(struct op *op, const char *before, const char **ret);

/* The saver's own findings. */
struct engines_look {
    const char *own_revision; /* active in the engine beside it (GET /v1/status), or NULL */
    const char *own_instance; /* name of that engine, or NULL */
    bool impatient; /* that engine has had the bundle for SVC_BUNDLE_FETCH_GRACE_MS: do not
                       wait for one that fetched the bundle and tells nothing of it */
};

/* Make the served revision the only acceptable one if an engine has it active and no other engine
 * is awaited; a candidate is left to its save. *ret_confirmed: this was done. *ret_late (unless
 * NULL): names of the awaited engines, or NULL. */
enum az_status engines_settle(struct op *op, const struct engines_look *look, bool *ret_confirmed,
                              const char **ret_late);

/* State of a candidate at the engines. Texts on op->mem. */
struct engines_verdict {
    bool taken;             /* an engine has it, and no other engine is awaited */
    const char *refusal;    /* message of an engine that refused it, or NULL */
    const char *refused_by; /* name of that engine */
    const char *active;     /* active revision of an engine that refused it or does not have it yet;
                               NULL if no engine reported */
    const char *late; /* names of the engines that are awaited, oldest report first, or NULL */
    bool heard;       /* an engine reported since the candidate was published */
};

/* Read the state of a candidate. */
enum az_status engines_verdict(struct op *op, int64_t bundle, const struct engines_look *look,
                               struct engines_verdict *ret);

/* *ret is true if decisions of a revision count, or may in a moment: the revision is acceptable, or
 * a candidate. */
enum az_status engines_may_decide(struct op *op, const char *revision, bool *ret);

/* *ret is true if decisions of a revision count: the revision is acceptable. One trip. */
enum az_status engines_decide(struct op *op, const char *revision, bool *ret);

/* Delete the reports of engines that have been silent for a day (housekeeping). */
enum az_status engines_forget(struct op *op);

#endif
