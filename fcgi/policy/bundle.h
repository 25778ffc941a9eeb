/* Building the bundle from its rows, and waiting for the engines to take it. */
#ifndef AZ_POLICY_BUNDLE_H
#define AZ_POLICY_BUNDLE_H

#include <stdbool.h>

#include "base/op.h"

/* The bundle's name in URLs and opa.yaml. */
#define BUNDLE_NAME "svc"

/*
 * Builds the bundle from the rows as they stand in the open transaction and publishes it there,
 * unless the rows are those of the bundle served now. *ret_revision: the one that holds the rows.
 * Conflicts between keys and packages: AZ_CONFLICT.
 */
enum az_status bundle_build(struct op *op, const char *source, const char *who,
                            const char **ret_revision);

/* Waits for the engines' verdict on what is served, at most SVC_BUNDLE_CONFIRM_TIMEOUT_MS; listens
 * since before. */
bool bundle_await(struct op *op);

/*
 * One policy save at a time on all hosts: session-level lock, waited for the confirm timeout plus
 * 5 s. *ret_session names the session that holds it, for bundle_begin.
 */
enum az_status bundle_lock(struct op *op, unsigned *ret_session);

/* BEGIN, but only on the session that holds the lock: another one would save unlocked. */
enum az_status bundle_begin(struct op *op, unsigned session);
void bundle_unlock(struct op *op);

#endif
