#include "config.h"

#include "store/audit/proof/leaf.h"

#include <string.h>

/* Return the id of the first leaf of a tile of level 0. A tile that has aged is before all rows. */
static enum az_status
first_id(struct audit_tiles *tiles, uint64_t n, int64_t *ret)
{
    const struct audit_tile *tile;
    enum az_status st = audit_tile_read(tiles, 0, n, &tile);
    *ret = st == AZ_OK ? tile->leaf[0].id : INT64_MIN;
    return st == AZ_NOT_FOUND ? AZ_OK : st;
}

/* Find the tile that may have a row: the last one whose first leaf has no larger id. */
static enum az_status
find_tile(struct audit_tiles *tiles, int64_t id, uint64_t count, const struct audit_tile **ret)
{
    uint64_t low = 0, high = count;
    enum az_status st = AZ_OK;
    while (st == AZ_OK && high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        int64_t first = 0;
        st = first_id(tiles, middle, &first);
        if (first <= id)
            low = middle;
        else
            high = middle;
    }
    return st == AZ_OK ? audit_tile_read(tiles, 0, low, ret) : st;
}

enum az_status
audit_leaf_find(struct audit_tiles *tiles, int64_t size, int64_t id, struct audit_place *ret)
{
    const struct audit_tile *tile;
    uint64_t count = ((uint64_t) size + MERKLE_TILE_WIDTH - 1) / MERKLE_TILE_WIDTH;
    enum az_status st = count > 0 ? find_tile(tiles, id, count, &tile) : AZ_NOT_FOUND;
    while (st == AZ_OK) {
        for (size_t i = 0; i < tile->width; i++)
            if (tile->leaf[i].id == id && !tile->leaf[i].note) {
                ret->leaf = tile->n * MERKLE_TILE_WIDTH + i;
                ret->day = tile->leaf[i].day;
                memcpy(ret->hash, tile->hash[i], SHA256_OCTETS);
                return AZ_OK;
            }
        if (tile->n == 0 || tile->leaf[0].id < id)
            return AZ_NOT_FOUND;
        st = audit_tile_read(tiles, 0, tile->n - 1, &tile);
    }
    return st;
}

enum az_status
audit_leaf_tile(struct audit_tiles *tiles, int64_t size, int64_t id, uint64_t *ret)
{
    const struct audit_tile *tile;
    uint64_t count = ((uint64_t) size + MERKLE_TILE_WIDTH - 1) / MERKLE_TILE_WIDTH;
    enum az_status st = find_tile(tiles, id, count, &tile);
    *ret = st == AZ_OK ? tile->n : 0;
    return st;
}
