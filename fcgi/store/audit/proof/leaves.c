#include "config.h"

#include "store/audit/proof/leaves.h"

#include "store/audit/proof/leaf.h"

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
find_in(const struct audit_tile *tile, int64_t id, struct audit_row_leaf *ret)
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
audit_leaves_find(struct op *op, struct audit_leaves *leaves, int64_t id,
                  struct audit_row_leaf *ret)
{
    struct audit_place place;
    struct audit_tiles tiles;
    *ret = (struct audit_row_leaf){.number = -1};
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
        st = audit_leaf_find(&tiles, leaves->size, id, &place);
    if (st == AZ_OK)
        st = keep_tile(&tiles, leaves, place.leaf / MERKLE_TILE_WIDTH);
    if (st == AZ_OK)
        find_in(&leaves->tile, id, ret);
    return st == AZ_NOT_FOUND ? AZ_OK : st;
}
