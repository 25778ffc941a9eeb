/* Saving policy: one save at a time on all hosts; written, published, waited for (policy.md 2.4,
 * decisions.md "Policy"). */
#ifndef AZ_POLICY_SAVE_H
#define AZ_POLICY_SAVE_H

#include <stdbool.h>

#include "base/op.h"

/* One write to a policy data row. */
struct data_change {
    const char *data_key; /* which row */
    const char *payload;  /* JSON text; NULL deletes the row */
    const char *version;  /* caller's text, NULL keeps the stored one (a new row gets "1") */
    bool in_bundle;       /* shipped to the engine */
    const char *if_match; /* hex digest the stored payload must have, or NULL */
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

/* What became of it. */
struct save_outcome {
    const char *revision; /* of the bundle that holds the change, on op->mem */
    bool confirmed;       /* every engine reports it active */
    bool created;         /* the row is new */
};

/*
 * Writes, publishes and waits at most SVC_BUNDLE_CONFIRM_TIMEOUT_MS for the engines; never rolled
 * back. The payload has been held against its schema before. Outcomes: AZ_OK; AZ_SAVE_IN_PROGRESS
 * (another save holds the lock for too long); AZ_PRECONDITION_FAILED (if_match); AZ_NOT_FOUND
 * (deleting an unknown row); AZ_PROTECTED (deleting a shipped row); AZ_CONFLICT (the key is a
 * prefix of another, or lies where a rule's package is). `who` is the admin key's label or
 * "authzctl"; `source` is "policy-data".
 */
enum az_status save_data_row(struct op *op, const struct data_change *change, const char *source,
                             const char *who, struct save_outcome *ret);

/*
 * Loads the shipped policy (SVC_DATA_DIR/policy): rules replaced, schemas replaced, data rows added
 * where missing; then publishes if anything changed. For `authzctl db migrate`. *ret_changed counts
 * rows written.
 */
enum az_status save_shipped_policy(struct op *op, const char *who, int *ret_changed,
                                   struct save_outcome *ret);

#endif
