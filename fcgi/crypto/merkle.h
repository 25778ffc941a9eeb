/* The Merkle tree of RFC 6962 section 2.1 over SHA-256, kept as tiles of height 8 (C2SP
 * tlog-tiles). Knows hashes alone; the caller stores the tiles. */
#ifndef AZ_CRYPTO_MERKLE_H
#define AZ_CRYPTO_MERKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "crypto/digest.h"

#define MERKLE_TILE_HEIGHT 8
#define MERKLE_TILE_WIDTH 256 /* hashes of a full tile */

/* Levels of tiles: 2^56 leaves, of which an audit log with a million rows a second is 2,000 years
 * away. */
#define MERKLE_LEVELS 7

/* Hashes of the longest proof: one for each bit of a size, and one more for consistency. */
#define MERKLE_PROOF_MAX 64

typedef unsigned char merkle_hash[SHA256_OCTETS];

/* Read the hashes of a tile: *ret has *ret_width of them, and lives until the tree is done. */
struct merkle_tiles {
    enum az_status (*read)(void *context, unsigned level, uint64_t n, const unsigned char **ret,
                           size_t *ret_width);
    void *context;
};

/* A list of hashes from the leaf towards the root, as RFC 6962 sections 2.1.1 and 2.1.2 give it. */
struct merkle_proof {
    merkle_hash hash[MERKLE_PROOF_MAX];
    size_t count;
};

/* Compute SHA-256(0x00 || line), the hash of a leaf. AZ_SERVER_ERROR: no memory, or the library
 * failed; this holds for all functions below. */
enum az_status merkle_leaf(const void *line, size_t length, merkle_hash ret);

/* Compute SHA-256(0x01 || left || right). ret may be one of both. */
enum az_status merkle_node(const merkle_hash left, const merkle_hash right, merkle_hash ret);

/* Compute the root of a full subtree whose `count` leaves, a power of two of at most
 * MERKLE_TILE_WIDTH, lie one after the other. */
enum az_status merkle_subtree(const unsigned char *hashes, size_t count, merkle_hash ret);

/* Compute the root of the first `size` leaves. A size of 0 gives SHA-256 of nothing. AZ_INVALID: a
 * tile has fewer hashes than the size needs; this holds for the proofs too. */
enum az_status merkle_root(const struct merkle_tiles *tiles, uint64_t size, merkle_hash ret);

/* Prove that the leaf `index` is one of `size` leaves (2.1.1). AZ_INVALID: index >= size. */
enum az_status merkle_inclusion(const struct merkle_tiles *tiles, uint64_t index, uint64_t size,
                                struct merkle_proof *ret);

/* Prove that the first `old` of `size` leaves are the tree of that size (2.1.2). AZ_INVALID: old is
 * 0 or more than size. */
enum az_status merkle_consistency(const struct merkle_tiles *tiles, uint64_t old, uint64_t size,
                                  struct merkle_proof *ret);

#endif
