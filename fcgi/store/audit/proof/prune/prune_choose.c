/* The leaves of the log that age, and the proof that they are old enough. */
#include "config.h"

#include <string.h>

#include "base/settings/settings.h"
#include "store/audit/proof/prune/prune_private.h"
#include "store/audit/proof/seal/seal.h"
#include "store/audit/proof/seal/signed.h"
#include "store/db/keep/partitions.h"

/* The newest checkpoint of a seal that is older than the time $3, if all earlier seals are older
 * too. An earlier seal with a later time, of a clock that was set back, keeps all rows after it.
 * The last leaf of the checkpoint is the note with the time of the seal. That leaf lies in a tile
 * that is not full, so the root of the checkpoint proves the note. `young`: the first seal that is
 * not older than $3. */
enum prune_seal_column { SEAL_SIZE, SEAL_NOTE, SEAL_LINE, SEAL_YOUNG };
static const struct db_stmt prune_seal_stmt = {
    "prune_seal",
    "SELECT s.size, s.note, s.line, y.leaf IS NOT NULL AS young"
    " FROM (SELECT (SELECT leaf FROM audit_note WHERE epoch = $1"
    "   AND leaf >= $2::bigint - 256 AND " NOTE_IS_SEAL
    "   AND (line::json -> 'seal' ->> 'at')::timestamptz >= $3::timestamptz"
    "   ORDER BY leaf LIMIT 1) AS leaf) y"
    " LEFT JOIN LATERAL (SELECT c.size, c.note, n.line FROM audit_checkpoint c JOIN audit_note n"
    "   ON n.epoch = c.epoch AND n.leaf = c.size - 1"
    "  WHERE c.epoch = $1 AND c.size > $2::bigint AND c.size % 256 <> 0"
    "   AND n." NOTE_IS_SEAL
    "   AND c.size <= coalesce(y.leaf, 9223372036854775807) ORDER BY c.size DESC LIMIT 1) s ON "
    "true",
    3};
static const struct db_stmt prune_last_stmt = {
    "prune_last", "SELECT note FROM audit_checkpoint WHERE epoch = $1 AND size = $2::bigint", 2};
static const struct db_stmt prune_rows_stmt = {
    "prune_rows",
    "SELECT EXISTS (SELECT 1 FROM audit_log WHERE id > $1::bigint AND id < $2::bigint)", 2};

bool
prune_is_new(const struct prune_epoch *at)
{
    return at->aged > at->epoch->aged;
}

/* Let nothing more of an epoch age. */
static void
leave(struct prune_epoch *at)
{
    at->whole = at->epoch->whole;
    at->aged = at->sealed = at->epoch->aged;
}

/* ---- the proof */

/* Prove that this service signed a checkpoint, that it has this size, and that the epoch has its
 * leaves. */
static bool
is_signed(struct prune *prune, const struct prune_epoch *at, const char *note, int64_t size)
{
    struct op *op = prune->seal.op;
    struct checkpoint read;
    const char *origin = audit_log_origin(op, at->epoch->state.epoch);
    return origin != NULL && note != NULL && checkpoint_read(note, &read) == AZ_OK
           && read.size == (uint64_t) size && strcmp(read.origin, origin) == 0
           && audit_signed_is_ours(op, note, origin, prune->key)
           && audit_signed_has(op, &at->epoch->state, &read);
}

static enum az_status
not_signed(struct prune *prune, const struct prune_epoch *at, int64_t size)
{
    return op_fail(prune->seal.op, AZ_CONFLICT, NULL,
                   "the seal of size %lld in epoch %d of the audit log is not what was signed; run "
                   "`authzctl audit verify`",
                   (long long) size, at->epoch->state.epoch);
}

/* Take a seal that is old enough, and prove that it is one: the owner of the database can write its
 * time. The leaves of the tiles before its own age. */
static enum az_status
take_seal(struct prune *prune, struct prune_epoch *at, const PGresult *result)
{
    struct audit_tiles tiles;
    const struct audit_tile *tile;
    int64_t size = db_get_number(result, 0, SEAL_SIZE, 0), last = size - 1;
    int64_t aged = last / MERKLE_TILE_WIDTH * MERKLE_TILE_WIDTH;
    audit_tiles_init(&tiles, prune->seal.op, at->epoch->state.epoch);
    enum az_status st = audit_tile_read(&tiles, 0, (uint64_t) last / MERKLE_TILE_WIDTH, &tile);
    if (st == AZ_NOT_FOUND
        || (st == AZ_OK
            && (!is_signed(prune, at, db_get(result, 0, SEAL_NOTE), size)
                || !audit_note_fits(last, db_get(result, 0, SEAL_LINE),
                                    tile->hash[last % MERKLE_TILE_WIDTH]))))
        return not_signed(prune, at, size);
    if (st != AZ_OK || aged <= at->aged)
        return st;
    at->aged = aged;
    at->sealed = size;
    at->first = tile->leaf[0].id;
    return AZ_OK;
}

/* Let a whole epoch age, up to its last checkpoint. */
static enum az_status
take_whole(struct prune *prune, struct prune_epoch *at)
{
    struct db_params params = {.count = 0};
    const char *note;
    int64_t size = at->epoch->state.size;
    if (at->whole || size == 0) /* of an epoch without a seal nothing was signed */
        return AZ_OK;
    db_number(&params, at->epoch->state.epoch);
    db_number(&params, size);
    enum az_status st = db_fetch_text(prune->seal.op, &prune_last_stmt, &params, &note);
    if (st == AZ_OK && !is_signed(prune, at, note, size))
        return not_signed(prune, at, size);
    at->whole = true;
    at->aged = at->sealed = size;
    at->first = at->epoch->state.up_to + 1;
    return st;
}

/* ---- the choice */

/* Look for a seal of an epoch that is old enough. `before`: earlier epochs have not aged as a
 * whole, so any will do. *ret_young: a seal is not old enough. */
static enum az_status
choose_seal(struct prune *prune, size_t i, bool before, bool *ret_young)
{
    struct op *op = prune->seal.op;
    struct prune_epoch *at = &prune->at[i];
    struct db_params params = {.count = 0};
    PGresult *result;
    int64_t now, day = 0;
    enum az_status st = partition_time(op, &now);
    if (st == AZ_OK)
        day = partition_day(now) - op->az->cfg->audit_proof_days;
    db_number(&params, at->epoch->state.epoch);
    db_number(&params, before ? 0 : at->epoch->aged + MERKLE_TILE_WIDTH);
    db_time(&params, (PARTITION_EPOCH + day * 86400) * 1000);
    if (st == AZ_OK)
        st = db_exec(op, &prune_seal_stmt, &params, true, &result);
    *ret_young = st == AZ_OK && db_get_bool(result, 0, SEAL_YOUNG);
    if (st != AZ_OK || db_get(result, 0, SEAL_SIZE) == NULL)
        return st;
    st = take_seal(prune, at, result);
    for (size_t j = 0; st == AZ_OK && j < i; j++)
        st = take_whole(prune, &prune->at[j]);
    return st;
}

/* True if a row of a leaf that would age is there. */
static enum az_status
find_rows(struct prune *prune, const struct prune_epoch *at, bool *ret)
{
    struct op *op = prune->seal.op;
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, at->epoch->begin_up_to);
    db_number(&params, at->first);
    enum az_status st = db_exec(op, &prune_rows_stmt, &params, true, &result);
    *ret = st == AZ_OK && db_get_bool(result, 0, 0);
    return st;
}

/* Leave an epoch with such rows, and all later ones. */
static enum az_status
leave_rows(struct prune *prune)
{
    bool rows = false;
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < prune->notes.epochs && st == AZ_OK; i++) {
        if (!rows && prune_is_new(&prune->at[i]))
            st = find_rows(prune, &prune->at[i], &rows);
        if (rows)
            leave(&prune->at[i]);
    }
    return st;
}

enum az_status
prune_choose(struct prune *prune)
{
    bool before = false, young = false;
    size_t count = prune->notes.epochs;
    enum az_status st = AZ_OK;
    prune->at = talloc_zero_array(prune->seal.op->mem, struct prune_epoch, (unsigned) count);
    if (prune->at == NULL)
        return op_no_memory(prune->seal.op);
    for (size_t i = 0; i < count; i++) {
        prune->at[i].epoch = &prune->notes.epoch[i];
        leave(&prune->at[i]);
    }
    for (size_t i = 0; i < count && st == AZ_OK && !young; i++) {
        if (prune->at[i].whole)
            continue;
        st = choose_seal(prune, i, before, &young);
        before = before || prune->at[i].epoch->state.size > 0;
    }
    return st == AZ_OK ? leave_rows(prune) : st;
}
