/* Loading the policy that comes with the program: rules, schemas, and missing data rows. */
#ifndef AZ_POLICY_SAVE_DEPLOY_SHIPPED_H
#define AZ_POLICY_SAVE_DEPLOY_SHIPPED_H

#include "policy/save/save.h"

/*
 * Load the shipped policy (SVC_DATA_DIR/policy): replace rules and schemas, add the data rows that
 * are missing; then publish if anything changed, without awaiting the engines. For `authzctl db
 * migrate`. *ret_changed counts the rows written.
 */
enum az_status save_shipped_policy(struct op *op, const char *who, int *ret_changed,
                                   struct save_outcome *ret);

#endif
