/* Going back to the rows of an earlier bundle. */
#ifndef AZ_POLICY_SAVE_ROLLBACK_H
#define AZ_POLICY_SAVE_ROLLBACK_H

#include "policy/save/deploy.h"

/* Return the deploy that restores the rows of a bundle, given as bundle_history_content() returns
 * them; the content must live as long as the operation. */
enum az_status rollback_read(struct op *op, const json_t *content, struct deploy *ret);

/*
 * Restore the rows of an earlier bundle, given as bundle_history_content() returns them: a deploy
 * with replace and bundle_only, and the source rollback. The content must live as long as the
 * operation. `message` is for the history, or NULL.
 */
enum az_status deploy_rollback(struct op *op, const json_t *content, const char *who,
                               const char *message, struct deploy_result *ret);

#endif
