/* Saving policy: one save at a time on all hosts. A save of rules or a deploy is rehearsed,
 * published, and kept only once every engine has activated it; a data row is written and published,
 * the engines are awaited, and it stays in any case (policy.md 2.4). */
#ifndef AZ_POLICY_SAVE_SAVE_H
#define AZ_POLICY_SAVE_SAVE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/*
 * Make the change inside the open transaction. It is called once or twice (rehearsed, then
 * applied), so it sets its results in `arg` anew each time. A return value other than AZ_OK ends
 * the save with nothing changed.
 */
typedef enum az_status save_apply_fn(struct op *op, void *arg);

/* The guarantee that a save gives. */
enum save_mode {
    SAVE_STRICT,  /* rules, deploys: active in every engine, or everything as before */
    SAVE_KEEP,    /* data rows: kept even if an engine does not activate it */
    SAVE_LATER,   /* kept, and the engines are not awaited */
    SAVE_DRY_RUN, /* rehearsed only */
};

/* Limits of what a save may change in recorded decisions (policy.md G1). */
struct save_limits {
    const char *since;     /* period that is measured (impact/period.h); NULL: 24h */
    const json_t *max;     /* object: limits by class (impact/watch.h), or NULL */
    const char *override;  /* reason to pass guards, or NULL; one line (save_message_fault) */
    const char *overrider; /* id of the admin key, or person:SUBJECT; GUARDS_OPERATOR: authzctl on
                              the database; NULL: there is no key */
};

struct save_plan {
    save_apply_fn *apply;
    void *arg; /* of apply */
    enum save_mode mode;
    const char *source;  /* triggerSource: policy-rule, policy-data, deploy, rollback, connector,
                            shipped */
    const char *who;     /* triggeredBy: the admin key's label, or authzctl */
    const char *message; /* of the author, for the history, or NULL */
    const char *if_revision;          /* revision that must be served before the save; NULL: any */
    const struct save_limits *limits; /* or NULL; guards hold in any case (limits.h) */
};

/* Longest message of a save in octets: a sentence or two. A list of bundles shows it whole. */
#define SAVE_MESSAGE_MAX 500

/* Return the fault of a message, as a text that fits after its name, or NULL. It is one line: it is
 * shown in lists. */
const char *save_message_fault(const char *message);

enum save_activation {
    SAVE_CONFIRMED,   /* every living engine reports it active */
    SAVE_PENDING,     /* kept without confirmation: too late, or not awaited (SAVE_LATER) */
    SAVE_UNCONFIRMED, /* SAVE_STRICT with SVC_BUNDLE_CONFIRM_ACTIVATION=false */
    SAVE_REHEARSED,   /* SAVE_DRY_RUN */
};

/* Return the word of the API: confirmed, pending, unconfirmed or dry-run. */
const char *save_activation_word(enum save_activation activation);

/* The reason for withdrawing a strict save (specification 7.2). Texts on op->mem. */
struct save_refusal {
    const char *error; /* bundle_not_activated, opa_unreachable or impact_refused; NULL: nothing was
                          refused */
    const char *description; /* the engine's own words, with file:row if it gave them */
    const char *expected;    /* revision that was to become active */
    const char *active;      /* revision that is active, "" if there is none */
    json_t *members;         /* further members of the answer, or NULL */
};

/* Result of a save. Texts on op->mem. */
struct save_outcome {
    const char *revision;      /* of the bundle that holds the change */
    const char *etag;          /* its hex SHA-256 */
    const char *previous_etag; /* of the bundle served before, "" if there is none */
    enum save_activation activation;
    struct save_refusal refusal;
    const char *plan_warning;  /* what OPA decides although the machine should; NULL: nothing */
    const char *trial_warning; /* what was not tried before the engines got it; NULL: nothing */
    json_t *warnings;   /* about rules that decide nothing (rule_warnings.h); NULL: not judged */
    const char *impact; /* what was measured, for X-Policy-Impact; NULL: nothing was */
    bool overridden;    /* the caller gave the reason that lets a save pass or change guards */
    bool row_changed; /* AZ_PRECONDITION_FAILED of a data row: its payload is not that of if_match;
                         false: the revision is not the one asked for */
    json_t *failures; /* of a data row that does not go with another one, on op->mem, or NULL */
};

/*
 * Save. AZ_OK; the status that apply() returned; AZ_PRECONDITION_FAILED (if_revision; judged before
 * apply() and under the save lock, so that of two saves after the same revision one is refused);
 * AZ_SAVE_IN_PROGRESS (another save holds the lock
 * for longer than SVC_BUNDLE_CONFIRM_TIMEOUT_MS and 5 s); AZ_CONFLICT (the rows collide, see
 * bundle.h); AZ_TOO_LARGE (the bundle exceeds ARCHIVE_MAX); AZ_UNPROCESSABLE (SAVE_STRICT: the
 * engines did not activate it; ret->refusal says why, and everything is as before);
 * AZ_BUSY (a save with limits: another measurement does not end);
 * AZ_UNAVAILABLE (the database connection was lost; the next save or bundle request withdraws what
 * was not committed).
 */
enum az_status save_policy(struct op *op, const struct save_plan *plan, struct save_outcome *ret);

/* Refuse a change for which the engine need not be asked (a Cedar rule with an error): fill the
 * refusal and fail with AZ_UNPROCESSABLE. For apply(). */
enum az_status save_refuse(struct op *op, struct save_refusal *ret, const char *description);

#endif
