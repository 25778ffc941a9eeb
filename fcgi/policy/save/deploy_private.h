/* What deploy.c and deploy_check.c share. */
#ifndef AZ_POLICY_SAVE_DEPLOY_PRIVATE_H
#define AZ_POLICY_SAVE_DEPLOY_PRIVATE_H

#include "policy/save/deploy.h"
#include "store/policy/deploy_rows.h"

/* One deploy on its way. */
struct deploy_work {
    const struct deploy *deploy;
    struct deploy_result result;  /* what the caller gets, also of a failure */
    bool lost;                    /* a fault or a name could not be kept: no memory */
    struct save_refusal refusal;  /* of a rule that the engine need not be asked about */
    json_t *rule_index;           /* path to place in deploy->rule, so that nothing is searched */
    json_t *data_index;           /* data key to place in deploy->data */
    const char **digest;          /* hex SHA-256 of each rule's text */
    json_t **payload;             /* each row's payload */
    struct deploy_values *values; /* what is written */
};

/*
 * Looks at the entries without the database and fills all but the result. AZ_INVALID_FIELDS with
 * result.faults; else what rule_check says of the first rule that it refuses, with refusal.
 */
enum az_status deploy_check(struct op *op, struct deploy_work *work);

/* The place of a name, or -1. */
int deploy_find(const json_t *index, const char *name);

#endif
