#include "config.h"

#include "store/audit/proof/log_lines.h"

#include <stdio.h>
#include <string.h>

#include "crypto/digest.h"
#include "store/audit/proof/cursor.h"
#include "store/audit/proof/notes.h"

static const struct db_stmt audit_notes_stmt = {
    "audit_notes",
    "SELECT line FROM audit_note WHERE epoch = $1 AND leaf >= $2::bigint AND leaf < $3::bigint"
    " ORDER BY leaf",
    3};

/* A walk over the leaves of the present epoch. */
struct walk {
    struct op *op;
    struct audit_notes notes; /* days that retention dropped */
    const struct audit_log_state *state;
    audit_line_fn *take;
    void *context;
    struct audit_cursor rows;
};

static enum az_status
stopped(struct walk *walk)
{
    return op_fail(walk->op, AZ_SERVER_ERROR, NULL, "the lines cannot be written");
}

/* Give the hash of a leaf whose row retention dropped. */
static enum az_status
give_gone(struct walk *walk, const unsigned char *hash)
{
    char hex[SHA256_HEX_SIZE], line[sizeof(AUDIT_GONE_BEGIN AUDIT_GONE_END) + SHA256_HEX_SIZE];
    digest_hex(hash, hex);
    int length = snprintf(line, sizeof(line), AUDIT_GONE_BEGIN "%s" AUDIT_GONE_END, hex);
    return walk->take(walk->context, line, (size_t) length) ? AZ_OK : stopped(walk);
}

/* Give the row of a leaf. */
static enum az_status
give_row(struct walk *walk, const struct audit_leaf *leaf, const unsigned char *hash)
{
    int64_t id;
    struct audit_line line;
    enum az_status st = audit_cursor_peek(&walk->rows, &id);
    if (st != AZ_OK)
        return st;
    if (id != leaf->id && audit_notes_drop(&walk->notes, walk->state->epoch, leaf->day))
        return give_gone(walk, hash);
    if (id != leaf->id)
        return op_fail(walk->op, AZ_NOT_FOUND, NULL,
                       "audit row %lld is not there, or another one was added",
                       (long long) leaf->id);
    st = audit_cursor_take(&walk->rows, &line);
    if (st == AZ_OK && !walk->take(walk->context, line.text, line.length))
        st = stopped(walk);
    if (st == AZ_OK)
        talloc_free(line.text);
    return st;
}

/* Give the leaves of a tile. */
static enum az_status
give_tile(struct walk *walk, const struct audit_tile *tile, const PGresult *notes)
{
    enum az_status st = AZ_OK;
    int note = 0;
    uint64_t left = (uint64_t) walk->state->size - tile->n * MERKLE_TILE_WIDTH;
    for (size_t i = 0; i < tile->width && i < left && st == AZ_OK; i++) {
        const char *line = tile->leaf[i].note ? db_get(notes, note++, 0) : NULL;
        if (!tile->leaf[i].note)
            st = give_row(walk, &tile->leaf[i], tile->hash[i]);
        else if (line == NULL)
            st = op_fail(walk->op, AZ_NOT_FOUND, NULL, "a note of the audit log is missing");
        else
            st = walk->take(walk->context, line, strlen(line)) ? AZ_OK : stopped(walk);
    }
    return st;
}

static enum az_status
give_next(struct walk *walk, uint64_t n)
{
    struct op step = op_beside(walk->op, talloc_new(walk->op->mem));
    struct db_params params = {.count = 0};
    const struct audit_tile *tile;
    struct audit_tiles tiles;
    PGresult *notes;
    audit_tiles_init(&tiles, &step, walk->state->epoch);
    db_number(&params, walk->state->epoch);
    db_number(&params, (int64_t) n * MERKLE_TILE_WIDTH);
    db_number(&params, (int64_t) (n + 1) * MERKLE_TILE_WIDTH);
    enum az_status st = audit_tile_read(&tiles, 0, n, &tile);
    if (st == AZ_OK)
        st = db_exec(&step, &audit_notes_stmt, &params, true, &notes);
    if (st == AZ_OK)
        st = give_tile(walk, tile, notes);
    if (st == AZ_NOT_FOUND && walk->op->fault.status == AZ_OK && step.fault.status == AZ_OK)
        st = op_fail(walk->op, AZ_NOT_FOUND, NULL, "tile %llu of the audit log is missing",
                     (unsigned long long) n);
    else if (st != AZ_OK && walk->op->fault.status == AZ_OK)
        walk->op->fault = step.fault;
    talloc_free(step.mem);
    return st;
}

enum az_status
audit_log_lines(struct op *op, audit_line_fn *take, void *context)
{
    struct walk walk = {.op = op, .take = take, .context = context};
    enum az_status st = audit_notes_read(op, &walk.notes);
    if (st != AZ_OK)
        return st;
    const struct audit_epoch *epoch = &walk.notes.epoch[walk.notes.epochs - 1];
    if (epoch->aged > 0)
        return op_fail(op, AZ_NOT_FOUND,
                       "The hashes of the first audit rows are older than SVC_AUDIT_PROOF_DAYS, so "
                       "the log cannot be written line by line",
                       NULL);
    walk.state = &epoch->state;
    audit_cursor_init(&walk.rows, op, epoch->begin_up_to, epoch->state.up_to);
    uint64_t tiles = ((uint64_t) walk.state->size + MERKLE_TILE_WIDTH - 1) / MERKLE_TILE_WIDTH;
    for (uint64_t n = 0; n < tiles && st == AZ_OK; n++)
        st = give_next(&walk, n);
    return st;
}
