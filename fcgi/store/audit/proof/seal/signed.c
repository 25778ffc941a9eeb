#include "config.h"

#include "store/audit/proof/seal/signed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/settings/settings.h"
#include "crypto/signed_note.h"
#include "store/audit/proof/cursor.h"
#include "store/audit/proof/notes.h"
#include "store/audit/proof/seal/seal.h"
#include "store/audit/proof/seal/seal_file.h"
#include "store/tokens/signing_keys.h"

/* Files of SVC_RUNTIME_DIR, and their mode: a checkpoint is no secret, and a command of another
 * user may have written it. */
#define SIGNED_FILE "audit-signed"
#define REFUSED_FILE "audit-refused"
#define SIGNED_MODE 0644

static const struct db_stmt audit_newest_stmt = {
    "audit_newest", "SELECT note FROM audit_checkpoint WHERE epoch = $1 ORDER BY size DESC LIMIT 1",
    1};

static const struct db_stmt audit_epoch_stored_stmt = {
    "audit_epoch_stored",
    "SELECT greatest(0, (SELECT epoch FROM audit_log_state), (SELECT max(epoch) FROM audit_note),"
    "  (SELECT max(epoch) FROM audit_tile), (SELECT max(epoch) FROM audit_checkpoint))",
    0};

/* ---- the files ---- */

/* Read a whole file; *ret is NULL if it does not exist, or may not be read. */
static enum az_status
read_file(TALLOC_CTX *mem, const char *path, char **ret)
{
    *ret = NULL;
    int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (file < 0)
        return path != NULL && (errno == ENOENT || errno == EACCES) ? AZ_OK : AZ_SERVER_ERROR;
    char *text = talloc_zero_array(mem, char, NOTE_OCTETS_MAX + 1);
    ssize_t got = text != NULL ? read(file, text, NOTE_OCTETS_MAX) : -1;
    close(file);
    *ret = text;
    return got >= 0 ? AZ_OK : AZ_SERVER_ERROR;
}

static char *
path_of(TALLOC_CTX *mem, const struct az *az, const char *name)
{
    return talloc_asprintf(mem, "%s/%s", az->cfg->runtime_dir, name);
}

/* Replace a file as a whole. */
static enum az_status
write_file(struct op *op, const char *name, const char *text)
{
    char *path = path_of(op->mem, op->az, name);
    char *made = path != NULL ? talloc_asprintf(op->mem, "%s.%ld", path, (long) getpid()) : NULL;
    if (made == NULL)
        return op_no_memory(op);
    int file = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, SIGNED_MODE);
    if (file < 0 && (errno == ENOENT || errno == EACCES))
        return AZ_OK;
    bool written = file >= 0 && audit_write_all(file, text, strlen(text));
    if (file >= 0 && close(file) != 0)
        written = false;
    if (written && rename(made, path) == 0)
        return AZ_OK;
    return op_fail(op, AZ_SERVER_ERROR, NULL, "SVC_RUNTIME_DIR: %s cannot be written: %s", path,
                   strerror(errno));
}

static void
remove_file(const struct op *op, const char *name)
{
    char *path = path_of(op->mem, op->az, name);
    if (path != NULL)
        unlink(path);
}

enum az_status
audit_signed_keep(struct op *op, const char *note)
{
    return write_file(op, SIGNED_FILE, note);
}

void
audit_signed_forget(const struct op *op)
{
    remove_file(op, SIGNED_FILE);
    remove_file(op, REFUSED_FILE);
}

const char *
audit_signed_refusal(TALLOC_CTX *mem, const struct az *az)
{
    char *text;
    return read_file(mem, path_of(mem, az, REFUSED_FILE), &text) == AZ_OK ? text : NULL;
}

/* ---- the check ---- */

/* Refuse to sign, and let readiness say so; unless another process has moved the log since its
 * state was read. */
static enum az_status
refuse(const struct seal *seal, const char *why)
{
    struct op *op = seal->op;
    struct audit_log_state now;
    enum az_status st = audit_log_state_read(op, &now);
    if (st != AZ_OK)
        return st;
    if (now.epoch != seal->state.epoch || now.size != seal->state.size)
        return op_fail(op, AZ_CONFLICT, NULL, "another process moved the audit log");
    char *text = talloc_asprintf(
        op->mem,
        "the audit log is not sealed: %s; run `authzctl audit verify`, and if the database was "
        "restored, `authzctl audit seal --new-epoch REASON`",
        why);
    if (text == NULL)
        return op_no_memory(op);
    st = write_file(op, REFUSED_FILE, text);
    return st == AZ_OK ? op_fail(op, AZ_CONFLICT, NULL, "%s", text) : st;
}

bool
audit_signed_has(struct op *op, const struct audit_log_state *state,
                 const struct checkpoint *signed_)
{
    merkle_hash root;
    struct audit_tiles tiles;
    struct op step = op_beside(op, talloc_new(op->mem));
    audit_tiles_init(&tiles, &step, state->epoch);
    struct merkle_tiles source = audit_tiles_source(&tiles);
    bool same = signed_->size <= (uint64_t) state->size
                && merkle_root(&source, signed_->size, root) == AZ_OK
                && memcmp(root, signed_->root, SHA256_OCTETS) == 0;
    talloc_free(step.mem);
    return same;
}

/* Check a checkpoint that stands where the owner of the database cannot write. *size rises to its
 * size, if it is of the present epoch. Another host may have begun an epoch; then the one before it
 * must be as it was. A later epoch than the present one: the database was restored. */
static enum az_status
check_outside(const struct seal *seal, const struct checkpoint *kept, const char *why,
              int64_t *size)
{
    struct op *op = seal->op;
    for (int epoch = seal->state.epoch; epoch > 0; epoch--) {
        bool present = epoch == seal->state.epoch;
        const struct audit_log_state all = {.epoch = epoch, .size = INT64_MAX};
        const char *origin = audit_log_origin(op, epoch);
        if (origin == NULL || strcmp(origin, kept->origin) != 0)
            continue;
        if (!audit_signed_has(op, present ? &seal->state : &all, kept))
            return refuse(seal, why);
        if (present && (int64_t) kept->size > *size)
            *size = (int64_t) kept->size;
        return AZ_OK;
    }
    const char *first = audit_log_origin(op, 1);
    size_t length = first != NULL ? strlen(first) : 0;
    bool later =
        length > 0 && strncmp(first, kept->origin, length) == 0 && kept->origin[length] == '/';
    return later ? refuse(seal, why) : AZ_OK;
}

/* Read the checkpoint that this host signed last; *ret is NULL if there is none yet. */
static enum az_status
read_signed(struct op *op, char **ret)
{
    enum az_status st = read_file(op->mem, path_of(op->mem, op->az, SIGNED_FILE), ret);
    return st == AZ_OK ? AZ_OK
                       : op_fail(op, st, NULL, "SVC_RUNTIME_DIR: " SIGNED_FILE " cannot be read");
}

/* Check what this host signed last. */
static enum az_status
check_kept(const struct seal *seal, int64_t *size)
{
    char *note;
    struct checkpoint kept;
    enum az_status st = read_signed(seal->op, &note);
    if (st != AZ_OK)
        return st;
    if (note == NULL || checkpoint_read(note, &kept) != AZ_OK)
        return AZ_OK;
    return check_outside(seal, &kept, "the database no longer has what this host signed last",
                         size);
}

bool
audit_signed_is_ours(struct op *op, const char *note, const char *origin, const struct jwk *key)
{
    struct jwk **keys;
    size_t count;
    if (note_verify(note, origin, key) == AZ_OK)
        return true;
    if (signing_keys_open_all(op, SIGNING_AUDIT, &keys, &count) != AZ_OK)
        return false;
    for (size_t i = 0; i < count; i++)
        if (note_verify(note, origin, keys[i]) == AZ_OK)
            return true;
    return false;
}

/* Check the last checkpoint of SVC_AUDIT_CHECKPOINT_FILE that we signed: a host that lost
 * SVC_RUNTIME_DIR would see nothing of a log that was cut back to an earlier checkpoint. */
static enum az_status
check_filed(const struct seal *seal, const struct jwk *key, int64_t *size)
{
    struct op *op = seal->op;
    char *text;
    struct checkpoint filed;
    enum az_status st = audit_seal_file_end(op, &text);
    if (st != AZ_OK || text == NULL)
        return st;
    for (char *note; (note = audit_last_note(text)) != NULL; *note = '\0')
        if (checkpoint_read(note, &filed) == AZ_OK
            && audit_signed_is_ours(op, note, filed.origin, key))
            return check_outside(seal, &filed,
                                 "the database no longer has the end of SVC_AUDIT_CHECKPOINT_FILE",
                                 size);
    return AZ_OK;
}

/* Check the newest checkpoint of the database, if we signed it: another host may have, or this one,
 * before it was started again. */
static enum az_status
check_newest(const struct seal *seal, const struct jwk *key, int64_t *size)
{
    const char *note, *origin = audit_log_origin(seal->op, seal->state.epoch);
    struct checkpoint newest;
    struct db_params params = {.count = 0};
    db_number(&params, seal->state.epoch);
    enum az_status st = db_fetch_text(seal->op, &audit_newest_stmt, &params, &note);
    if (st != AZ_OK || note == NULL || origin == NULL || checkpoint_read(note, &newest) != AZ_OK
        || strcmp(newest.origin, origin) != 0 || !audit_signed_is_ours(seal->op, note, origin, key))
        return st;
    if (!audit_signed_has(seal->op, &seal->state, &newest))
        return refuse(seal, "the newest checkpoint is not of the log in the database");
    if ((int64_t) newest.size > *size)
        *size = (int64_t) newest.size;
    return AZ_OK;
}

/* Check one leaf that no checkpoint covers. *ret_good: it may be signed. */
static enum az_status
check_leaf(const struct seal *seal, struct audit_cursor *rows, struct op *step,
           const struct audit_tile *tile, int64_t number, bool *ret_good)
{
    const struct audit_leaf *leaf = &tile->leaf[number % MERKLE_TILE_WIDTH];
    const unsigned char *hash = tile->hash[number % MERKLE_TILE_WIDTH];
    const char *text;
    struct audit_line line;
    merkle_hash made;
    int64_t id = 0;
    if (leaf->note) {
        enum az_status st = audit_note_line(step, seal->state.epoch, number, &text);
        *ret_good = st == AZ_OK && audit_note_fits(number, text, hash)
                    && (audit_note_kind(text) == NOTE_BEGIN || audit_note_kind(text) == NOTE_KEY);
        return st;
    }
    if (rows->op == NULL)
        audit_cursor_init(rows, seal->op, leaf->id - 1, seal->state.up_to);
    enum az_status st = audit_cursor_peek(rows, &id);
    if (st == AZ_OK && id == leaf->id)
        st = audit_cursor_take(rows, &line);
    *ret_good = st == AZ_OK && id == leaf->id && merkle_leaf(line.text, line.length, made) == AZ_OK
                && memcmp(made, hash, SHA256_OCTETS) == 0;
    return st;
}

/* Check the leaves that no checkpoint covers. */
static enum az_status
check_tail(const struct seal *seal, int64_t from)
{
    struct audit_cursor rows = {.op = NULL};
    enum az_status st = AZ_OK;
    bool good = true;
    while (st == AZ_OK && good && from < seal->state.size) {
        struct op step = op_beside(seal->op, talloc_new(seal->op->mem));
        const struct audit_tile *tile;
        struct audit_tiles tiles;
        audit_tiles_init(&tiles, &step, seal->state.epoch);
        st = audit_tile_read(&tiles, 0, (uint64_t) from / MERKLE_TILE_WIDTH, &tile);
        do {
            good = st == AZ_OK && (size_t) (from % MERKLE_TILE_WIDTH) < tile->width;
            if (good)
                st = check_leaf(seal, &rows, &step, tile, from, &good);
            from++;
        } while (good && from < seal->state.size && from % MERKLE_TILE_WIDTH != 0);
        if (st != AZ_OK && seal->op->fault.status == AZ_OK)
            seal->op->fault = step.fault;
        talloc_free(step.mem);
    }
    if (st != AZ_OK && st != AZ_NOT_FOUND)
        return st;
    return good ? AZ_OK : refuse(seal, "a leaf that was not signed is no audit row");
}

enum az_status
audit_signed_check(struct seal *seal, const struct jwk *key)
{
    int64_t size = 0;
    if (seal->checked)
        return AZ_OK;
    enum az_status st = check_kept(seal, &size);
    if (st == AZ_OK)
        st = check_filed(seal, key, &size);
    if (st == AZ_OK)
        st = check_newest(seal, key, &size);
    if (st == AZ_OK)
        st = check_tail(seal, size);
    seal->checked = st == AZ_OK;
    if (st == AZ_OK)
        remove_file(seal->op, REFUSED_FILE);
    return st;
}

/* ---- the number of an epoch ---- */

/* Return the number of the epoch that an origin names; 0: it names another log. */
static int64_t
number_of(const char *first, const char *origin)
{
    int64_t number = 0;
    size_t length = strlen(first);
    if (strncmp(origin, first, length) != 0)
        return 0;
    if (origin[length] == '\0')
        return 1;
    return origin[length] == '/' && digits_read(origin + length + 1, INT64_MAX, &number) ? number
                                                                                         : 0;
}

/* Raise *number to the largest epoch in a text of checkpoints, which is cut. */
static void
raise_to(const char *first, char *text, int64_t *number)
{
    struct checkpoint read;
    for (char *note; text != NULL && (note = audit_last_note(text)) != NULL; *note = '\0') {
        int64_t told = checkpoint_read(note, &read) == AZ_OK ? number_of(first, read.origin) : 0;
        if (told > *number)
            *number = told;
    }
}

enum az_status
audit_epoch_last(struct op *op, int64_t after, int64_t *ret)
{
    char *filed = NULL, *kept = NULL;
    PGresult *result;
    const char *first = audit_log_origin(op, 1);
    if (first == NULL)
        return op_no_memory(op);
    enum az_status st = db_exec(op, &audit_epoch_stored_stmt, NULL, true, &result);
    if (st == AZ_OK)
        st = audit_seal_file_end(op, &filed);
    if (st == AZ_OK)
        st = read_signed(op, &kept);
    if (st != AZ_OK)
        return st;
    *ret = db_get_number(result, 0, 0, 0);
    if (after > *ret)
        *ret = after;
    raise_to(first, filed, ret);
    raise_to(first, kept, ret);
    if (*ret < AUDIT_EPOCH_MAX)
        return AZ_OK;
    return op_fail(op, AZ_INVALID,
                   "An epoch of the audit log must have a number up to 1000000: see --after, the "
                   "end of SVC_AUDIT_CHECKPOINT_FILE and audit-signed in SVC_RUNTIME_DIR",
                   NULL);
}
