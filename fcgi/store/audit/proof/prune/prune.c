#include "config.h"

#include "store/audit/proof/prune/prune.h"

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "store/audit/proof/prune/prune_private.h"
#include "store/audit/proof/seal/seal.h"
#include "store/audit/proof/seal/signed.h"
#include "store/tokens/signing_keys.h"

/* All checkpoints except the last of each day that were not chosen before ($3: leaves that have
 * aged). The days come from the seals, which hashes cover, in the order of sizes, so a clock that
 * went back does not begin a day again. $2 is the size of the seal. */
static const struct db_stmt prune_checkpoints_stmt = {
    "prune_checkpoints",
    "WITH day AS (SELECT c.size, max(((n.line::json -> 'seal' ->> 'at')::timestamptz"
    "   AT TIME ZONE 'UTC')::date) OVER (ORDER BY c.size) AS day"
    "  FROM audit_checkpoint c LEFT JOIN audit_note n ON n.epoch = c.epoch AND n.leaf = c.size - 1"
    "  WHERE c.epoch = $1 AND c.size > $3::bigint AND c.size <= $2::bigint)"
    " DELETE FROM audit_checkpoint WHERE epoch = $1 AND size IN (SELECT size"
    "  FROM (SELECT size, day = lead(day) OVER (ORDER BY size) AS followed FROM day) x"
    "  WHERE followed)",
    3};
static const struct db_stmt prune_notes_stmt = {
    "prune_notes", "DELETE FROM audit_note WHERE epoch = $1 AND leaf > 0 AND leaf < $2::bigint", 2};
static const struct db_stmt prune_tiles_stmt = {
    "prune_tiles",
    "DELETE FROM audit_tile t WHERE t.epoch = $1 AND t.level = 0 AND t.n > 0"
    "  AND t.n < $2::bigint / 256 AND NOT EXISTS (SELECT 1 FROM audit_checkpoint c"
    "   WHERE c.epoch = $1 AND c.size > t.n * 256 AND c.size <= (t.n + 1) * 256)",
    2};

/* ---- the note */

/* Return the entry of an epoch in the note (new reference), with upTo if the epoch ends there. */
static json_t *
epoch_json(const struct prune_epoch *at)
{
    struct jsonx_build item = {
        json_pack("{s:i,s:I}", "epoch", at->epoch->state.epoch, "leaves", (json_int_t) at->aged),
        false};
    if (at->whole)
        jsonx_set(&item, "upTo", json_integer(at->epoch->state.up_to));
    jsonx_set(&item, "gone", json_incref(at->gone));
    if (item.lost)
        json_decref(item.value);
    return jsonx_built(&item);
}

/* Append the note. It says of all epochs which leaves have aged: the notes before it age too. */
static enum az_status
append_note(struct prune *prune)
{
    struct seal *seal = &prune->seal;
    struct jsonx_build epochs = {jsonx_own(seal->op->mem, json_array()), false};
    for (size_t i = 0; i < prune->notes.epochs; i++)
        if (prune->at[i].aged > 0)
            jsonx_append(&epochs, epoch_json(&prune->at[i]));
    if (jsonx_built(&epochs) == NULL)
        return op_no_memory(seal->op);
    enum az_status st = audit_edge_read(seal->op, &seal->state, &seal->edge);
    if (st == AZ_OK)
        st = audit_key_announce(seal, prune->key);
    if (st != AZ_OK)
        return st;
    return audit_note_append(seal,
                             json_pack("{s:i,s:{s:I,s:O}}", "v", 1, "aged", "days",
                                       (json_int_t) seal->op->az->cfg->audit_proof_days, "epochs",
                                       epochs.value),
                             NULL, prune->key, NULL);
}

/* ---- the change */

/* Delete what has aged of an epoch. The tile of its last leaf and its notes stay. */
static enum az_status
delete_epoch(struct op *op, const struct prune_epoch *at)
{
    int64_t before = (at->aged - 1) / MERKLE_TILE_WIDTH * MERKLE_TILE_WIDTH;
    const struct {
        const struct db_stmt *stmt;
        int64_t up_to;
    } steps[] = {
        {&prune_checkpoints_stmt, at->sealed                   },
        {&prune_notes_stmt,       at->whole ? before : at->aged},
        {&prune_tiles_stmt,       at->whole ? before : at->aged},
    };
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct db_step *step = db_batch_add(batch, steps[i].stmt);
        db_number(&step->params, at->epoch->state.epoch);
        db_number(&step->params, steps[i].up_to);
        if (steps[i].stmt == &prune_checkpoints_stmt)
            db_number(&step->params, prune_is_new(at) ? at->epoch->aged : 0);
    }
    db_batch_commit(batch);
    return db_run(op, batch, false);
}

/* Delete what has aged of each epoch, also in an earlier run, which may have ended between its note
 * and this: a checkpoint whose note is deleted has no day, and stays. */
static enum az_status
delete_aged(const struct prune *prune)
{
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < prune->notes.epochs && st == AZ_OK; i++)
        if (prune->at[i].aged > 0)
            st = delete_epoch(prune->seal.op, &prune->at[i]);
    return st;
}

/* Let the leaves that were chosen age. */
static enum az_status
age(struct prune *prune)
{
    bool new = false;
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < prune->notes.epochs; i++)
        new = new || prune_is_new(&prune->at[i]);
    for (size_t i = 0; new &&i < prune->notes.epochs &&st == AZ_OK; i++)
        st = prune_count(prune, &prune->at[i]);
    if (new &&st == AZ_OK)
        st = append_note(prune);
    return st == AZ_OK ? delete_aged(prune) : st;
}

enum az_status
audit_prune(struct op *op, int64_t *ret)
{
    struct prune prune = {.seal = {.op = op}};
    *ret = 0;
    enum az_status st = audit_log_state_read(op, &prune.seal.state);
    if (st != AZ_OK || !prune.seal.state.begun || op->az->cfg->audit_proof_days == 0)
        return st;
    st = signing_key_open(op, SIGNING_AUDIT, SIGNING_ALG_AUDIT, &prune.key);
    if (st == AZ_OK)
        st = audit_signed_check(&prune.seal, prune.key);
    if (st == AZ_OK)
        st = audit_notes_read(op, &prune.notes);
    if (st == AZ_OK)
        st = prune_choose(&prune);
    if (st == AZ_OK)
        st = age(&prune);
    for (size_t i = 0; st == AZ_OK && i < prune.notes.epochs; i++)
        *ret += prune.at[i].aged;
    return st == AZ_RETRY ? AZ_OK : st;
}
