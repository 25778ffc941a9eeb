/* Going back to the rows of an earlier bundle. */
#ifndef AZ_POLICY_SAVE_DEPLOY_ROLLBACK_H
#define AZ_POLICY_SAVE_DEPLOY_ROLLBACK_H

#include "policy/save/deploy/deploy.h"

/* Return the deploy that restores the rows of a bundle, except guards. `content`: as
 * bundle_history_content() returns it; it must live as long as the operation. */
enum az_status rollback_read(struct op *op, const json_t *content, struct deploy *ret);

/* Parameters of a rollback; as in struct save_plan. */
struct rollback {
    const char *who;
    const char *message;
    const char *if_revision;
    const struct save_limits *limits;
    bool dry_run; /* rehearse and count only */
};

/*
 * Restore the rows of an earlier bundle, given as bundle_history_content() returns them: a deploy
 * with replace and bundle_only, and the source rollback. The row with the guards stays as it is.
 * The content must live as long as the operation.
 */
enum az_status deploy_rollback(struct op *op, const json_t *content, const struct rollback *how,
                               struct deploy_result *ret);

#endif
