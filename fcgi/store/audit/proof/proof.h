/* Proofs from the log over all audit rows: a row in a checkpoint, and one checkpoint in another. */
#ifndef AZ_STORE_AUDIT_PROOF_PROOF_H
#define AZ_STORE_AUDIT_PROOF_PROOF_H

#include "store/db/db.h"

/*
 * Write the proof that a row is in the newest checkpoint, in the form c2sp.org/tlog-proof@v1 with
 * the row's line as `extra`, to op->mem. AZ_NOT_FOUND: there is no such row, or it is older than
 * the log. AZ_CONFLICT: the row is not sealed yet.
 */
enum az_status audit_prove(struct op *op, int64_t id, const char **ret);

/* Write the proof that the checkpoint of `old` leaves is a prefix of the checkpoint of `size`
 * leaves: their notes and the hashes of RFC 6962 section 2.1.2 in base64, one a line. AZ_NOT_FOUND:
 * one of both is not stored. */
enum az_status audit_prove_consistency(struct op *op, int64_t old, int64_t size, const char **ret);

/* Read the newest checkpoint of the present epoch on op->mem, or NULL. */
enum az_status audit_checkpoint_read(struct op *op, const char **ret);

/* List the public keys that signed or will sign checkpoints, as JWKs; the array belongs to op->mem.
 */
enum az_status audit_log_keys(struct op *op, json_t **ret);

#endif
