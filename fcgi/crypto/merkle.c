#include "config.h"

#include "crypto/merkle.h"

#include <stdlib.h>
#include <string.h>

/* Prefixes that keep a leaf from being taken for a node (RFC 6962 section 2.1). */
#define LEAF_PREFIX 0x00
#define NODE_PREFIX 0x01

/* Bits of a leaf's index that a level of tiles stands above. */
#define LEVEL_BITS(level) ((level) *MERKLE_TILE_HEIGHT)

enum az_status
merkle_leaf(const void *line, size_t length, merkle_hash ret)
{
    unsigned char *octets = malloc(length + 1);
    if (octets == NULL)
        return AZ_SERVER_ERROR;
    octets[0] = LEAF_PREFIX;
    memcpy(octets + 1, line, length);
    enum az_status st = sha256(octets, length + 1, ret);
    free(octets);
    return st;
}

enum az_status
merkle_node(const merkle_hash left, const merkle_hash right, merkle_hash ret)
{
    unsigned char octets[1 + 2 * SHA256_OCTETS];
    octets[0] = NODE_PREFIX;
    memcpy(octets + 1, left, SHA256_OCTETS);
    memcpy(octets + 1 + SHA256_OCTETS, right, SHA256_OCTETS);
    return sha256(octets, sizeof(octets), ret);
}

enum az_status
merkle_subtree(const unsigned char *hashes, size_t count, merkle_hash ret)
{
    unsigned char level[MERKLE_TILE_WIDTH][SHA256_OCTETS];
    enum az_status st = AZ_OK;
    if (count == 0 || count > MERKLE_TILE_WIDTH || (count & (count - 1)) != 0)
        return AZ_INVALID;
    memcpy(level, hashes, count * SHA256_OCTETS);
    for (; count > 1 && st == AZ_OK; count /= 2)
        for (size_t i = 0; i < count / 2 && st == AZ_OK; i++)
            st = merkle_node(level[2 * i], level[2 * i + 1], level[i]);
    memcpy(ret, level[0], SHA256_OCTETS);
    return st;
}

/* Return the largest power of two below n, which is 2 or more: where RFC 6962 splits a tree. */
static uint64_t
split_of(uint64_t n)
{
    uint64_t k = 1;
    while (k * 2 < n)
        k *= 2;
    return k;
}

/* Compute the root of a full subtree from the one tile that has its hashes. */
static enum az_status
full_root(const struct merkle_tiles *tiles, uint64_t begin, uint64_t count, merkle_hash ret)
{
    const unsigned char *hashes = NULL;
    size_t width = 0;
    unsigned level = 0;
    while (count >> LEVEL_BITS(level) >= MERKLE_TILE_WIDTH)
        level++;
    uint64_t first = begin >> LEVEL_BITS(level), entries = count >> LEVEL_BITS(level);
    size_t at = (size_t) (first % MERKLE_TILE_WIDTH);
    if (level >= MERKLE_LEVELS)
        return AZ_INVALID;
    enum az_status st =
        tiles->read(tiles->context, level, first / MERKLE_TILE_WIDTH, &hashes, &width);
    if (st != AZ_OK)
        return st;
    return at + entries <= width
               ? merkle_subtree(hashes + at * SHA256_OCTETS, (size_t) entries, ret)
               : AZ_INVALID;
}

/* Compute the root of `count` leaves from `begin` on, which is a multiple of the first power of two
 * that count reaches. The recursion is as deep as a size has bits. */
static enum az_status
range_root(const struct merkle_tiles *tiles, uint64_t begin, uint64_t count, merkle_hash ret)
{
    merkle_hash right;
    if ((count & (count - 1)) == 0)
        return full_root(tiles, begin, count, ret);
    uint64_t k = split_of(count);
    enum az_status st = full_root(tiles, begin, k, ret);
    if (st == AZ_OK)
        st = range_root(tiles, begin + k, count - k, right);
    return st == AZ_OK ? merkle_node(ret, right, ret) : st;
}

enum az_status
merkle_root(const struct merkle_tiles *tiles, uint64_t size, merkle_hash ret)
{
    return size == 0 ? sha256("", 0, ret) : range_root(tiles, 0, size, ret);
}

/* Append the root of a range. */
static enum az_status
proof_add(const struct merkle_tiles *tiles, uint64_t begin, uint64_t count,
          struct merkle_proof *proof)
{
    if (proof->count == MERKLE_PROOF_MAX)
        return AZ_INVALID;
    return range_root(tiles, begin, count, proof->hash[proof->count++]);
}

/* Reverse a list that was made from the root to the leaf. */
static void
proof_reverse(struct merkle_proof *proof)
{
    for (size_t i = 0; i < proof->count / 2; i++) {
        merkle_hash kept;
        memcpy(kept, proof->hash[i], SHA256_OCTETS);
        memcpy(proof->hash[i], proof->hash[proof->count - 1 - i], SHA256_OCTETS);
        memcpy(proof->hash[proof->count - 1 - i], kept, SHA256_OCTETS);
    }
}

enum az_status
merkle_inclusion(const struct merkle_tiles *tiles, uint64_t index, uint64_t size,
                 struct merkle_proof *ret)
{
    enum az_status st = index < size ? AZ_OK : AZ_INVALID;
    uint64_t begin = 0, count = size;
    ret->count = 0;
    while (st == AZ_OK && count > 1) {
        uint64_t k = split_of(count);
        if (index < begin + k) {
            st = proof_add(tiles, begin + k, count - k, ret);
            count = k;
        } else {
            st = proof_add(tiles, begin, k, ret);
            begin += k;
            count -= k;
        }
    }
    proof_reverse(ret);
    return st;
}

enum az_status
merkle_consistency(const struct merkle_tiles *tiles, uint64_t old, uint64_t size,
                   struct merkle_proof *ret)
{
    enum az_status st = old > 0 && old <= size ? AZ_OK : AZ_INVALID;
    uint64_t begin = 0, count = size, left = old;
    ret->count = 0;
    while (st == AZ_OK && left != count) {
        uint64_t k = split_of(count);
        if (left <= k) {
            st = proof_add(tiles, begin + k, count - k, ret);
            count = k;
        } else {
            st = proof_add(tiles, begin, k, ret);
            begin += k;
            count -= k;
            left -= k;
        }
    }
    /* The old tree is itself the begin, whose root the verifier has. */
    if (st == AZ_OK && begin > 0)
        st = proof_add(tiles, begin, left, ret);
    proof_reverse(ret);
    return st;
}
