#include "config.h"

#include "store/audit/leaves.h"

/* Return the id of the first leaf of a tile of level 0. */
static enum az_status
first_id(struct audit_tiles *tiles, uint64_t n, int64_t *ret)
{
    const struct audit_tile *tile;
    enum az_status st = audit_tile_read(tiles, 0, n, &tile);
    if (st == AZ_OK)
        *ret = tile->leaf[0].id;
    return st;
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

/* A row can be the first leaf of a tile whose predecessor ends with notes of the same id. */
enum az_status
audit_leaf_find(struct audit_tiles *tiles, int64_t id, int64_t size, uint64_t *ret)
{
    const struct audit_tile *tile;
    uint64_t count = ((uint64_t) size + MERKLE_TILE_WIDTH - 1) / MERKLE_TILE_WIDTH;
    enum az_status st = count > 0 ? find_tile(tiles, id, count, &tile) : AZ_NOT_FOUND;
    while (st == AZ_OK) {
        for (size_t i = 0; i < tile->width; i++)
            if (tile->leaf[i].id == id && !tile->leaf[i].note) {
                *ret = tile->n * MERKLE_TILE_WIDTH + i;
                return AZ_OK;
            }
        if (tile->n == 0 || tile->leaf[0].id < id)
            return AZ_NOT_FOUND;
        st = audit_tile_read(tiles, 0, tile->n - 1, &tile);
    }
    return st;
}

/* ---- rows that lie near each other ---- */

enum az_status
audit_leaves_begin(struct op *op, struct audit_leaves *ret)
{
    struct audit_log_state state;
    const struct audit_tile *first;
    struct audit_tiles tiles;
    *ret = (struct audit_leaves){.size = 0};
    enum az_status st = audit_log_state_read(op, &state);
    if (st != AZ_OK || !state.begun || state.size == 0)
        return st;
    audit_tiles_init(&tiles, op, state.epoch);
    st = audit_tile_read(&tiles, 0, 0, &first);
    if (st == AZ_NOT_FOUND)
        return AZ_OK; /* damaged: rows have no number then */
    if (st != AZ_OK)
        return st;
    ret->epoch = state.epoch;
    ret->size = state.size;
    ret->before = first->leaf[0].id;
    ret->up_to = state.up_to;
    ret->tile = *first;
    return AZ_OK;
}

/* Look for a row in the tile that is kept. */
static bool
find_in(const struct audit_tile *tile, int64_t id, struct audit_place *ret)
{
    for (size_t i = 0; i < tile->width; i++)
        if (tile->leaf[i].id == id && !tile->leaf[i].note) {
            ret->number = (int64_t) (tile->n * MERKLE_TILE_WIDTH + i);
            digest_hex(tile->hash[i], ret->hash);
            return true;
        }
    return false;
}

/* Keep the tile n in place of the one before. */
static enum az_status
keep_tile(struct audit_tiles *tiles, struct audit_leaves *leaves, uint64_t n)
{
    const struct audit_tile *tile;
    enum az_status st = audit_tile_read(tiles, 0, n, &tile);
    if (st == AZ_OK)
        leaves->tile = *tile;
    return st;
}

enum az_status
audit_leaves_find(struct op *op, struct audit_leaves *leaves, int64_t id, struct audit_place *ret)
{
    uint64_t leaf;
    struct audit_tiles tiles;
    *ret = (struct audit_place){.number = -1};
    if (leaves->size == 0 || id <= leaves->before || id > leaves->up_to
        || find_in(&leaves->tile, id, ret))
        return AZ_OK;
    audit_tiles_init(&tiles, op, leaves->epoch);
    enum az_status st = AZ_OK;
    if (leaves->tile.n > 0 && id < leaves->tile.leaf[0].id)
        st = keep_tile(&tiles, leaves, leaves->tile.n - 1); /* an export goes down */
    if (st == AZ_OK && find_in(&leaves->tile, id, ret))
        return AZ_OK;
    if (st == AZ_OK)
        st = audit_leaf_find(&tiles, id, leaves->size, &leaf);
    if (st == AZ_OK)
        st = keep_tile(&tiles, leaves, leaf / MERKLE_TILE_WIDTH);
    if (st == AZ_OK)
        find_in(&leaves->tile, id, ret);
    return st == AZ_NOT_FOUND ? AZ_OK : st;
}

enum az_status
audit_leaves_tile(struct op *op, const struct audit_leaves *leaves, int64_t id, uint64_t *ret)
{
    struct audit_tiles tiles;
    const struct audit_tile *tile;
    uint64_t count = ((uint64_t) leaves->size + MERKLE_TILE_WIDTH - 1) / MERKLE_TILE_WIDTH;
    audit_tiles_init(&tiles, op, leaves->epoch);
    enum az_status st = find_tile(&tiles, id, count, &tile);
    *ret = st == AZ_OK ? tile->n : 0;
    return st;
}
