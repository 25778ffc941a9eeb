/* The leaf of an audit row. */
#ifndef AZ_STORE_AUDIT_PROOF_LEAF_H
#define AZ_STORE_AUDIT_PROOF_LEAF_H

#include "store/audit/proof/tiles.h"

/* The position of a row in the log. */
struct audit_place {
    uint64_t leaf; /* number */
    int64_t day;   /* number of the partition, as the index of the log says */
    merkle_hash hash;
};

/* Find the leaf of a row among the first `size` leaves of an epoch. AZ_NOT_FOUND without a fault:
 * not there. A row can be the first leaf of a tile whose predecessor ends with notes of the same
 * id. */
enum az_status audit_leaf_find(struct audit_tiles *tiles, int64_t size, int64_t id,
                               struct audit_place *ret);

/* Find the tile of level 0 that has a row, or rows before it if the log does not have it. */
enum az_status audit_leaf_tile(struct audit_tiles *tiles, int64_t size, int64_t id, uint64_t *ret);

#endif
