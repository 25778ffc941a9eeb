/* The notes of days that retention drops. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/iso8601.h"
#include "store/audit/proof/leaf.h"
#include "store/audit/proof/notes.h"
#include "store/audit/proof/seal/seal.h"
#include "store/audit/proof/seal/seal_private.h"
#include "store/audit/proof/seal/signed.h"
#include "store/db/keep/partitions.h"
#include "store/tokens/signing_keys.h"

enum audit_day_column { DAY_LAST, DAY_NOTED };
static const struct db_stmt audit_day_stmt = {
    "audit_day",
    "SELECT max(id) AS last, EXISTS (SELECT 1 FROM audit_note WHERE epoch = $1"
    "  AND line LIKE '{\"v\":1,\"dropped\":{\"day\":' || $2 || ',%') AS noted FROM audit_log_p%D",
    2};

/* A day that will be dropped. */
struct drop {
    struct seal *seal;
    const struct audit_notes *notes;
    uint32_t day;
    int64_t leaves; /* whose rows are in it, as they were sealed */
};

/* Count a row if it is a leaf; `tiles`: the tiles of each epoch. A row that was added or changed
 * after the seal must not excuse a missing row. */
static enum az_status
count_row(struct drop *drop, struct audit_tiles *tiles, const struct audit_line *line)
{
    merkle_hash made;
    for (size_t i = 0; i < drop->notes->epochs; i++) {
        const struct audit_epoch *epoch = &drop->notes->epoch[i];
        struct audit_place place;
        if (line->id <= epoch->begin_up_to || line->id > epoch->state.up_to)
            continue;
        enum az_status st = audit_leaf_find(&tiles[i], epoch->state.size, line->id, &place);
        if (st == AZ_NOT_FOUND)
            continue;
        if (st == AZ_OK)
            st = merkle_leaf(line->text, line->length, made);
        if (st == AZ_OK && memcmp(made, place.hash, SHA256_OCTETS) == 0)
            drop->leaves++;
        return st;
    }
    return AZ_OK;
}

/* Count the next rows of the day, and move *after. *ret_rows is the number that was read. */
static enum az_status
count_rows(struct drop *drop, int64_t *after, int *ret_rows)
{
    struct op *op = drop->seal->op;
    struct op step = op_beside(op, talloc_new(op->mem));
    PGresult *result;
    size_t epochs = drop->notes->epochs;
    struct audit_tiles *tiles = talloc_array(step.mem, struct audit_tiles, (unsigned) epochs);
    if (tiles == NULL)
        return op_no_memory(op);
    for (size_t i = 0; i < epochs; i++)
        audit_tiles_init(&tiles[i], &step, drop->notes->epoch[i].state.epoch);
    enum az_status st = audit_lines_read_day(&step, drop->day, *after, &result);
    *ret_rows = st == AZ_OK && result != NULL ? PQntuples(result) : 0;
    for (int i = 0; st == AZ_OK && i < *ret_rows; i++) {
        struct audit_line line;
        st = audit_line_get(&step, result, i, &line);
        if (st == AZ_OK)
            st = count_row(drop, tiles, &line);
        if (st == AZ_OK)
            talloc_free(line.text);
        *after = line.id;
    }
    if (st != AZ_OK)
        op->fault = step.fault;
    talloc_free(step.mem);
    return st;
}

static enum az_status
count_day(struct drop *drop)
{
    int64_t after = INT64_MIN;
    int rows = 1;
    enum az_status st = AZ_OK;
    while (st == AZ_OK && rows > 0)
        st = *drop->seal->op->az->stopping ? AZ_RETRY : count_rows(drop, &after, &rows);
    return st;
}

/* Append the note of a day, with a checkpoint: a note that none covers excuses nothing. */
static enum az_status
append_drop(struct drop *drop)
{
    struct seal *seal = drop->seal;
    struct jwk *key = NULL;
    char date[ISO8601_SIZE];
    if (iso8601_format(PARTITION_EPOCH + (int64_t) drop->day * 86400, date) != AZ_OK)
        return AZ_OK;
    enum az_status st = signing_key_open(seal->op, SIGNING_AUDIT, SIGNING_ALG_AUDIT, &key);
    if (st == AZ_OK)
        st = audit_signed_check(seal, key);
    if (st == AZ_OK)
        st = audit_key_announce(seal, key);
    if (st != AZ_OK)
        return st;
    return audit_note_append(seal,
                             json_pack("{s:i,s:{s:I,s:s%,s:I}}", "v", 1, "dropped", "day",
                                       (json_int_t) drop->day, "date", date, (size_t) 10, "rows",
                                       (json_int_t) drop->leaves),
                             NULL, key, NULL);
}

/* Append the note of a day unless the day has one already. */
static enum az_status
note_drop(struct drop *drop)
{
    struct seal *seal = drop->seal;
    struct op *op = seal->op;
    char number[16];
    struct db_batch *batch = db_batch_new(op);
    struct db_step *sum = db_batch_add_in(batch, &audit_day_stmt, DB_NO_PARTITION, drop->day);
    snprintf(number, sizeof(number), "%u", (unsigned) drop->day);
    db_number(&sum->params, seal->state.epoch);
    db_text(&sum->params, number);
    enum az_status st = db_run(op, batch, true);
    if (st != AZ_OK || db_get_bool(sum->result, 0, DAY_NOTED))
        return st;
    if (db_get_number(sum->result, 0, DAY_LAST, 0) > seal->state.up_to)
        return AZ_RETRY;
    st = count_day(drop);
    return st == AZ_OK ? append_drop(drop) : st;
}

enum az_status
audit_seal_drops(struct op *op)
{
    struct seal seal = {.op = op};
    struct audit_notes notes;
    uint32_t *days, kept = 0;
    size_t count = 0;
    enum az_status st = partition_first_kept_day(op, &kept);
    if (st == AZ_OK)
        st = audit_log_state_read(op, &seal.state);
    if (st != AZ_OK || !seal.state.begun || kept == 0)
        return st;
    st = audit_edge_read(op, &seal.state, &seal.edge);
    if (st == AZ_OK)
        st = audit_notes_read(op, &notes);
    if (st == AZ_OK)
        st = partition_days(op, &days, &count);
    for (size_t i = 0; i < count && st == AZ_OK; i++) {
        struct drop drop = {.seal = &seal, .notes = &notes, .day = days[i]};
        if (days[i] < kept)
            st = note_drop(&drop);
    }
    return st;
}
