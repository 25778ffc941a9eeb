/* Shared by deploy.c and deploy_check.c. */
#ifndef AZ_POLICY_SAVE_DEPLOY_DEPLOY_PRIVATE_H
#define AZ_POLICY_SAVE_DEPLOY_DEPLOY_PRIVATE_H

#include "policy/save/deploy/deploy.h"
#include "store/policy/deploy_rows.h"

/* State of one deploy. */
struct deploy_work {
    const struct deploy *deploy;
    struct deploy_result result;  /* for the caller, after a failure too */
    bool lost;                    /* no memory for a fault or a name */
    struct save_refusal refusal;  /* of a rule for which the engine need not be asked */
    json_t *rule_index;           /* path to place in deploy->rule, so that nothing is searched */
    json_t *data_index;           /* data key to place in deploy->data */
    const char **digest;          /* hex SHA-256 of each rule's text */
    const char **data_digest;     /* hex SHA-256 of each row's payload */
    json_t **payload;             /* each row's payload */
    struct deploy_values *values; /* to be written */
};

/*
 * Check the entries without the database and fill all members but the result. AZ_INVALID_FIELDS
 * with result.faults; otherwise the status of rule_check() for the first rule that it refuses, with
 * refusal.
 */
enum az_status deploy_check(struct op *op, struct deploy_work *work);

/* Refuse to overwrite or delete rows that were saved since the deploy was made (deploy->replaced):
 * AZ_CONFLICT with their names. */
enum az_status deploy_check_replaced(struct op *op, const struct deploy_work *work);

/* Return the place of a name, or -1. */
int deploy_find(const json_t *index, const char *name);

#endif
