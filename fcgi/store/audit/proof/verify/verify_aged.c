/* Verification of the leaves whose hashes may be gone (SVC_AUDIT_PROOF_DAYS). */
#include "config.h"

#include <string.h>

#include "store/audit/proof/verify/verify_private.h"

static const struct db_stmt audit_checkpoints_stmt = {
    "audit_checkpoints",
    "SELECT size, note FROM audit_checkpoint WHERE epoch = $1 AND size > $2::bigint"
    "  AND size <= $3::bigint ORDER BY size",
    3};

enum az_status
verify_checkpoints(struct op *op, const struct audit_log_state *state, int64_t after, int64_t up_to,
                   PGresult **ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, state->epoch);
    db_number(&params, after);
    db_number(&params, up_to);
    return db_exec(op, &audit_checkpoints_stmt, &params, true, ret);
}

bool
verify_is_of_log(const struct verify *verify, const char *note, uint64_t size,
                 const merkle_hash root)
{
    struct checkpoint read;
    bool is_signed = false;
    const struct jwk_set *keys = verify->check->keys;
    for (size_t i = 0; i < keys->count && !is_signed; i++)
        is_signed = note_verify(note, verify->report->origin, keys->keys[i]) == AZ_OK;
    return is_signed && checkpoint_read(note, &read) == AZ_OK
           && strcmp(read.origin, verify->report->origin) == 0 && read.size == size
           && memcmp(read.root, root, SHA256_OCTETS) == 0;
}

/* Compute the root of the first leaves from the tiles that are left. AZ_INVALID: some are gone. */
static enum az_status
root_of(struct verify *verify, uint64_t size, merkle_hash ret)
{
    struct audit_tiles tiles;
    struct op step = op_beside(verify->op, talloc_new(verify->op->mem));
    audit_tiles_init(&tiles, &step, verify->state.epoch);
    struct merkle_tiles source = audit_tiles_source(&tiles);
    enum az_status st = merkle_root(&source, size, ret);
    if (st != AZ_OK && st != AZ_INVALID)
        verify->op->fault = step.fault;
    talloc_free(step.mem);
    return st;
}

/* Check the stored checkpoints. An epoch of which all leaves have aged has its last one, and none
 * of more leaves. */
static enum az_status
check_stored(struct verify *verify)
{
    PGresult *stored;
    merkle_hash root;
    const struct audit_epoch *epoch = verify->epoch;
    bool last = !epoch->whole;
    enum az_status st = verify_checkpoints(verify->op, &verify->state, 0,
                                           epoch->whole ? INT64_MAX : epoch->aged, &stored);
    int count = st == AZ_OK ? PQntuples(stored) : 0;
    for (int i = 0; i < count && st == AZ_OK; i++) {
        int64_t size = db_get_number(stored, i, CHECKPOINT_SIZE, 0);
        last = last || size == epoch->aged;
        st = root_of(verify, (uint64_t) size, root);
        verify->report->checkpoints++;
        if (st == AZ_INVALID || size > verify->state.size
            || (st == AZ_OK
                && !verify_is_of_log(verify, db_get(stored, i, CHECKPOINT_NOTE), (uint64_t) size,
                                     root)))
            audit_fault_add(verify->report, AUDIT_CHECKPOINT_FORGED, size);
        st = st == AZ_INVALID ? AZ_OK : st;
    }
    if (st == AZ_OK && !last)
        audit_fault_add(verify->report, AUDIT_CHECKPOINT_GONE, epoch->aged);
    return st;
}

/* Check the checkpoints from elsewhere. One whose tile is gone cannot be compared. */
static enum az_status
check_foreign(struct verify *verify)
{
    merkle_hash root;
    enum az_status st = AZ_OK;
    while (st == AZ_OK && verify->foreign_at < verify->foreigns
           && verify->foreign[verify->foreign_at]->size <= (uint64_t) verify->epoch->aged) {
        const struct checkpoint *foreign = verify->foreign[verify->foreign_at++];
        st = root_of(verify, foreign->size, root);
        verify->report->checkpoints += st == AZ_OK;
        verify->report->aged_checkpoints += st == AZ_INVALID;
        if (st == AZ_OK && memcmp(foreign->root, root, SHA256_OCTETS) != 0)
            audit_fault_add(verify->report, AUDIT_CHECKPOINT_FORGED, (int64_t) foreign->size);
        st = st == AZ_INVALID ? AZ_OK : st;
    }
    return st;
}

/* Check the note that begins the log: its tile is kept. */
static enum az_status
check_begin(struct verify *verify)
{
    const char *line;
    const struct audit_tile *tile;
    struct audit_tiles tiles;
    audit_tiles_init(&tiles, verify->op, verify->state.epoch);
    enum az_status st = audit_tile_read(&tiles, 0, 0, &tile);
    if (st == AZ_OK)
        st = audit_note_line(verify->op, verify->state.epoch, 0, &line);
    if (st == AZ_NOT_FOUND || (st == AZ_OK && !audit_note_fits(0, line, tile->hash[0])))
        audit_fault_add(verify->report, AUDIT_NOTE_CHANGED, 0);
    return st == AZ_NOT_FOUND ? AZ_OK : st;
}

enum az_status
verify_aged(struct verify *verify)
{
    verify->report->aged = verify->epoch->aged;
    if (verify->epoch->aged == 0)
        return AZ_OK;
    enum az_status st = check_begin(verify);
    if (st == AZ_OK)
        st = check_stored(verify);
    return st == AZ_OK ? check_foreign(verify) : st;
}
