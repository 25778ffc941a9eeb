/* Proofs of inclusion (RFC 6962 2.1.1) of trees of any size: each is accepted by the algorithm of
 * RFC 9162 2.1.3.2, and none is for another leaf. */
#include "config.h"

#include <string.h>
#include <talloc.h>

#include "crypto/merkle.h"
#include "fuzz/fuzz.h"

#define LEAVES_MAX 700 /* two full tiles and one that is not */

struct tree {
    size_t size;
    unsigned char leaf[LEAVES_MAX][SHA256_OCTETS];
    unsigned char upper[LEAVES_MAX / MERKLE_TILE_WIDTH][SHA256_OCTETS];
};

static enum az_status
read_tile(void *context, unsigned level, uint64_t n, const unsigned char **ret, size_t *ret_width)
{
    struct tree *tree = context;
    size_t full = tree->size / MERKLE_TILE_WIDTH;
    MUST(level < 2);
    if (level == 1) {
        *ret = tree->upper[0];
        *ret_width = full;
        return AZ_OK;
    }
    MUST(n * MERKLE_TILE_WIDTH < tree->size);
    size_t left = tree->size - n * MERKLE_TILE_WIDTH;
    *ret = tree->leaf[n * MERKLE_TILE_WIDTH];
    *ret_width = left < MERKLE_TILE_WIDTH ? left : MERKLE_TILE_WIDTH;
    return AZ_OK;
}

/* Compute the root that a proof leads to (RFC 9162 2.1.3.2). False: the proof has another length.
 */
static bool
root_by_proof(const struct merkle_proof *proof, uint64_t index, uint64_t size,
              const unsigned char *leaf, merkle_hash ret)
{
    uint64_t fn = index, sn = size - 1;
    memcpy(ret, leaf, SHA256_OCTETS);
    for (size_t i = 0; i < proof->count; i++) {
        if (sn == 0)
            return false;
        if ((fn & 1) != 0 || fn == sn) {
            MUST(merkle_node(proof->hash[i], ret, ret) == AZ_OK);
            while ((fn & 1) == 0 && fn != 0)
                fn >>= 1, sn >>= 1;
        } else {
            MUST(merkle_node(ret, proof->hash[i], ret) == AZ_OK);
        }
        fn >>= 1;
        sn >>= 1;
    }
    return sn == 0;
}

/* Make a tree whose leaves differ, of a size and with contents that the input says. */
static struct tree *
make_tree(const uint8_t *data, size_t size)
{
    struct tree *tree = talloc_zero(NULL, struct tree);
    tree->size = 1 + (size_t) (data[0] << 8 | data[1]) % LEAVES_MAX;
    for (size_t i = 0; i < tree->size; i++) {
        unsigned char line[3] = {(unsigned char) (i >> 8), (unsigned char) i, data[i % size]};
        MUST(merkle_leaf(line, sizeof(line), tree->leaf[i]) == AZ_OK);
    }
    for (size_t i = 0; i < tree->size / MERKLE_TILE_WIDTH; i++)
        MUST(merkle_subtree(tree->leaf[i * MERKLE_TILE_WIDTH], MERKLE_TILE_WIDTH, tree->upper[i])
             == AZ_OK);
    return tree;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct merkle_proof proof;
    merkle_hash root, found;
    if (size < 4)
        return 0;
    struct tree *tree = make_tree(data, size);
    const struct merkle_tiles tiles = {read_tile, tree};
    uint64_t index = (uint64_t) (data[2] << 8 | data[3]) % tree->size;
    MUST(merkle_root(&tiles, tree->size, root) == AZ_OK);
    MUST(merkle_inclusion(&tiles, index, tree->size, &proof) == AZ_OK);
    MUST(root_by_proof(&proof, index, tree->size, tree->leaf[index], found));
    MUST(memcmp(root, found, sizeof(root)) == 0);
    uint64_t other = (index + 1) % tree->size;
    if (other != index) {
        bool leads = root_by_proof(&proof, index, tree->size, tree->leaf[other], found);
        MUST(!leads || memcmp(root, found, sizeof(root)) != 0);
    }
    MUST(merkle_inclusion(&tiles, tree->size, tree->size, &proof) == AZ_INVALID);
    talloc_free(tree);
    return 0;
}
