/* The Merkle tree of the audit log: RFC 6962 section 2.1, RFC 9162 sections 2.1.3.2 and 2.1.4.2. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "crypto/merkle.h"
#include "tap.h"

/* Sizes that are tried one by one: four full tiles of the lowest level and some leaves more. */
#define SIZE_MAX_TRIED 1030

static merkle_hash leaves[SIZE_MAX_TRIED];
static unsigned char upper[MERKLE_TILE_WIDTH * SHA256_OCTETS]; /* tile 0 of level 1 */
static size_t upper_width;

/* The definition of RFC 6962 section 2.1, without tiles. */
static void
naive_root(size_t begin, size_t count, merkle_hash ret)
{
    merkle_hash left, right;
    size_t k = 1;
    if (count == 0) {
        sha256("", 0, ret);
        return;
    }
    if (count == 1) {
        memcpy(ret, leaves[begin], SHA256_OCTETS);
        return;
    }
    while (k * 2 < count)
        k *= 2;
    naive_root(begin, k, left);
    naive_root(begin + k, count - k, right);
    merkle_node(left, right, ret);
}

static enum az_status
read_tile(void *context, unsigned level, uint64_t n, const unsigned char **ret, size_t *ret_width)
{
    size_t size = *(size_t *) context;
    size_t begin = (size_t) n * MERKLE_TILE_WIDTH;
    *ret = level == 0 ? leaves[begin] : upper;
    *ret_width = level == 0 ? size - begin : level == 1 && n == 0 ? upper_width : 0;
    if (*ret_width > MERKLE_TILE_WIDTH)
        *ret_width = MERKLE_TILE_WIDTH;
    return AZ_OK;
}

static void
make_leaves(void)
{
    for (size_t i = 0; i < SIZE_MAX_TRIED; i++) {
        char line[16];
        int length = snprintf(line, sizeof(line), "row %zu", i);
        merkle_leaf(line, (size_t) length, leaves[i]);
        if ((i + 1) % MERKLE_TILE_WIDTH == 0)
            merkle_subtree(leaves[i + 1 - MERKLE_TILE_WIDTH], MERKLE_TILE_WIDTH,
                           upper + SHA256_OCTETS * upper_width++);
    }
}

/* ---- checking a proof, as RFC 9162 sections 2.1.3.2 and 2.1.4.2 have it */

/* Go up by one hash of a proof: it is on the left of the path where the index is odd, or where a
 * right edge ends. */
static enum az_status
climb(uint64_t *index, uint64_t *last, const merkle_hash beside, merkle_hash one, merkle_hash other)
{
    enum az_status st;
    if ((*index & 1) != 0 || *index == *last) {
        st = merkle_node(beside, one, one);
        if (st == AZ_OK && other != NULL)
            st = merkle_node(beside, other, other);
        while ((*index & 1) == 0 && *index != 0) {
            *index >>= 1;
            *last >>= 1;
        }
    } else
        st = other != NULL ? merkle_node(other, beside, other) : merkle_node(one, beside, one);
    *index >>= 1;
    *last >>= 1;
    return st;
}

static enum az_status
check_inclusion(const merkle_hash leaf, uint64_t index, uint64_t size,
                const struct merkle_proof *proof, const merkle_hash root)
{
    merkle_hash made;
    uint64_t last = size - 1;
    enum az_status st = index < size ? AZ_OK : AZ_INVALID;
    memcpy(made, leaf, SHA256_OCTETS);
    for (size_t i = 0; i < proof->count && st == AZ_OK; i++)
        st = last > 0 ? climb(&index, &last, proof->hash[i], made, NULL) : AZ_INVALID;
    if (st != AZ_OK)
        return st;
    return last == 0 && memcmp(made, root, SHA256_OCTETS) == 0 ? AZ_OK : AZ_INVALID;
}

static enum az_status
check_consistency(uint64_t old, const merkle_hash old_root, uint64_t size, const merkle_hash root,
                  const struct merkle_proof *proof)
{
    merkle_hash before, after;
    uint64_t index = old - 1, last = size - 1;
    enum az_status st = AZ_OK;
    bool power = (old & (old - 1)) == 0;
    if (old == 0 || old > size)
        return AZ_INVALID;
    if (old == size)
        return proof->count == 0 && memcmp(old_root, root, SHA256_OCTETS) == 0 ? AZ_OK : AZ_INVALID;
    if (proof->count == 0)
        return AZ_INVALID;
    memcpy(before, power ? old_root : proof->hash[0], SHA256_OCTETS);
    memcpy(after, before, SHA256_OCTETS);
    while ((index & 1) != 0) {
        index >>= 1;
        last >>= 1;
    }
    for (size_t i = power ? 0 : 1; i < proof->count && st == AZ_OK; i++)
        st = last > 0 ? climb(&index, &last, proof->hash[i], before, after) : AZ_INVALID;
    if (st != AZ_OK)
        return st;
    return last == 0 && memcmp(before, old_root, SHA256_OCTETS) == 0
                   && memcmp(after, root, SHA256_OCTETS) == 0
               ? AZ_OK
               : AZ_INVALID;
}

static void
test_roots(void)
{
    size_t wrong = 0;
    for (size_t size = 0; size <= SIZE_MAX_TRIED; size++) {
        const struct merkle_tiles tiles = {read_tile, &size};
        merkle_hash made, wanted;
        naive_root(0, size, wanted);
        if (merkle_root(&tiles, size, made) != AZ_OK || memcmp(made, wanted, SHA256_OCTETS) != 0)
            wrong++;
    }
    is_int((int64_t) wrong, 0,
           "sizes_1_to_1030: roots from tiles are those of RFC 6962 2.1, sizes 0 to %d",
           SIZE_MAX_TRIED);
}

static void
test_vectors(void)
{
    static const unsigned char empty[] = {0xe3, 0xb0, 0xc4, 0x42};
    static const unsigned char leaf[] = {0x6e, 0x34, 0x0b, 0x9c};
    merkle_hash made;
    size_t size = 0;
    const struct merkle_tiles tiles = {read_tile, &size};
    merkle_root(&tiles, 0, made);
    is_bin(made, sizeof(empty), empty, sizeof(empty), "the root of no leaf is SHA-256 of nothing");
    merkle_leaf("", 0, made);
    is_bin(made, sizeof(leaf), leaf, sizeof(leaf), "the hash of an empty leaf has the prefix 0x00");
}

/* Prove each leaf of some sizes, and refuse the same proof for another leaf, size or root. */
static void
test_inclusion(void)
{
    static const size_t sizes[] = {1, 2, 3, 7, 8, 255, 256, 257, 511, 512, 513, 1024, 1030};
    size_t wrong = 0, accepted = 0;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        size_t size = sizes[s];
        const struct merkle_tiles tiles = {read_tile, &size};
        merkle_hash root;
        struct merkle_proof proof;
        merkle_root(&tiles, size, root);
        for (size_t i = 0; i < size; i++) {
            if (merkle_inclusion(&tiles, i, size, &proof) != AZ_OK
                || check_inclusion(leaves[i], i, size, &proof, root) != AZ_OK)
                wrong++;
            if (size > 1
                && (check_inclusion(leaves[(i + 1) % size], i, size, &proof, root) == AZ_OK
                    || check_inclusion(leaves[i], (i + 1) % size, size, &proof, root) == AZ_OK))
                accepted++;
            root[0] ^= 1;
            accepted += check_inclusion(leaves[i], i, size, &proof, root) == AZ_OK;
            root[0] ^= 1;
            proof.count++;
            memset(proof.hash[proof.count - 1], 0, SHA256_OCTETS);
            accepted += check_inclusion(leaves[i], i, size, &proof, root) == AZ_OK;
        }
    }
    is_int((int64_t) wrong, 0, "each leaf of 13 sizes is proved (RFC 9162 2.1.3.2)");
    is_int((int64_t) accepted, 0, "another leaf, index, root or a longer proof is refused");
}

static void
test_consistency(void)
{
    size_t wrong = 0, accepted = 0;
    for (size_t size = 1; size <= SIZE_MAX_TRIED; size += size < 20 ? 1 : 97) {
        const struct merkle_tiles tiles = {read_tile, &size};
        merkle_hash root, old_root;
        struct merkle_proof proof;
        merkle_root(&tiles, size, root);
        for (size_t old = 1; old <= size; old++) {
            naive_root(0, old, old_root);
            if (merkle_consistency(&tiles, old, size, &proof) != AZ_OK
                || check_consistency(old, old_root, size, root, &proof) != AZ_OK)
                wrong++;
            old_root[5] ^= 1;
            accepted += check_consistency(old, old_root, size, root, &proof) == AZ_OK;
            old_root[5] ^= 1;
            root[5] ^= 1;
            accepted += check_consistency(old, old_root, size, root, &proof) == AZ_OK;
            root[5] ^= 1;
        }
    }
    is_int((int64_t) wrong, 0, "each older size is the begin of a tree (RFC 9162 2.1.4.2)");
    is_int((int64_t) accepted, 0, "another old or new root is refused");
}

static void
test_refusals(void)
{
    size_t size = 10;
    const struct merkle_tiles tiles = {read_tile, &size};
    struct merkle_proof proof = {.count = 0};
    merkle_hash root;
    ok(merkle_inclusion(&tiles, 10, 10, &proof) == AZ_INVALID,
       "no proof of the leaf behind the last");
    ok(merkle_consistency(&tiles, 0, 10, &proof) == AZ_INVALID, "no proof for the empty tree");
    ok(merkle_consistency(&tiles, 11, 10, &proof) == AZ_INVALID, "no proof for a larger tree");
    ok(merkle_root(&tiles, 11, root) == AZ_INVALID, "a tile with too few hashes gives no root");
    ok(merkle_subtree(leaves[0], 3, root) == AZ_INVALID, "three hashes are no full subtree");
    ok(merkle_subtree(leaves[0], MERKLE_TILE_WIDTH, root) == AZ_OK, "256 hashes are");
    ok(merkle_subtree(leaves[0], 2 * MERKLE_TILE_WIDTH, root) == AZ_INVALID,
       "512 are more than a tile has");
}

int
main(void)
{
    plan(0);
    make_leaves();
    test_vectors();
    test_roots();
    test_inclusion();
    test_consistency();
    test_refusals();
    return done();
}
