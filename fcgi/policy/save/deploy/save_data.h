/* Saving one policy data row (specification 2.5). */
#ifndef AZ_POLICY_SAVE_DEPLOY_SAVE_DATA_H
#define AZ_POLICY_SAVE_DEPLOY_SAVE_DATA_H

#include "policy/save/save.h"

/* One write to a policy data row. */
struct data_change {
    const char *data_key;    /* of the row */
    const char *payload;     /* JSON text; NULL deletes the row */
    const char *version;     /* caller's text, NULL keeps the stored one (a new row gets "1") */
    bool in_bundle;          /* shipped to the engine */
    const char *if_match;    /* hex digest the stored payload must have, or NULL */
    bool must_be_new;        /* AZ_CONFLICT when there is such a row (POST) */
    const char *message;     /* of the author, for the history, or NULL */
    const char *if_revision; /* revision that must be served before, or NULL */
    const struct save_limits *limits; /* or NULL */
};

/* The owner of a data key. */
enum save_owner {
    SAVE_OWNER_NONE,    /* free for rows of the operator */
    SAVE_OWNER_ENGINE,  /* reserved by the engine (policy.md 2.1) */
    SAVE_OWNER_SERVICE, /* below svc, and not one of the shipped rows */
};

/* Return the owner of a key. `known`: a row or a schema of this name exists, so it is one of those
 * that operators edit. */
enum save_owner save_key_owner(const char *data_key, bool known);

/*
 * Save one row with save_policy() and SAVE_KEEP. The caller has checked the payload against its
 * schema. Also: AZ_PRECONDITION_FAILED (if_match); AZ_NOT_FOUND (deleting an unknown row);
 * AZ_PROTECTED (deleting a shipped row); AZ_UNPROCESSABLE with ret->failures
 * (issuers_check). *ret_created: the row is new.
 */
enum az_status save_data_row(struct op *op, const struct data_change *change, const char *who,
                             struct save_outcome *ret, bool *ret_created);

#endif
