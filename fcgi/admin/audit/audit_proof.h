/* The log over all audit rows that proves itself: checkpoint, keys, tiles, and the proof of a row
 * (decisions.md "Audit proof"). */
#ifndef AZ_ADMIN_AUDIT_PROOF_H
#define AZ_ADMIN_AUDIT_PROOF_H

#include "http/route.h"

/* True if everyone may read checkpoint and keys: SVC_AUDIT_PUBLIC. */
bool audit_proof_is_public(const struct settings *cfg);

/* Answer with the newest checkpoint, a signed note. 404: there is none yet. */
enum az_status audit_checkpoint_handle(struct request *req);

/* Answer with all keys that ever signed a checkpoint, as a JWK Set. */
enum az_status audit_keys_handle(struct request *req);

/* Answer with the hashes of a tile: LEVEL/N or LEVEL/N.p/WIDTH below the path, as
 * c2sp.org/tlog-tiles writes it. 404: the tile is not stored, or has fewer hashes. */
enum az_status audit_tile_handle(struct request *req);

/* Answer with the proof that a row is in the newest checkpoint, c2sp.org/tlog-proof@v1. 409: the
 * row is not sealed yet. */
enum az_status audit_proof_handle(struct request *req);

#endif
