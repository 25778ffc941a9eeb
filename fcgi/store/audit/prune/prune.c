#include "config.h"

#include "store/audit/prune/prune.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "store/audit/notes.h"
#include "store/audit/seal.h"
#include "store/audit/signed.h"
#include "store/db/partitions.h"
#include "store/tokens/signing_keys.h"

/* The newest checkpoint of a seal before $3, if all seals before it are: the seal of a clock that
 * went back lets nothing age that a seal before it keeps. Its last leaf, the note with its time,
 * lies in a tile that is not full, so its root proves that note. */
enum prune_seal_column { SEAL_SIZE, SEAL_NOTE, SEAL_LINE };
static const struct db_stmt prune_seal_stmt = {
    "prune_seal",
    "SELECT c.size, c.note, n.line FROM audit_checkpoint c JOIN audit_note n"
    "  ON n.epoch = c.epoch AND n.leaf = c.size - 1"
    " WHERE c.epoch = $1 AND c.size > $2::bigint AND c.size % 256 <> 0"
    "  AND n.line LIKE '{\"v\":1,\"seal\":%'"
    "  AND c.size <= coalesce((SELECT leaf FROM audit_note WHERE epoch = $1"
    "   AND leaf >= $2::bigint - 256 AND line LIKE '{\"v\":1,\"seal\":%'"
    "   AND (line::json -> 'seal' ->> 'at')::timestamptz >= $3::timestamptz"
    "   ORDER BY leaf LIMIT 1), 9223372036854775807)"
    " ORDER BY c.size DESC LIMIT 1",
    3};
static const struct db_stmt prune_rows_stmt = {
    "prune_rows",
    "SELECT EXISTS (SELECT 1 FROM audit_log WHERE id > $1::bigint AND id < $2::bigint)", 2};
/* All but the last one of each day, of those that were not chosen before ($3: leaves that have
 * aged). Days are those of the seals, which hashes cover, in the order of sizes: a clock that went
 * back begins no day again. $2 is the size of the seal. */
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

/* A run. */
struct prune {
    struct seal seal;
    struct audit_notes notes;
    const struct audit_epoch *epoch; /* the present one */
    struct jwk *key;
    int64_t sealed; /* size of the seal from which on leaves are kept; 0: none is old enough */
    int64_t aged;   /* leaves that have aged: those of the tiles before that of the seal */
    int64_t first;  /* id of the first leaf that is kept */
    json_t *gone;   /* array {day, rows} */
};

static enum az_status
no_memory(struct op *op)
{
    return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for the age of the audit log");
}

/* Find the seal, and prove that it is one: the owner of the database can write its time. */
static enum az_status
find_seal(struct prune *prune)
{
    struct op *op = prune->seal.op;
    struct db_params params = {.count = 0};
    struct audit_tiles tiles;
    const struct audit_tile *tile;
    struct checkpoint read;
    PGresult *result;
    const char *origin = audit_log_origin(op, prune->seal.state.epoch);
    int64_t day = partition_day(op_now(op)) - op->az->cfg->audit_proof_days;
    db_number(&params, prune->seal.state.epoch);
    db_number(&params, prune->epoch->aged + MERKLE_TILE_WIDTH);
    db_time(&params, (PARTITION_EPOCH + day * 86400) * 1000);
    enum az_status st = db_exec(op, &prune_seal_stmt, &params, true, &result);
    if (st != AZ_OK || PQntuples(result) == 0)
        return st;
    const char *note = db_get(result, 0, SEAL_NOTE);
    int64_t size = db_get_number(result, 0, SEAL_SIZE, 0), last = size - 1;
    audit_tiles_init(&tiles, op, prune->seal.state.epoch);
    st = audit_tile_read(&tiles, 0, (uint64_t) last / MERKLE_TILE_WIDTH, &tile);
    if (st == AZ_OK
        && (origin == NULL || checkpoint_read(note, &read) != AZ_OK || read.size != (uint64_t) size
            || strcmp(read.origin, origin) != 0
            || !audit_signed_is_ours(op, note, origin, prune->key)
            || !audit_signed_has(op, &prune->seal.state, &read)
            || !audit_note_fits(last, db_get(result, 0, SEAL_LINE),
                                tile->hash[last % MERKLE_TILE_WIDTH])))
        st = AZ_NOT_FOUND;
    if (st == AZ_NOT_FOUND)
        return op_fail(op, AZ_CONFLICT, NULL,
                       "the seal of size %lld of the audit log is not what was signed; run "
                       "`authzctl audit verify`",
                       (long long) size);
    prune->sealed = size;
    prune->aged = last / MERKLE_TILE_WIDTH * MERKLE_TILE_WIDTH;
    prune->first = st == AZ_OK ? tile->leaf[0].id : 0;
    return st;
}

/* True if a row of a leaf that would age is there. */
static enum az_status
find_rows(const struct prune *prune, bool *ret)
{
    struct op *op = prune->seal.op;
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, prune->epoch->begin_up_to);
    db_number(&params, prune->first);
    enum az_status st = db_exec(op, &prune_rows_stmt, &params, true, &result);
    *ret = st == AZ_OK && db_get_bool(result, 0, 0);
    return st;
}

/* ---- the rows of days that are dropped by a note which stays ---- */

/* True if the note of a dropped day stays. */
static bool
is_noted(const struct prune *prune, int64_t day)
{
    for (size_t i = 0; i < prune->notes.count; i++)
        if (prune->notes.dropped[i].day == day
            && (prune->notes.dropped[i].epoch != prune->seal.state.epoch
                || prune->notes.dropped[i].leaf >= prune->aged))
            return true;
    return false;
}

/* Add rows of a day. False: no memory. */
static bool
gone_add(json_t *gone, int64_t day, int64_t rows)
{
    size_t i;
    json_t *item;
    json_array_foreach (gone, i, item) {
        json_t *count = json_object_get(item, "rows");
        if (json_integer_value(json_object_get(item, "day")) == day)
            return json_integer_set(count, json_integer_value(count) + rows) == 0;
    }
    return json_array_append_new(
               gone, json_pack("{s:I,s:I}", "day", (json_int_t) day, "rows", (json_int_t) rows))
           == 0;
}

/* True if the hashes of a tile are those in the tile above, which stays. */
static enum az_status
check_hashes(const struct prune *prune, struct op *step, const struct audit_tile *tile, bool *ret)
{
    merkle_hash root;
    struct audit_tiles tiles;
    const struct audit_tile *above;
    size_t at = (size_t) (tile->n % MERKLE_TILE_WIDTH);
    audit_tiles_init(&tiles, step, prune->seal.state.epoch);
    enum az_status st = audit_tile_read(&tiles, 1, tile->n / MERKLE_TILE_WIDTH, &above);
    *ret = false;
    if (st != AZ_OK || tile->width != MERKLE_TILE_WIDTH)
        return st;
    st = merkle_subtree(tile->hash[0], MERKLE_TILE_WIDTH, root);
    *ret = st == AZ_OK && at < above->width && memcmp(root, above->hash[at], SHA256_OCTETS) == 0;
    return st;
}

/* True if a leaf is a note that is there, or a row that the note of its day lets pass. No hash has
 * which one a tile says that it is: the owner of the database can change that, and nothing shows it
 * once the leaf has aged. */
static enum az_status
check_leaf(struct prune *prune, struct op *step, const struct audit_tile *tile, size_t i, bool *ret)
{
    int epoch = prune->seal.state.epoch;
    int64_t number = (int64_t) (tile->n * MERKLE_TILE_WIDTH + i);
    const char *line;
    if (!tile->leaf[i].note) {
        *ret = audit_notes_drop(&prune->notes, epoch, tile->leaf[i].day);
        return AZ_OK;
    }
    enum az_status st = audit_note_line(step, epoch, number, &line);
    *ret = st == AZ_OK && audit_note_fits(number, line, tile->hash[i]);
    return st;
}

/* Check a tile that would age. */
static enum az_status
check_tile(struct prune *prune, struct op *step, const struct audit_tile *tile)
{
    bool good = false;
    enum az_status st = check_hashes(prune, step, tile, &good);
    for (size_t i = 0; st == AZ_OK && good && i < tile->width; i++)
        st = check_leaf(prune, step, tile, i, &good);
    if (st == AZ_OK && !good)
        return op_fail(
            step, AZ_CONFLICT, NULL,
            "tile %llu of the audit log is not what its notes say, and does not age; run "
            "`authzctl audit verify`",
            (unsigned long long) tile->n);
    return st;
}

/* Check a tile, and count its rows. */
static enum az_status
count_tile(struct prune *prune, uint64_t n)
{
    struct op step = op_beside(prune->seal.op, talloc_new(prune->seal.op->mem));
    struct audit_tiles tiles;
    const struct audit_tile *tile;
    bool good = true;
    audit_tiles_init(&tiles, &step, prune->seal.state.epoch);
    enum az_status st = audit_tile_read(&tiles, 0, n, &tile);
    if (st == AZ_OK)
        st = check_tile(prune, &step, tile);
    for (size_t i = 0; st == AZ_OK && good && i < tile->width;) {
        size_t begin = i;
        while (i < tile->width && tile->leaf[i].note == tile->leaf[begin].note
               && tile->leaf[i].day == tile->leaf[begin].day)
            i++;
        if (!tile->leaf[begin].note && is_noted(prune, tile->leaf[begin].day))
            good = gone_add(prune->gone, tile->leaf[begin].day, (int64_t) (i - begin));
    }
    if (st != AZ_OK && st != AZ_NOT_FOUND)
        prune->seal.op->fault = step.fault;
    talloc_free(step.mem);
    if (st == AZ_NOT_FOUND)
        st = op_fail(prune->seal.op, AZ_CONFLICT, NULL,
                     "tile %llu of the audit log is missing; run `authzctl audit verify`",
                     (unsigned long long) n);
    return good ? st : no_memory(prune->seal.op);
}

static enum az_status
count_gone(struct prune *prune)
{
    struct op *op = prune->seal.op;
    bool good = (prune->gone = jsonx_own(op->mem, json_array())) != NULL;
    for (size_t i = 0; good && i < prune->notes.gones; i++)
        if (prune->notes.gone[i].epoch == prune->seal.state.epoch
            && is_noted(prune, prune->notes.gone[i].day))
            good = gone_add(prune->gone, prune->notes.gone[i].day, prune->notes.gone[i].rows);
    enum az_status st = good ? AZ_OK : no_memory(op);
    for (int64_t at = prune->epoch->aged; at < prune->aged && st == AZ_OK; at += MERKLE_TILE_WIDTH)
        st = *op->az->stopping ? AZ_RETRY : count_tile(prune, (uint64_t) at / MERKLE_TILE_WIDTH);
    return st;
}

/* ---- the change ---- */

static enum az_status
append_note(struct prune *prune)
{
    struct seal *seal = &prune->seal;
    enum az_status st = audit_edge_read(seal->op, &seal->state, &seal->edge);
    if (st == AZ_OK)
        st = audit_key_announce(seal, prune->key);
    if (st != AZ_OK)
        return st;
    return audit_note_append(
        seal,
        json_pack("{s:i,s:{s:I,s:I,s:O}}", "v", 1, "aged", "leaves", (json_int_t) prune->aged,
                  "days", (json_int_t) seal->op->az->cfg->audit_proof_days, "gone", prune->gone),
        NULL, prune->key, NULL);
}

static enum az_status
delete_aged(const struct prune *prune)
{
    const struct {
        const struct db_stmt *stmt;
        int64_t up_to, after;
    } steps[] = {
        {&prune_checkpoints_stmt, prune->sealed, prune->epoch->aged},
        {&prune_notes_stmt,       prune->aged,   0                 },
        {&prune_tiles_stmt,       prune->aged,   0                 },
    };
    struct db_batch *batch = db_batch_new(prune->seal.op);
    db_batch_begin(batch);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct db_step *step = db_batch_add(batch, steps[i].stmt);
        db_number(&step->params, prune->seal.state.epoch);
        db_number(&step->params, steps[i].up_to);
        if (steps[i].stmt == &prune_checkpoints_stmt)
            db_number(&step->params, steps[i].after);
    }
    db_batch_commit(batch);
    return db_run(prune->seal.op, batch, false);
}

/* Let the leaves before the seal age. */
static enum az_status
age(struct prune *prune, int64_t *ret)
{
    bool rows = false;
    enum az_status st = find_rows(prune, &rows);
    if (st != AZ_OK || rows)
        return st;
    st = count_gone(prune);
    if (st == AZ_OK)
        st = append_note(prune);
    if (st == AZ_OK)
        st = delete_aged(prune);
    if (st == AZ_OK)
        *ret = prune->aged;
    return st == AZ_RETRY ? AZ_OK : st;
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
    if (st != AZ_OK)
        return st;
    prune.epoch = &prune.notes.epoch[prune.notes.epochs - 1];
    *ret = prune.epoch->aged;
    st = find_seal(&prune);
    return st == AZ_OK && prune.aged > prune.epoch->aged ? age(&prune, ret) : st;
}
