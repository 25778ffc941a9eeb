/* The check of the tiles that age, and the count of their rows. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "store/audit/proof/prune/prune_private.h"

/* Return how many leaves of an epoch will have aged. */
static int64_t
aged_of(const struct prune *prune, int epoch)
{
    for (size_t i = 0; i < prune->notes.epochs; i++)
        if (prune->at[i].epoch->state.epoch == epoch)
            return prune->at[i].aged;
    return 0;
}

/* True if a note of a dropped day stays that lets rows of this epoch pass. */
static bool
is_noted(const struct prune *prune, int epoch, int64_t day)
{
    for (size_t i = 0; i < prune->notes.count; i++) {
        const struct audit_dropped *note = &prune->notes.dropped[i];
        if (note->day == day && note->epoch >= epoch && note->leaf >= aged_of(prune, note->epoch))
            return true;
    }
    return false;
}

/* Add rows of a day. False: no memory. */
static bool
gone_add(json_t *gone, int64_t day, int64_t rows)
{
    size_t i;
    json_t *item;
    json_array_foreach (gone, i, item) {
        json_t *count = json_object_get(item, "rows");
        if (json_integer_value(json_object_get(item, "day")) == day)
            return json_integer_set(count, json_integer_value(count) + rows) == 0;
    }
    return json_array_append_new(
               gone, json_pack("{s:I,s:I}", "day", (json_int_t) day, "rows", (json_int_t) rows))
           == 0;
}

/* ---- one tile */

/* A tile of which leaves age. */
struct prune_tile {
    struct op *step;
    int epoch;
    const struct audit_tile *tile;
    size_t leaves; /* that age */
};

/* True if the hashes of a tile agree with the tile above, which stays. The last checkpoint of an
 * epoch proves the hashes of a tile that is not full. */
static enum az_status
check_hashes(const struct prune_tile *at, bool *ret)
{
    merkle_hash root;
    struct audit_tiles tiles;
    const struct audit_tile *above;
    size_t place = (size_t) (at->tile->n % MERKLE_TILE_WIDTH);
    *ret = at->leaves < MERKLE_TILE_WIDTH && at->leaves <= at->tile->width;
    if (*ret)
        return AZ_OK;
    audit_tiles_init(&tiles, at->step, at->epoch);
    enum az_status st = audit_tile_read(&tiles, 1, at->tile->n / MERKLE_TILE_WIDTH, &above);
    if (st != AZ_OK || at->tile->width != MERKLE_TILE_WIDTH)
        return st;
    st = merkle_subtree(at->tile->hash[0], MERKLE_TILE_WIDTH, root);
    *ret =
        st == AZ_OK && place < above->width && memcmp(root, above->hash[place], SHA256_OCTETS) == 0;
    return st;
}

/* True if a leaf is a note that is there, or a row that the note of its day lets pass. No hash has
 * which one a tile says that it is: the owner of the database can change that, and nothing shows it
 * once the leaf has aged. */
static enum az_status
check_leaf(struct prune *prune, const struct prune_tile *at, size_t i, bool *ret)
{
    int64_t number = (int64_t) (at->tile->n * MERKLE_TILE_WIDTH + i);
    const char *line;
    if (!at->tile->leaf[i].note) {
        *ret = audit_notes_drop(&prune->notes, at->epoch, at->tile->leaf[i].day);
        return AZ_OK;
    }
    enum az_status st = audit_note_line(at->step, at->epoch, number, &line);
    *ret = st == AZ_OK && audit_note_fits(number, line, at->tile->hash[i]);
    return st;
}

/* Check a tile that would age. */
static enum az_status
check_tile(struct prune *prune, const struct prune_tile *at)
{
    bool good = false;
    enum az_status st = check_hashes(at, &good);
    for (size_t i = 0; st == AZ_OK && good && i < at->leaves; i++)
        st = check_leaf(prune, at, i, &good);
    if (st == AZ_OK && !good)
        return op_fail(at->step, AZ_CONFLICT, NULL,
                       "tile %llu of epoch %d of the audit log is not what its notes say, and "
                       "nothing ages from there on; run `authzctl audit verify`",
                       (unsigned long long) at->tile->n, at->epoch);
    return st;
}

/* Count the rows of a tile whose notes stay. False: no memory. */
static bool
count_rows(const struct prune *prune, const struct prune_tile *at, json_t *gone)
{
    bool good = true;
    const struct audit_leaf *leaf = at->tile->leaf;
    for (size_t i = 0; good && i < at->leaves;) {
        size_t begin = i;
        while (i < at->leaves && leaf[i].note == leaf[begin].note && leaf[i].day == leaf[begin].day)
            i++;
        if (!leaf[begin].note && is_noted(prune, at->epoch, leaf[begin].day))
            good = gone_add(gone, leaf[begin].day, (int64_t) (i - begin));
    }
    return good;
}

/* Check the tile n of an epoch, and count its rows. */
static enum az_status
count_tile(struct prune *prune, struct prune_epoch *epoch, uint64_t n)
{
    struct op *op = prune->seal.op;
    struct op step = op_beside(op, talloc_new(op->mem));
    struct audit_tiles tiles;
    int64_t left = epoch->aged - (int64_t) (n * MERKLE_TILE_WIDTH);
    struct prune_tile at = {.step = &step,
                            .epoch = epoch->epoch->state.epoch,
                            .leaves = left < MERKLE_TILE_WIDTH ? (size_t) left : MERKLE_TILE_WIDTH};
    bool good = true;
    audit_tiles_init(&tiles, &step, at.epoch);
    enum az_status st = audit_tile_read(&tiles, 0, n, &at.tile);
    if (st == AZ_OK)
        st = check_tile(prune, &at);
    if (st == AZ_OK)
        good = count_rows(prune, &at, epoch->gone);
    if (st != AZ_OK && st != AZ_NOT_FOUND)
        op->fault = step.fault;
    talloc_free(step.mem);
    if (st == AZ_NOT_FOUND)
        st = op_fail(op, AZ_CONFLICT, NULL,
                     "tile %llu of epoch %d of the audit log is missing; run `authzctl audit "
                     "verify`",
                     (unsigned long long) n, at.epoch);
    return good ? st : op_no_memory(op);
}

/* ---- one epoch */

enum az_status
prune_count(struct prune *prune, struct prune_epoch *at)
{
    struct op *op = prune->seal.op;
    int epoch = at->epoch->state.epoch;
    bool good = (at->gone = jsonx_own(op->mem, json_array())) != NULL;
    for (size_t i = 0; good && i < prune->notes.gones; i++)
        if (prune->notes.gone[i].epoch == epoch && is_noted(prune, epoch, prune->notes.gone[i].day))
            good = gone_add(at->gone, prune->notes.gone[i].day, prune->notes.gone[i].rows);
    enum az_status st = good ? AZ_OK : op_no_memory(op);
    for (int64_t leaf = at->epoch->aged; leaf < at->aged && st == AZ_OK; leaf += MERKLE_TILE_WIDTH)
        st = *op->az->stopping ? AZ_RETRY
                               : count_tile(prune, at, (uint64_t) leaf / MERKLE_TILE_WIDTH);
    return st;
}
