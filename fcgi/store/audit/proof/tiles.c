#include "config.h"

#include "store/audit/proof/tiles.h"

#include <string.h>

#include "base/buf.h"

/* Octets of the longest list of leaves: two numbers of ten octets each for every leaf. */
#define LEAVES_OCTETS_MAX (MERKLE_TILE_WIDTH * 20)

/* Most tiles that one statement stores: the tiles of the rows that one statement reads (line.h),
 * some more for rows with the same id, and two of each level above. */
#define WRITE_TILES_MAX (AUDIT_LINES_ROWS / MERKLE_TILE_WIDTH + 8 + 2 * MERKLE_LEVELS)

/* ---- statements ---- */

enum audit_log_state_column { STATE_EPOCH, STATE_SIZE, STATE_UP_TO, STATE_KID };
static const struct db_stmt audit_log_state_stmt = {
    "audit_log_state", "SELECT epoch, size, up_to, kid FROM audit_log_state", 0};

enum audit_tile_read_column { TILE_WIDTH, TILE_HASHES, TILE_LEAVES };
static const struct db_stmt audit_tile_read_stmt = {
    "audit_tile_read",
    "SELECT width, hashes, leaves FROM audit_tile WHERE epoch = $1 AND level = $2 AND n = $3", 3};

/* $1 epoch, $2 size before, $3 size now, $4 up_to, $5 kid; then the tiles, an array for each
 * column. */
static const struct db_stmt audit_tiles_write_stmt = {
    "audit_tiles_write",
    "WITH moved AS (UPDATE audit_log_state SET size = $3::bigint, up_to = $4::bigint,"
    "   kid = coalesce($5, kid)"
    "  WHERE epoch = $1::integer AND size = $2::bigint RETURNING 1)"
    " INSERT INTO audit_tile (epoch, level, n, width, hashes, leaves)"
    " SELECT $1::integer, t.level, t.n, t.width, t.hashes, nullif(t.leaves, '')"
    "  FROM unnest($6::smallint[], $7::bigint[], $8::smallint[], $9::bytea[], $10::bytea[])"
    "   AS t (level, n, width, hashes, leaves)"
    "  WHERE EXISTS (SELECT 1 FROM moved)"
    " ON CONFLICT (epoch, level, n) DO UPDATE"
    "  SET width = excluded.width, hashes = excluded.hashes, leaves = excluded.leaves",
    10};

/* ---- the list of leaves: id and day as differences, a note by an odd first number ---- */

static void
put_number(struct buf *buf, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        buf_append_char(buf, (char) (0x80 | (number & 0x7f)));
    buf_append_char(buf, (char) number);
}

/* Read a number and move *at; false: the number has no end, or is too long. */
static bool
take_number(const unsigned char **at, const unsigned char *end, uint64_t *ret)
{
    *ret = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        unsigned char octet = *(*at)++;
        *ret |= (uint64_t) (octet & 0x7f) << shift;
        if (octet < 0x80)
            return true;
    }
    return false;
}

/* Map differences of either sign to small numbers: 0, -1, 1, -2, … */
static uint64_t
zigzag(int64_t number)
{
    return ((uint64_t) number << 1) ^ (uint64_t) (number >> 63);
}

static int64_t
unzigzag(uint64_t number)
{
    return (int64_t) (number >> 1) ^ -(int64_t) (number & 1);
}

static void
put_leaves(struct buf *buf, const struct audit_tile *tile)
{
    struct audit_leaf before = {.id = 0};
    for (size_t i = 0; i < tile->width; i++) {
        const struct audit_leaf *leaf = &tile->leaf[i];
        put_number(buf, zigzag(leaf->id - before.id) << 1 | leaf->note);
        put_number(buf, zigzag(leaf->day - before.day));
        before = *leaf;
    }
}

static bool
take_leaves(struct audit_tile *tile, const unsigned char *at, size_t length)
{
    const unsigned char *end = at + length;
    struct audit_leaf before = {.id = 0};
    for (size_t i = 0; i < tile->width; i++) {
        uint64_t id, day;
        if (!take_number(&at, end, &id) || !take_number(&at, end, &day))
            return false;
        tile->leaf[i] = before = (struct audit_leaf){.id = before.id + unzigzag(id >> 1),
                                                     .day = before.day + unzigzag(day),
                                                     .note = (id & 1) != 0};
    }
    return at == end;
}

/* ---- reading ---- */

enum az_status
audit_log_state_read(struct op *op, struct audit_log_state *ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, &audit_log_state_stmt, NULL, true, &result);
    if (st != AZ_OK)
        return st;
    *ret = (struct audit_log_state){.begun = PQntuples(result) > 0,
                                    .epoch = (int) db_get_number(result, 0, STATE_EPOCH, 1),
                                    .size = db_get_number(result, 0, STATE_SIZE, 0),
                                    .up_to = db_get_number(result, 0, STATE_UP_TO, 0),
                                    .kid = db_get(result, 0, STATE_KID)};
    return AZ_OK;
}

/* Read the columns of a tile. */
static enum az_status
tile_fill(struct op *op, const PGresult *result, struct audit_tile *tile)
{
    const unsigned char *hashes = NULL, *leaves = NULL;
    size_t hashes_length = 0, leaves_length = 0;
    enum az_status st = db_read_octets(op, result, 0, TILE_HASHES, &hashes, &hashes_length);
    if (st == AZ_OK)
        st = db_read_octets(op, result, 0, TILE_LEAVES, &leaves, &leaves_length);
    if (st != AZ_OK)
        return st;
    tile->width = (size_t) db_get_number(result, 0, TILE_WIDTH, 0);
    if (tile->width > MERKLE_TILE_WIDTH || hashes_length != tile->width * SHA256_OCTETS
        || (tile->level == 0 && !take_leaves(tile, leaves, leaves_length)))
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "tile %llu of level %u of the audit log is damaged",
                       (unsigned long long) tile->n, tile->level);
    memcpy(tile->hash, hashes, hashes_length);
    return AZ_OK;
}

/* Read a tile from the database. AZ_NOT_FOUND without a fault: it is not stored. */
static enum az_status
tile_fetch(struct op *op, int epoch, struct audit_tile *tile)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, epoch);
    db_number(&params, tile->level);
    db_number(&params, (int64_t) tile->n);
    enum az_status st = db_exec(op, &audit_tile_read_stmt, &params, true, &result);
    if (st == AZ_OK && PQntuples(result) == 0)
        return AZ_NOT_FOUND;
    return st == AZ_OK ? tile_fill(op, result, tile) : st;
}

void
audit_tiles_init(struct audit_tiles *tiles, struct op *op, int epoch)
{
    *tiles = (struct audit_tiles){.op = op, .epoch = epoch};
}

enum az_status
audit_tile_read(struct audit_tiles *tiles, unsigned level, uint64_t n,
                const struct audit_tile **ret)
{
    size_t count = talloc_array_length(tiles->kept);
    for (size_t i = 0; i < count; i++)
        if (tiles->kept[i]->level == level && tiles->kept[i]->n == n) {
            *ret = tiles->kept[i];
            return AZ_OK;
        }
    struct audit_tile **kept =
        talloc_realloc(tiles->op->mem, tiles->kept, struct audit_tile *, (unsigned) count + 1);
    struct audit_tile *tile = kept != NULL ? talloc_zero(kept, struct audit_tile) : NULL;
    if (tile == NULL)
        return op_no_memory(tiles->op);
    tiles->kept = kept;
    kept[count] = tile;
    tile->level = level;
    tile->n = n;
    enum az_status st = tile_fetch(tiles->op, tiles->epoch, tile);
    if (st != AZ_OK)
        tiles->kept = talloc_realloc(tiles->op->mem, kept, struct audit_tile *, (unsigned) count);
    *ret = tile;
    return st;
}

static enum az_status
source_read(void *context, unsigned level, uint64_t n, const unsigned char **ret, size_t *ret_width)
{
    const struct audit_tile *tile;
    enum az_status st = audit_tile_read((struct audit_tiles *) context, level, n, &tile);
    if (st == AZ_NOT_FOUND)
        return AZ_INVALID;
    if (st == AZ_OK) {
        *ret = tile->hash[0];
        *ret_width = tile->width;
    }
    return st;
}

struct merkle_tiles
audit_tiles_source(struct audit_tiles *tiles)
{
    return (struct merkle_tiles){source_read, tiles};
}

/* ---- appending ---- */

struct audit_edge {
    struct op *op;
    int epoch;
    int64_t size, stored;                  /* leaves; how many of them are in the database */
    struct audit_tile open[MERKLE_LEVELS]; /* the last tile of each level, perhaps empty */
    struct audit_tile *full;               /* talloc array: full tiles that are not stored yet */
};

enum az_status
audit_edge_read(struct op *op, const struct audit_log_state *state, struct audit_edge **ret)
{
    struct audit_edge *edge = talloc_zero(op->mem, struct audit_edge);
    enum az_status st = AZ_OK;
    if (edge == NULL || (edge->full = talloc_array(edge, struct audit_tile, 0)) == NULL)
        return op_no_memory(op);
    edge->op = op;
    edge->epoch = state->epoch;
    edge->size = edge->stored = state->size;
    for (unsigned level = 0; level < MERKLE_LEVELS && st == AZ_OK; level++) {
        uint64_t hashes = (uint64_t) state->size >> (level * MERKLE_TILE_HEIGHT);
        size_t width = (size_t) (hashes % MERKLE_TILE_WIDTH);
        edge->open[level].level = level;
        edge->open[level].n = hashes / MERKLE_TILE_WIDTH;
        if (width != 0)
            st = tile_fetch(op, state->epoch, &edge->open[level]);
        st = st == AZ_OK && edge->open[level].width < width ? AZ_NOT_FOUND : st;
        edge->open[level].width = width; /* of a smaller size than is stored, too */
    }
    *ret = edge;
    return st == AZ_NOT_FOUND
               ? op_fail(op, AZ_SERVER_ERROR, NULL, "a tile of the audit log is missing")
               : st;
}

/* Put a hash into the open tile of a level; a full tile is closed, and its root goes one level
 * up. */
static enum az_status
edge_put(struct audit_edge *edge, unsigned level, const merkle_hash hash)
{
    merkle_hash root;
    struct audit_tile *open = &edge->open[level];
    memcpy(open->hash[open->width++], hash, SHA256_OCTETS);
    if (open->width < MERKLE_TILE_WIDTH)
        return AZ_OK;
    size_t count = talloc_array_length(edge->full);
    struct audit_tile *full =
        talloc_realloc(edge, edge->full, struct audit_tile, (unsigned) count + 1);
    if (full == NULL || level + 1 == MERKLE_LEVELS)
        return AZ_SERVER_ERROR;
    edge->full = full;
    full[count] = *open;
    open->n++;
    open->width = 0;
    enum az_status st = merkle_subtree(full[count].hash[0], MERKLE_TILE_WIDTH, root);
    return st == AZ_OK ? edge_put(edge, level + 1, root) : st;
}

enum az_status
audit_edge_append(struct audit_edge *edge, const struct audit_leaf *leaf, const merkle_hash hash)
{
    edge->open[0].leaf[edge->open[0].width] = *leaf;
    edge->size++;
    return edge_put(edge, 0, hash) == AZ_OK ? AZ_OK : op_no_memory(edge->op);
}

/* A root needs the open tiles only (merkle.c). */
static enum az_status
edge_tile(void *context, unsigned level, uint64_t n, const unsigned char **ret, size_t *ret_width)
{
    const struct audit_edge *edge = context;
    const struct audit_tile *tile = &edge->open[level];
    *ret = tile->hash[0];
    *ret_width = tile->width;
    return tile->n == n ? AZ_OK : AZ_INVALID;
}

enum az_status
audit_edge_root(struct audit_edge *edge, merkle_hash ret)
{
    const struct merkle_tiles tiles = {edge_tile, edge};
    return merkle_root(&tiles, (uint64_t) edge->size, ret) == AZ_OK
               ? AZ_OK
               : op_fail(edge->op, AZ_SERVER_ERROR, NULL, "the audit log has no root");
}

int64_t
audit_edge_size(const struct audit_edge *edge)
{
    return edge->size;
}

const struct audit_tile *
audit_edge_last(const struct audit_edge *edge, unsigned level, uint64_t n)
{
    for (size_t i = talloc_array_length(edge->full); i > 0; i--)
        if (edge->full[i - 1].level == level && edge->full[i - 1].n == n)
            return &edge->full[i - 1];
    return edge->open[level].n == n ? &edge->open[level] : NULL;
}

void
audit_edge_forget(struct audit_edge *edge)
{
    edge->full = talloc_realloc(edge, edge->full, struct audit_tile, 0);
}

/* ---- writing ---- */

/* Values of one column of the tiles, as texts of array elements. */
struct columns {
    const char *level[WRITE_TILES_MAX], *n[WRITE_TILES_MAX], *width[WRITE_TILES_MAX],
        *hashes[WRITE_TILES_MAX], *leaves[WRITE_TILES_MAX];
    size_t count;
    bool lost;
};

/* Return octets as an element of a bytea[], \x and hex digits. */
static const char *
hex_of(TALLOC_CTX *mem, const void *octets, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *at = octets;
    char *text = talloc_array(mem, char, (unsigned) (2 * length + 3));
    if (text == NULL)
        return NULL;
    memcpy(text, "\\x", 2);
    for (size_t i = 0; i < length; i++) {
        text[2 + 2 * i] = digits[at[i] >> 4];
        text[3 + 2 * i] = digits[at[i] & 15];
    }
    text[2 + 2 * length] = '\0';
    return text;
}

static void
columns_add(TALLOC_CTX *mem, struct columns *columns, const struct audit_tile *tile)
{
    BUF_AUTO leaves;
    size_t i = columns->count;
    buf_init(&leaves, mem, LEAVES_OCTETS_MAX);
    if (tile->level == 0)
        put_leaves(&leaves, tile);
    if (i == WRITE_TILES_MAX || leaves.status != AZ_OK) {
        columns->lost = true;
        return;
    }
    columns->level[i] = talloc_asprintf(mem, "%u", tile->level);
    columns->n[i] = talloc_asprintf(mem, "%llu", (unsigned long long) tile->n);
    columns->width[i] = talloc_asprintf(mem, "%zu", tile->width);
    columns->hashes[i] = hex_of(mem, tile->hash[0], tile->width * SHA256_OCTETS);
    columns->leaves[i] = leaves.len > 0 ? hex_of(mem, leaves.data, leaves.len) : "";
    columns->lost = columns->lost || columns->level[i] == NULL || columns->n[i] == NULL
                    || columns->width[i] == NULL || columns->hashes[i] == NULL
                    || columns->leaves[i] == NULL;
    columns->count++;
}

struct db_step *
audit_edge_write(struct audit_edge *edge, struct db_batch *batch, int64_t up_to, const char *kid)
{
    struct columns columns = {.count = 0};
    const struct op *step_op = db_batch_op(batch);
    TALLOC_CTX *mem = step_op != NULL ? step_op->mem : edge->op->mem; /* freed after the step */
    struct db_step *step = db_batch_add(batch, &audit_tiles_write_stmt);
    for (size_t i = 0; i < talloc_array_length(edge->full); i++)
        columns_add(mem, &columns, &edge->full[i]);
    for (unsigned level = 0; level < MERKLE_LEVELS; level++)
        if (edge->open[level].width > 0)
            columns_add(mem, &columns, &edge->open[level]);
    db_number(&step->params, edge->epoch);
    db_number(&step->params, edge->stored);
    db_number(&step->params, edge->size);
    db_number(&step->params, up_to);
    db_text(&step->params, kid);
    db_words(mem, &step->params, columns.level, columns.count);
    db_words(mem, &step->params, columns.n, columns.count);
    db_words(mem, &step->params, columns.width, columns.count);
    db_words(mem, &step->params, columns.hashes, columns.count);
    db_words(mem, &step->params, columns.leaves, columns.count);
    step->params.lost = step->params.lost || columns.lost;
    edge->stored = edge->size;
    audit_edge_forget(edge);
    return step;
}
