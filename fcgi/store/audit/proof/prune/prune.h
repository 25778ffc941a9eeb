/* The hashes of the log over all audit rows that are no longer kept (SVC_AUDIT_PROOF_DAYS). */
#ifndef AZ_STORE_AUDIT_PROOF_PRUNE_PRUNE_H
#define AZ_STORE_AUDIT_PROOF_PRUNE_PRUNE_H

#include "base/op.h"

/*
 * Delete the tiles of level 0, the notes and all but one checkpoint a day of the leaves that were
 * sealed more than SVC_AUDIT_PROOF_DAYS ago, after a note with a checkpoint says so. Epochs age in
 * their order. The tile that a kept checkpoint ends in stays, and so do all upper tiles. Nothing
 * while a row of such a leaf is still there. *ret is the number of leaves that have aged, in all.
 */
enum az_status audit_prune(struct op *op, int64_t *ret);

#endif
