/* Saving policy: one save at a time on all hosts. A save of rules or a deploy is rehearsed,
 * published, and stands only when the engines have taken it; a data row is written, published and
 * waited for, but stays (policy.md 2.4, decisions.md "Policy"). */
#ifndef AZ_POLICY_SAVE_SAVE_H
#define AZ_POLICY_SAVE_SAVE_H

#include <stdbool.h>

#include "base/op.h"

/*
 * Makes the change inside the transaction that is open. Called once or twice (rehearsed, then
 * applied), so what it leaves in `arg` it sets anew each time. What it returns other than AZ_OK
 * ends the save with nothing changed.
 */
typedef enum az_status save_apply_fn(struct op *op, void *arg);

/* How far a save goes. */
enum save_mode {
    SAVE_STRICT,  /* rules, deploys: active in every engine, or everything as before */
    SAVE_KEEP,    /* data rows: stays whatever the engines say */
    SAVE_LATER,   /* the same, and not waited for */
    SAVE_DRY_RUN, /* rehearsed only */
};

struct save_plan {
    save_apply_fn *apply;
    void *arg; /* its own */
    enum save_mode mode;
    const char *source; /* triggerSource: policy-rule, policy-data, deploy, rollback, shipped */
    const char *who;    /* triggeredBy: the admin key's label, or authzctl */
};

enum save_activation {
    SAVE_CONFIRMED,   /* every engine reports it active */
    SAVE_PENDING,     /* not in time, or not waited for, but kept (SAVE_KEEP, SAVE_LATER) */
    SAVE_UNCONFIRMED, /* SAVE_STRICT not waited for: SVC_BUNDLE_CONFIRM_ACTIVATION=false */
    SAVE_REHEARSED,   /* SAVE_DRY_RUN */
};

/* The word of the API: confirmed, pending, unconfirmed, dry-run. */
const char *save_activation_word(enum save_activation activation);

/* Why a strict save was taken back (specification 7.2). Texts on op->mem. */
struct save_refusal {
    const char *error; /* bundle_not_activated or opa_unreachable; NULL: nothing was refused */
    const char *description; /* the engine's own words, with file:row where it says so */
    const char *expected;    /* revision that was to become active */
    const char *active;      /* revision that is, "" if none */
};

/* What became of it. Texts on op->mem. */
struct save_outcome {
    const char *revision;      /* of the bundle that holds the change */
    const char *etag;          /* its hex SHA-256 */
    const char *previous_etag; /* of the bundle served before, "" if none */
    enum save_activation activation;
    struct save_refusal refusal;
};

/*
 * Outcomes: AZ_OK; what apply() said; AZ_SAVE_IN_PROGRESS (another save holds the lock for longer
 * than SVC_BUNDLE_CONFIRM_TIMEOUT_MS and 5 s); AZ_CONFLICT (the rows would collide, see
 * bundle.h); AZ_TOO_LARGE (their bundle would be); AZ_UNPROCESSABLE (SAVE_STRICT: the engines did
 * not take it; ret->refusal says why, and everything is as before); AZ_UNAVAILABLE (the database
 * went away; what was not committed is taken back by whoever comes next).
 */
enum az_status save_policy(struct op *op, const struct save_plan *plan, struct save_outcome *ret);

/* Fills the refusal of something that is known to be refused without asking (a Cedar rule), and
 * fails with AZ_UNPROCESSABLE. For apply(). */
enum az_status save_refuse(struct op *op, struct save_refusal *ret, const char *description);

/* One write to a policy data row. */
struct data_change {
    const char *data_key; /* which row */
    const char *payload;  /* JSON text; NULL deletes the row */
    const char *version;  /* caller's text, NULL keeps the stored one (a new row gets "1") */
    bool in_bundle;       /* shipped to the engine */
    const char *if_match; /* hex digest the stored payload must have, or NULL */
    bool must_be_new;     /* AZ_CONFLICT when there is such a row (POST) */
};

/* Whose a data key is. */
enum save_owner {
    SAVE_OWNER_NONE,    /* free for rows of the operator */
    SAVE_OWNER_ENGINE,  /* the engine keeps it for itself (policy.md 2.1) */
    SAVE_OWNER_SERVICE, /* ours, beyond the rows that are shipped */
};

/* The owner of a key. `known`: there is a row or a schema of this name, so it is one of those that
 * operators edit. */
enum save_owner save_key_owner(const char *data_key, bool known);

/*
 * save_policy with SAVE_KEEP for one row. The payload has been held against its schema before.
 * Also: AZ_PRECONDITION_FAILED (if_match); AZ_NOT_FOUND (deleting an unknown row); AZ_PROTECTED
 * (deleting a shipped row). *ret_created: the row is new.
 */
enum az_status save_data_row(struct op *op, const struct data_change *change, const char *who,
                             struct save_outcome *ret, bool *ret_created);

/*
 * Loads the shipped policy (SVC_DATA_DIR/policy): rules replaced, schemas replaced, data rows added
 * where missing; then publishes if anything changed, and does not wait. For `authzctl db migrate`.
 * *ret_changed counts rows written.
 */
enum az_status save_shipped_policy(struct op *op, const char *who, int *ret_changed,
                                   struct save_outcome *ret);

#endif
