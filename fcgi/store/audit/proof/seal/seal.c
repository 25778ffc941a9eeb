#include "config.h"

#include "store/audit/proof/seal/seal.h"

#include <stdio.h>
#include <string.h>

#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "crypto/signed_note.h"
#include "store/audit/proof/seal/seal_private.h"
#include "store/audit/proof/seal/signed.h"
#include "store/audit/read/mark.h"
#include "store/tokens/signing_keys.h"

/* ---- statements ---- */

static const struct db_stmt audit_log_begin_stmt = {
    "audit_log_begin",
    "INSERT INTO audit_log_state (epoch, size, up_to) VALUES ($1, 0, $2::bigint)"
    " ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, size = 0, up_to = excluded.up_to,"
    "  kid = NULL WHERE audit_log_state.epoch < excluded.epoch",
    2};
/* Both write only if the log was moved to this size in the same transaction. */
static const struct db_stmt audit_note_insert_stmt = {
    "audit_note_insert",
    "INSERT INTO audit_note (epoch, leaf, line) SELECT $1, $2::bigint - 1, $3"
    " WHERE EXISTS (SELECT 1 FROM audit_log_state WHERE epoch = $1 AND size = $2::bigint)"
    " ON CONFLICT DO NOTHING",
    3};
static const struct db_stmt audit_checkpoint_insert_stmt = {
    "audit_checkpoint_insert",
    "INSERT INTO audit_checkpoint (epoch, size, note) SELECT $1, $2::bigint, $3"
    " WHERE EXISTS (SELECT 1 FROM audit_log_state WHERE epoch = $1 AND size = $2::bigint)"
    " ON CONFLICT DO NOTHING",
    3};

char *
audit_log_origin(struct op *op, int epoch)
{
    const char *issuer = op->az->cfg->oidc_issuer, *begin = strstr(issuer, "://");
    begin = begin != NULL ? begin + 3 : issuer;
    return epoch > 1 ? talloc_asprintf(op->mem, "%s/audit/%d", begin, epoch)
                     : talloc_asprintf(op->mem, "%s/audit", begin);
}

/* ---- notes ---- */

/* Begin the transaction that appends a note. The first note begins the epoch in it, so there is no
 * epoch without its note. */
static struct db_batch *
note_batch(const struct seal *seal)
{
    struct db_batch *batch = db_batch_new(seal->op);
    db_batch_begin(batch);
    if (audit_edge_size(seal->edge) == 1) {
        struct db_step *step = db_batch_add(batch, &audit_log_begin_stmt);
        db_number(&step->params, seal->state.epoch);
        db_number(&step->params, seal->state.up_to);
    }
    return batch;
}

enum az_status
audit_note_append(struct seal *seal, json_t *note, const char *kid, const struct jwk *key,
                  const char **ret_checkpoint)
{
    struct op *op = seal->op;
    merkle_hash hash;
    struct checkpoint made;
    const char *signed_note = NULL;
    char *line = note != NULL ? jsonx_dump(op->mem, jsonx_own(op->mem, note)) : NULL;
    const struct audit_leaf leaf = {.id = seal->state.up_to, .note = true};
    char *origin = audit_log_origin(op, seal->state.epoch);
    if (line == NULL || origin == NULL || merkle_leaf(line, strlen(line), hash) != AZ_OK)
        return op_no_memory(op);
    enum az_status st = audit_edge_append(seal->edge, &leaf, hash);
    if (st == AZ_OK && key != NULL) {
        made.size = (uint64_t) audit_edge_size(seal->edge);
        snprintf(made.origin, sizeof(made.origin), "%s", origin);
        st = audit_edge_root(seal->edge, made.root);
        char *text = st == AZ_OK ? checkpoint_text(op->mem, &made) : NULL;
        signed_note = text != NULL ? note_sign(op->mem, text, origin, key) : NULL;
        if (signed_note == NULL)
            return op_fail(op, AZ_SERVER_ERROR, NULL, "a checkpoint cannot be signed");
    }
    struct db_batch *batch = note_batch(seal);
    audit_edge_write(seal->edge, batch, seal->state.up_to, kid);
    struct db_step *insert = db_batch_add(batch, &audit_note_insert_stmt);
    db_number(&insert->params, seal->state.epoch);
    db_number(&insert->params, audit_edge_size(seal->edge));
    db_text(&insert->params, line);
    if (signed_note != NULL) {
        struct db_step *step = db_batch_add(batch, &audit_checkpoint_insert_stmt);
        db_number(&step->params, seal->state.epoch);
        db_number(&step->params, audit_edge_size(seal->edge));
        db_text(&step->params, signed_note);
    }
    db_batch_commit(batch);
    st = st == AZ_OK ? db_run(op, batch, false) : st;
    if (st == AZ_OK && db_written(insert->result) == 0)
        return op_fail(op, AZ_CONFLICT, NULL, "another process moved the audit log");
    if (ret_checkpoint != NULL)
        *ret_checkpoint = signed_note;
    return st == AZ_OK && signed_note != NULL ? audit_signed_keep(op, signed_note) : st;
}

/* Return the time of the run as text. */
static const char *
time_text(const struct op *op, char text[ISO8601_MS_SIZE])
{
    return iso8601_format_ms(op->now_ms, text) == AZ_OK ? text : "";
}

/* Begin an epoch at the mark: the one after `last`. Its first note names the one that the database
 * has (`previous`), so that verification knows which numbers a restore has taken. */
static enum az_status
begin_log(struct seal *seal, int last, const char *why)
{
    struct op *op = seal->op;
    struct audit_mark mark;
    char at[ISO8601_MS_SIZE];
    int before = seal->state.begun ? seal->state.epoch : 0;
    int64_t size = seal->state.size;
    enum az_status st = audit_mark_find(op, &mark);
    if (st != AZ_OK)
        return st;
    seal->state = (struct audit_log_state){.begun = true, .epoch = last + 1, .up_to = mark.last};
    st = audit_edge_read(op, &seal->state, &seal->edge);
    if (st != AZ_OK)
        return st;
    return audit_note_append(seal,
                             json_pack("{s:i,s:{s:i,s:s,s:i,s:I,s:s,s:I}}", "v", 1, "begin",
                                       "epoch", seal->state.epoch, "why", why, "previous", before,
                                       "upTo", (json_int_t) mark.last, "at", time_text(op, at),
                                       "previousSize", (json_int_t) size),
                             NULL, NULL, NULL);
}

enum az_status
audit_key_announce(struct seal *seal, const struct jwk *key)
{
    json_t *public_half = NULL;
    if (seal->state.kid != NULL && strcmp(seal->state.kid, key->kid) == 0)
        return AZ_OK;
    if (jwk_dump(key, &public_half) != AZ_OK)
        return op_fail(seal->op, AZ_SERVER_ERROR, NULL, "the key of the audit log has no JWK");
    return audit_note_append(seal, json_pack("{s:i,s:o}", "v", 1, "key", public_half), key->kid,
                             NULL, NULL);
}

/* Append the note that seals all leaves before it, with a checkpoint. */
static enum az_status
seal_leaves(struct seal *seal, const struct jwk *key, const char **ret)
{
    merkle_hash root;
    char at[ISO8601_MS_SIZE], hex[SHA256_HEX_SIZE];
    enum az_status st = audit_edge_root(seal->edge, root);
    if (st != AZ_OK)
        return st;
    digest_hex(root, hex);
    return audit_note_append(seal,
                             json_pack("{s:i,s:{s:s,s:I,s:s,s:I}}", "v", 1, "seal", "at",
                                       time_text(seal->op, at), "size",
                                       (json_int_t) audit_edge_size(seal->edge), "root", hex,
                                       "upTo", (json_int_t) seal->state.up_to),
                             NULL, key, ret);
}

/* ---- rows ---- */

/* Append the rows of a result to the edge. */
static enum az_status
append_rows(struct seal *seal, struct op *step, const PGresult *result)
{
    enum az_status st = AZ_OK;
    for (int i = 0; i < PQntuples(result) && st == AZ_OK; i++) {
        struct audit_line line;
        merkle_hash hash;
        st = audit_line_get(step, result, i, &line);
        if (st == AZ_OK && merkle_leaf(line.text, line.length, hash) != AZ_OK)
            st = op_no_memory(step);
        if (st == AZ_OK)
            st = audit_edge_append(seal->edge, &(struct audit_leaf){.id = line.id, .day = line.day},
                                   hash);
        if (st == AZ_OK)
            talloc_free(line.text);
        seal->state.up_to = line.id;
    }
    return st;
}

/* Read and append the next rows up to `last`, and store them. *ret_rows is their number. */
static enum az_status
seal_step(struct seal *seal, int64_t last, int64_t *ret_rows)
{
    struct op *op = seal->op;
    PGresult *result;
    struct op step = op_beside(op, talloc_new(op->mem));
    enum az_status st = audit_lines_read(&step, seal->state.up_to, last, &result);
    *ret_rows = st == AZ_OK ? PQntuples(result) : 0;
    if (st == AZ_OK && *ret_rows > 0)
        st = append_rows(seal, &step, result);
    if (st == AZ_OK && *ret_rows > 0) {
        struct db_batch *batch = db_batch_new(&step);
        struct db_step *write = audit_edge_write(seal->edge, batch, seal->state.up_to, NULL);
        st = db_run(&step, batch, false);
        if (st == AZ_OK && db_written(write->result) == 0)
            st = op_fail(&step, AZ_CONFLICT, NULL, "another process moved the audit log");
    }
    if (st != AZ_OK)
        op->fault = step.fault;
    talloc_free(step.mem);
    return st;
}

static enum az_status
seal_rows(struct seal *seal, int64_t last, int64_t *ret_rows)
{
    int64_t rows = 1;
    enum az_status st = AZ_OK;
    while (st == AZ_OK && rows > 0 && *ret_rows < AUDIT_SEAL_ROWS && !*seal->op->az->stopping) {
        st = seal_step(seal, last, &rows);
        *ret_rows += rows;
    }
    return st;
}

enum az_status
audit_seal(struct op *op, struct audit_sealed *ret)
{
    struct seal seal = {.op = op};
    struct audit_mark mark;
    struct jwk *key = NULL;
    *ret = (struct audit_sealed){.rows = 0};
    enum az_status st = audit_log_state_read(op, &seal.state);
    if (st == AZ_OK)
        st = signing_key_open(op, SIGNING_AUDIT, SIGNING_ALG_AUDIT, &key);
    if (st == AZ_OK)
        st = audit_signed_check(&seal, key);
    if (st == AZ_OK && !seal.state.begun)
        st = begin_log(&seal, 0, "first");
    else if (st == AZ_OK)
        st = audit_edge_read(op, &seal.state, &seal.edge);
    if (st == AZ_OK)
        st = audit_mark_find(op, &mark);
    if (st == AZ_OK)
        st = seal_rows(&seal, mark.last, &ret->rows);
    if (st == AZ_OK && ret->rows > 0)
        st = audit_key_announce(&seal, key);
    if (st == AZ_OK && ret->rows > 0)
        st = seal_leaves(&seal, key, &ret->note);
    ret->size = seal.edge != NULL ? audit_edge_size(seal.edge) : 0;
    return st == AZ_RETRY ? AZ_OK : st;
}

enum az_status
audit_seal_new_epoch(struct op *op, const char *why, int64_t after)
{
    struct seal seal = {.op = op};
    struct jwk *key = NULL;
    const char *note;
    int64_t last;
    enum az_status st = audit_log_state_read(op, &seal.state);
    if (st == AZ_OK)
        st = audit_epoch_last(op, after, &last);
    if (st == AZ_OK)
        st = signing_key_open(op, SIGNING_AUDIT, SIGNING_ALG_AUDIT, &key);
    if (st == AZ_OK)
        st = begin_log(&seal, (int) last, why);
    if (st != AZ_OK)
        return st;
    audit_signed_forget(op);
    st = audit_key_announce(&seal, key);
    return st == AZ_OK ? seal_leaves(&seal, key, &note) : st;
}
