#include "config.h"

#include "store/audit/proof/proof.h"

#include <string.h>

#include "base/b64url.h"
#include "base/buf.h"
#include "crypto/signed_note.h"
#include "store/audit/proof/leaf.h"
#include "store/tokens/signing_keys.h"

/* First line of a proof (C2SP tlog-proof). */
#define PROOF_BEGIN "c2sp.org/tlog-proof@v1\n"

/* Octets of the longest proof: the line of a row in base64, hashes, and a checkpoint. */
#define PROOF_OCTETS_MAX (2 * AUDIT_LINE_MAX)

static const struct db_stmt audit_checkpoint_newest_stmt = {
    "audit_checkpoint_newest",
    "SELECT c.note FROM audit_checkpoint c JOIN audit_log_state s ON c.epoch = s.epoch"
    " ORDER BY c.size DESC LIMIT 1",
    0};
static const struct db_stmt audit_row_is_there_stmt = {
    "audit_row_is_there", "SELECT id::text FROM audit_log WHERE id = $1::bigint", 1};
static const struct db_stmt audit_checkpoint_sized_stmt = {
    "audit_checkpoint_sized",
    "SELECT c.note FROM audit_checkpoint c JOIN audit_log_state s ON c.epoch = s.epoch"
    " WHERE c.size = $1::bigint",
    1};

enum az_status
audit_checkpoint_read(struct op *op, const char **ret)
{
    return db_fetch_text(op, &audit_checkpoint_newest_stmt, NULL, ret);
}

enum az_status
audit_log_keys(struct op *op, json_t **ret)
{
    return signing_keys_public_of(op, SIGNING_AUDIT, ret);
}

static enum az_status
not_sealed(struct op *op)
{
    return op_fail(op, AZ_CONFLICT, "The audit row is not sealed yet; try again in a minute", NULL);
}

/* Answer about a row that the log does not have: the row waits for the next seal, or does not
 * exist. */
static enum az_status
not_found(struct op *op, int64_t id, const struct audit_log_state *state)
{
    struct db_params params = {.count = 0};
    const char *found = NULL;
    enum az_status st = AZ_OK;
    db_number(&params, id);
    if (state->begun && id > state->up_to)
        st = db_fetch_text(op, &audit_row_is_there_stmt, &params, &found);
    if (st != AZ_OK)
        return st;
    if (found != NULL)
        return not_sealed(op);
    return op_fail(op, AZ_NOT_FOUND, "The log that proves itself does not have this audit row",
                   NULL);
}

static void
put_hashes(struct op *op, struct buf *text, const struct merkle_proof *proof)
{
    for (size_t i = 0; i < proof->count; i++) {
        const char *hash = b64_encode(op->mem, proof->hash[i], SHA256_OCTETS);
        buf_append_format(text, "%s\n", hash != NULL ? hash : "");
    }
}

static enum az_status
take_text(struct op *op, struct buf *text, const char **ret)
{
    size_t length;
    *ret = buf_take(text, &length);
    return *ret != NULL ? AZ_OK : op_no_memory(op);
}

/* Write the proof of a leaf with this line. */
static enum az_status
write_proof(struct op *op, struct audit_tiles *tiles, uint64_t leaf, const struct audit_line *line,
            const char *note, const char **ret)
{
    struct merkle_tiles source = audit_tiles_source(tiles);
    struct merkle_proof proof;
    struct checkpoint checkpoint;
    BUF_AUTO text;
    buf_init(&text, op->mem, PROOF_OCTETS_MAX);
    const char *extra = b64_encode(op->mem, line->text, line->length);
    enum az_status st = checkpoint_read(note, &checkpoint);
    if (st == AZ_OK && leaf >= checkpoint.size)
        return not_sealed(op); /* appended since, or the checkpoint could not be signed */
    if (extra == NULL || st != AZ_OK
        || merkle_inclusion(&source, leaf, checkpoint.size, &proof) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "the audit log is damaged; run `authzctl audit verify`");
    buf_append_format(&text, PROOF_BEGIN "extra ");
    buf_append_text(&text, extra);
    buf_append_format(&text, "\nindex %llu\n", (unsigned long long) leaf);
    put_hashes(op, &text, &proof);
    buf_append_format(&text, "\n%s", note);
    return take_text(op, &text, ret);
}

enum az_status
audit_prove(struct op *op, int64_t id, const char **ret)
{
    struct audit_log_state state;
    struct audit_tiles tiles;
    struct audit_line line;
    PGresult *result;
    const char *note = NULL;
    struct audit_place place;
    enum az_status st = audit_log_state_read(op, &state);
    audit_tiles_init(&tiles, op, state.epoch);
    if (st == AZ_OK)
        st = audit_checkpoint_read(op, &note);
    if (st == AZ_OK)
        st = state.begun ? audit_leaf_find(&tiles, state.size, id, &place) : AZ_NOT_FOUND;
    if (st == AZ_OK)
        st = audit_lines_fetch(op, id, place.day, &result);
    if (st == AZ_NOT_FOUND || (st == AZ_OK && (PQntuples(result) == 0 || note == NULL)))
        return not_found(op, id, &state);
    if (st == AZ_OK)
        st = audit_line_get(op, result, 0, &line);
    return st == AZ_OK ? write_proof(op, &tiles, place.leaf, &line, note, ret) : st;
}

/* Read the checkpoint of a size. */
static enum az_status
read_sized(struct op *op, int64_t size, const char **ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, size);
    enum az_status st = db_fetch_text(op, &audit_checkpoint_sized_stmt, &params, ret);
    return st == AZ_OK && *ret == NULL
               ? op_fail(op, AZ_NOT_FOUND, "There is no checkpoint of this size", NULL)
               : st;
}

enum az_status
audit_prove_consistency(struct op *op, int64_t old, int64_t size, const char **ret)
{
    struct audit_log_state state;
    struct audit_tiles tiles;
    struct merkle_proof proof;
    const char *old_note, *note;
    BUF_AUTO text;
    buf_init(&text, op->mem, PROOF_OCTETS_MAX);
    enum az_status st = audit_log_state_read(op, &state);
    if (st == AZ_OK)
        st = read_sized(op, old, &old_note);
    if (st == AZ_OK)
        st = read_sized(op, size, &note);
    if (st != AZ_OK)
        return st;
    audit_tiles_init(&tiles, op, state.epoch);
    struct merkle_tiles source = audit_tiles_source(&tiles);
    if (merkle_consistency(&source, (uint64_t) old, (uint64_t) size, &proof) != AZ_OK)
        return op_fail(op, AZ_INVALID_REQUEST,
                       "The first checkpoint must not have more leaves than the second", NULL);
    buf_append_format(&text, "%s\n%s\n", old_note, note);
    put_hashes(op, &text, &proof);
    return take_text(op, &text, ret);
}
