/* Find the positions of many rows in the log over all audit rows. */
#ifndef AZ_STORE_AUDIT_PROOF_LEAVES_H
#define AZ_STORE_AUDIT_PROOF_LEAVES_H

#include "crypto/digest.h"
#include "store/audit/proof/tiles.h"

/* Leaves of many rows. The last tile is kept, since rows come in the order of their ids. */
struct audit_leaves {
    int epoch;
    int64_t size; /* leaves; 0: there is no log */
    int64_t before,
        up_to; /* rows up to `before` are older than the log, those after `up_to` younger */
    struct audit_tile tile;
};

/* Begin to look for leaves in the log as it is now. */
enum az_status audit_leaves_begin(struct op *op, struct audit_leaves *ret);

/* A leaf. */
struct audit_row_leaf {
    int64_t number; /* from 0; -1: the log does not have the row */
    char hash[SHA256_HEX_SIZE];
};

/* Find the leaf of a row. */
enum az_status audit_leaves_find(struct op *op, struct audit_leaves *leaves, int64_t id,
                                 struct audit_row_leaf *ret);

#endif
