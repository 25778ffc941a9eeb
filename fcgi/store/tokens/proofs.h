/* DPoP proofs that were used: each is good once, on all hosts together (RFC 9449 11.1). */
#ifndef AZ_STORE_TOKENS_PROOFS_H
#define AZ_STORE_TOKENS_PROOFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "crypto/digest.h"

/*
 * Remember a proof by the hash of what must not repeat, for `seconds` at least. `usable` is the
 * first moment at which it was accepted (seconds since 1970). *ret_first false: it was used before,
 * or may have been before a restore (fence.h). Of parallel calls with the same hash exactly one is
 * the first. One trip.
 */
enum az_status proof_remember(struct op *op, const unsigned char hash[SHA256_OCTETS],
                              int64_t seconds, int64_t usable, bool *ret_first);

/* Forget the proofs whose time is over (housekeeping). */
enum az_status proofs_purge(struct op *op);

#endif
