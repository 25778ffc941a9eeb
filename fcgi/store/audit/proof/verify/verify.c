#include "config.h"

#include "store/audit/proof/verify/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/iso8601.h"
#include "store/audit/proof/cursor.h"
#include "store/audit/proof/seal/seal.h"
#include "store/audit/proof/seal/unsealed.h"
#include "store/audit/proof/verify/verify_private.h"

/* ---- statements ---- */

static const struct db_stmt audit_unsealed_stmt = {
    "audit_unsealed", "SELECT count(*) FROM audit_log WHERE id > $1::bigint AND id <= $2::bigint",
    2};

static const char *const fault_texts[AUDIT_FAULT_KINDS] = {
    [AUDIT_ROW_CHANGED] = "changed row",
    [AUDIT_ROW_MISSING] = "missing row",
    [AUDIT_ROW_ADDED] = "added row",
    [AUDIT_ROWS_HIDDEN] = "rows left out that no note of a dropped day has:",
    [AUDIT_NOTE_CHANGED] = "changed or missing note at leaf",
    [AUDIT_TILE_FORGED] = "forged or missing tile at leaf",
    [AUDIT_CHECKPOINT_GONE] = "missing checkpoint of size",
    [AUDIT_CHECKPOINT_FORGED] = "forged checkpoint of size",
    [AUDIT_EPOCH_GONE] = "missing begin of epoch",
    [AUDIT_OTHER_LOG] = "another issuer, or an epoch that is not there, has the checkpoint of size",
    [AUDIT_ROLLED_BACK] = "the log was rolled back behind the checkpoint of size",
};

const char *
audit_fault_text(enum audit_fault_kind kind)
{
    return fault_texts[kind];
}

void
audit_fault_add(struct audit_report *report, enum audit_fault_kind kind, int64_t at)
{
    if (report->faults < AUDIT_FAULTS_LISTED)
        report->fault[report->faults] = (struct audit_fault){.kind = kind, .at = at};
    report->faults++;
}

/* ---- rows ---- */

/* Report rows with ids below `id` that no leaf has. */
static enum az_status
rows_pass(struct verify *verify, int64_t id, int64_t *ret_id)
{
    enum az_status st = audit_cursor_peek(&verify->rows, ret_id);
    while (st == AZ_OK && *ret_id < id) {
        audit_fault_add(verify->report, AUDIT_ROW_ADDED, *ret_id);
        audit_cursor_pass(&verify->rows);
        st = audit_cursor_peek(&verify->rows, ret_id);
    }
    return st;
}

/* Compare the row of a leaf with its hash. A second row with the same id is passed as added. */
static enum az_status
check_row(struct verify *verify, const struct audit_leaf *leaf, const unsigned char *hash)
{
    int64_t id;
    struct audit_line line;
    merkle_hash made;
    enum az_status st = rows_pass(verify, leaf->id, &id);
    if (st != AZ_OK)
        return st;
    if (id != leaf->id && audit_notes_drop(verify->notes, verify->state.epoch, leaf->day)) {
        verify->report->dropped++;
        return AZ_OK;
    }
    verify->report->rows++;
    if (id != leaf->id) {
        audit_fault_add(verify->report, AUDIT_ROW_MISSING, leaf->id);
        return AZ_OK;
    }
    st = audit_cursor_take(&verify->rows, &line);
    if (st == AZ_OK)
        st = merkle_leaf(line.text, line.length, made);
    if (st != AZ_OK)
        return op_no_memory(verify->op);
    talloc_free(line.text);
    if (memcmp(made, hash, SHA256_OCTETS) != 0)
        audit_fault_add(verify->report, AUDIT_ROW_CHANGED, leaf->id);
    return AZ_OK;
}

/* Let a leaf of a day that is not checked pass: its rows are not read. */
static enum az_status
skip_row(struct verify *verify, const struct audit_leaf *leaf)
{
    int64_t id;
    enum az_status st = AZ_OK;
    if (audit_cursor_skip(&verify->rows, leaf->id))
        return AZ_OK;
    st = rows_pass(verify, leaf->id, &id);
    if (st == AZ_OK && id == leaf->id)
        audit_cursor_pass(&verify->rows);
    return st;
}

/* ---- notes ---- */

static enum az_status
check_note(struct verify *verify, int64_t leaf, const unsigned char *hash)
{
    const char *line;
    struct op step = op_beside(verify->op, talloc_new(verify->op->mem));
    enum az_status st = audit_note_line(&step, verify->state.epoch, leaf, &line);
    verify->report->notes++;
    if (st == AZ_OK && !audit_note_fits(leaf, line, hash))
        audit_fault_add(verify->report, AUDIT_NOTE_CHANGED, leaf);
    else if (st == AZ_OK && audit_note_kind(line) == NOTE_SEAL)
        verify->sealed = leaf + 1;
    if (st != AZ_OK)
        verify->op->fault = step.fault;
    talloc_free(step.mem);
    return st;
}

/* ---- checkpoints ---- */

static int
compare_sizes(const void *one, const void *other)
{
    uint64_t left = (*(const struct checkpoint *const *) one)->size,
             right = (*(const struct checkpoint *const *) other)->size;
    return left < right ? -1 : left > right ? 1 : 0;
}

/* Choose the checkpoints from elsewhere of this log, in the order of their sizes. */
static enum az_status
sort_foreign(struct verify *verify)
{
    verify->foreign = talloc_array(verify->op->mem, const struct checkpoint *,
                                   (unsigned) verify->check->foreigns + 1);
    if (verify->foreign == NULL)
        return op_no_memory(verify->op);
    for (size_t i = 0; i < verify->check->foreigns; i++)
        if (strcmp(verify->check->foreign[i].origin, verify->report->origin) == 0
            && verify->check->foreign[i].size > 0)
            verify->foreign[verify->foreigns++] = &verify->check->foreign[i];
    qsort(verify->foreign, verify->foreigns, sizeof(*verify->foreign), compare_sizes);
    return AZ_OK;
}

/* True if the next checkpoint from elsewhere has the size of the tree. */
static bool
foreign_is_next(const struct verify *verify)
{
    return verify->foreign_at < verify->foreigns
           && verify->foreign[verify->foreign_at]->size == (uint64_t) audit_edge_size(verify->edge);
}

/* Compare the tree with the checkpoints from elsewhere of its size. */
static void
check_foreign(struct verify *verify, const merkle_hash root)
{
    while (foreign_is_next(verify)) {
        const struct checkpoint *foreign = verify->foreign[verify->foreign_at++];
        verify->report->checkpoints++;
        if (memcmp(foreign->root, root, SHA256_OCTETS) != 0)
            audit_fault_add(verify->report, AUDIT_CHECKPOINT_FORGED, (int64_t) foreign->size);
    }
}

/* Check the stored checkpoint of the present size: there must be one behind a note that seals. */
static enum az_status
check_checkpoint(struct verify *verify, const PGresult *stored, int *at)
{
    merkle_hash root;
    int64_t size = audit_edge_size(verify->edge);
    bool wanted = verify->sealed == size;
    bool there = *at < PQntuples(stored) && db_get_number(stored, *at, CHECKPOINT_SIZE, 0) == size;
    if (!wanted && !there && !foreign_is_next(verify))
        return AZ_OK;
    enum az_status st = audit_edge_root(verify->edge, root);
    if (st != AZ_OK)
        return st;
    check_foreign(verify, root);
    if (there) {
        verify->report->checkpoints++;
        if (!verify_is_of_log(verify, db_get(stored, (*at)++, CHECKPOINT_NOTE), (uint64_t) size,
                              root))
            audit_fault_add(verify->report, AUDIT_CHECKPOINT_FORGED, size);
    } else if (wanted)
        audit_fault_add(verify->report, AUDIT_CHECKPOINT_GONE, size);
    return AZ_OK;
}

/* ---- tiles ---- */

/* Compare the stored tile above with what follows from the leaves. */
static enum az_status
check_upper(struct verify *verify, uint64_t leaves)
{
    const struct audit_tile *made, *stored;
    for (unsigned level = 1; level < MERKLE_LEVELS; level++) {
        uint64_t hashes = leaves >> (level * MERKLE_TILE_HEIGHT);
        struct audit_tiles tiles;
        if (hashes == 0 || leaves % ((uint64_t) 1 << (level * MERKLE_TILE_HEIGHT)) != 0)
            break;
        struct op step = op_beside(verify->op, talloc_new(verify->op->mem));
        audit_tiles_init(&tiles, &step, verify->state.epoch);
        uint64_t n = (hashes - 1) / MERKLE_TILE_WIDTH;
        size_t width = (size_t) (hashes - n * MERKLE_TILE_WIDTH);
        enum az_status st = audit_tile_read(&tiles, level, n, &stored);
        made = audit_edge_last(verify->edge, level, n);
        if (st == AZ_NOT_FOUND
            || (st == AZ_OK
                && (made == NULL || stored->width < width
                    || memcmp(stored->hash[width - 1], made->hash[width - 1], SHA256_OCTETS) != 0)))
            audit_fault_add(verify->report, AUDIT_TILE_FORGED, (int64_t) leaves);
        if (st != AZ_OK && st != AZ_NOT_FOUND)
            verify->op->fault = step.fault;
        talloc_free(step.mem);
        if (st != AZ_OK && st != AZ_NOT_FOUND)
            return st;
    }
    return AZ_OK;
}

/* Check the leaves of a tile. */
static enum az_status
check_tile(struct verify *verify, const struct audit_tile *tile, const PGresult *stored)
{
    enum az_status st = AZ_OK;
    int at = 0;
    for (size_t i = 0; i < tile->width && st == AZ_OK; i++) {
        const struct audit_leaf *leaf = &tile->leaf[i];
        int64_t number = audit_edge_size(verify->edge);
        if (number == verify->state.size)
            break;
        if (!leaf->note
            && (number == 0 || audit_notes_drop_at(verify->notes, verify->state.epoch, number)))
            audit_fault_add(verify->report, AUDIT_NOTE_CHANGED, number);
        bool read = leaf->day >= verify->check->from_day && leaf->day <= verify->check->to_day;
        st = leaf->note ? check_note(verify, number, tile->hash[i])
             : read     ? check_row(verify, leaf, tile->hash[i])
                        : skip_row(verify, leaf);
        if (st == AZ_OK)
            st = audit_edge_append(verify->edge, leaf, tile->hash[i]);
        if (st == AZ_OK)
            st = check_checkpoint(verify, stored, &at);
    }
    if (st == AZ_OK && tile->width == MERKLE_TILE_WIDTH)
        st = check_upper(verify, (uint64_t) audit_edge_size(verify->edge));
    audit_edge_forget(verify->edge);
    return st;
}

/* Read and check the tile that begins at a leaf. *ret_lost: it is missing, and so is the end of
 * the log. */
static enum az_status
check_next(struct verify *verify, bool *ret_lost)
{
    struct op step = op_beside(verify->op, talloc_new(verify->op->mem));
    int64_t begin = audit_edge_size(verify->edge);
    const struct audit_tile *tile;
    struct audit_tiles tiles;
    PGresult *stored;
    audit_tiles_init(&tiles, &step, verify->state.epoch);
    enum az_status st = audit_tile_read(&tiles, 0, (uint64_t) begin / MERKLE_TILE_WIDTH, &tile);
    int64_t left = verify->state.size - begin;
    if (st == AZ_NOT_FOUND
        || (st == AZ_OK
            && (int64_t) tile->width < (left < MERKLE_TILE_WIDTH ? left : MERKLE_TILE_WIDTH))) {
        audit_fault_add(verify->report, AUDIT_TILE_FORGED, begin);
        *ret_lost = true;
        st = AZ_OK;
    } else if (st == AZ_OK) {
        st = verify_checkpoints(&step, &verify->state, begin, begin + MERKLE_TILE_WIDTH, &stored);
        if (st == AZ_OK)
            st = check_tile(verify, tile, stored);
    }
    if (st != AZ_OK && verify->op->fault.status == AZ_OK)
        verify->op->fault = step.fault;
    talloc_free(step.mem);
    return st;
}

/* Checkpoints from elsewhere that no size of the log was: it was cut off, or another log was begun
 * in its place. */
static void
check_beyond(struct verify *verify)
{
    for (; verify->foreign_at < verify->foreigns; verify->foreign_at++)
        audit_fault_add(verify->report, AUDIT_ROLLED_BACK,
                        (int64_t) verify->foreign[verify->foreign_at]->size);
}

static enum az_status
count_unsealed(struct verify *verify)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, verify->state.up_to);
    db_number(&params, verify->epoch->next_up_to);
    enum az_status st = db_exec(verify->op, &audit_unsealed_stmt, &params, true, &result);
    if (st == AZ_OK)
        verify->report->unsealed = db_get_number(result, 0, 0, 0);
    return st;
}

/* Report rows that no leaf can have. */
static enum az_status
check_outside(struct verify *verify)
{
    PGresult *result;
    enum az_status st = audit_notes_outside(verify->op, verify->epoch, &result);
    for (int i = 0; st == AZ_OK && i < PQntuples(result); i++)
        audit_fault_add(verify->report, AUDIT_ROW_ADDED, db_get_number(result, i, 0, 0));
    return st;
}

/* True if the log began so short a time ago that its first seal may be under way. */
static bool
is_new(const struct verify *verify)
{
    int64_t at;
    const char *text = verify->epoch->begin_at;
    return text != NULL && iso8601_parse(text, strlen(text), &at) == AZ_OK
           && llabs(verify->op->now_ms - at) <= AUDIT_UNSEALED_MAX * 1000;
}

/* Judge a log of which no note is a seal: its rows are not sealed yet, or a seal is missing. */
static void
check_sealed(struct verify *verify)
{
    struct audit_report *report = verify->report;
    if (report->rows == 0 || verify->sealed > 0)
        return;
    if (is_new(verify))
        report->unsealed += report->rows;
    else
        audit_fault_add(report, AUDIT_CHECKPOINT_GONE, verify->state.size);
}

enum az_status
audit_verify_epoch(struct op *op, const struct audit_check *check, const struct audit_epoch *epoch,
                   struct audit_notes *notes, struct audit_report *ret)
{
    /* An epoch that has aged as a whole has no leaf to continue with. */
    const struct audit_log_state begun = {.epoch = epoch->state.epoch,
                                          .size = epoch->whole ? 0 : epoch->aged};
    struct verify verify = {.op = op,
                            .check = check,
                            .report = ret,
                            .epoch = epoch,
                            .state = epoch->state,
                            .notes = notes};
    bool lost = epoch->whole;
    int64_t ignored;
    *ret = (struct audit_report){.origin = audit_log_origin(op, epoch->state.epoch)};
    if (ret->origin == NULL)
        return op_no_memory(op);
    audit_cursor_init(&verify.rows, op, epoch->begin_up_to, verify.state.up_to);
    enum az_status st = sort_foreign(&verify);
    if (st == AZ_OK)
        st = verify_aged(&verify);
    if (st == AZ_OK)
        st = audit_edge_read(op, &begun, &verify.edge);
    while (st == AZ_OK && !lost && audit_edge_size(verify.edge) < verify.state.size)
        st = check_next(&verify, &lost);
    if (st == AZ_OK && (!lost || epoch->whole))
        st = rows_pass(&verify, INT64_MAX, &ignored);
    if (st == AZ_OK)
        st = check_outside(&verify);
    if (st == AZ_OK)
        st = count_unsealed(&verify);
    check_sealed(&verify);
    check_beyond(&verify);
    ret->size = verify.state.size;
    return st;
}
