/* The stored tiles of the log over all audit rows: reading them, and appending leaves. */
#ifndef AZ_STORE_AUDIT_PROOF_TILES_H
#define AZ_STORE_AUDIT_PROOF_TILES_H

#include "crypto/merkle.h"
#include "store/audit/proof/line.h"

/* The extent of the log. */
struct audit_log_state {
    bool begun; /* there is a log */
    int epoch;
    int64_t size;    /* leaves */
    int64_t up_to;   /* rows up to this id are leaves */
    const char *kid; /* key that the last note of a key names, or NULL; on op->mem */
};

/* Read how far the log reaches. */
enum az_status audit_log_state_read(struct op *op, struct audit_log_state *ret);

/* A leaf of a tile of level 0. A note has the id of the row before it. */
struct audit_leaf {
    int64_t id, day;
    bool note;
};

/* One stored tile. */
struct audit_tile {
    unsigned level;
    uint64_t n;
    size_t width;
    unsigned char hash[MERKLE_TILE_WIDTH][SHA256_OCTETS];
    struct audit_leaf leaf[MERKLE_TILE_WIDTH]; /* of level 0 */
};

/* Tiles of an epoch, as merkle.h reads them. Those that were read are kept on op->mem. */
struct audit_tiles {
    struct op *op;
    int epoch;
    struct audit_tile **kept; /* talloc array */
};

/* Begin to read the tiles of an epoch. */
void audit_tiles_init(struct audit_tiles *tiles, struct op *op, int epoch);
/* Return the tiles as the functions of merkle.h read them. */
struct merkle_tiles audit_tiles_source(struct audit_tiles *tiles);

/* Read a tile; AZ_NOT_FOUND without a fault: it is not stored. */
enum az_status audit_tile_read(struct audit_tiles *tiles, unsigned level, uint64_t n,
                               const struct audit_tile **ret);

/* The right edge of the tree, to which leaves are appended in memory. */
struct audit_edge;

/* Read the edge of a log, or of its first leaves. */
enum az_status audit_edge_read(struct op *op, const struct audit_log_state *state,
                               struct audit_edge **ret);

/* Append a leaf with this hash. */
enum az_status audit_edge_append(struct audit_edge *edge, const struct audit_leaf *leaf,
                                 const merkle_hash hash);

/* Compute the root of all leaves. */
enum az_status audit_edge_root(struct audit_edge *edge, merkle_hash ret);

/* Return the tile n of a level if it is the last one with hashes; NULL: it is not kept. */
const struct audit_tile *audit_edge_last(const struct audit_edge *edge, unsigned level, uint64_t n);

/* Forget the full tiles that were not stored, for a reader that stores none. */
void audit_edge_forget(struct audit_edge *edge);

/* Return the number of leaves. */
int64_t audit_edge_size(const struct audit_edge *edge);

/*
 * Add the statement that stores what was appended since the last call and moves the state on: rows
 * up to `up_to` are leaves then. It writes nothing, and its step says that no row was written, if
 * another process has moved the state meanwhile.
 */
struct db_step *audit_edge_write(struct audit_edge *edge, struct db_batch *batch, int64_t up_to,
                                 const char *kid);

#endif
