#include "config.h"

#include "store/audit/proof/notes.h"

#include <string.h>

#include "crypto/merkle.h"

static const struct db_stmt audit_note_read_stmt = {
    "audit_note_read", "SELECT line FROM audit_note WHERE epoch = $1 AND leaf = $2::bigint", 2};
/* The epochs up to $1, each with its last seal, and with the leaves up to the last note of a seal,
 * of a dropped day or of aged leaves that has a checkpoint: what comes after it is not signed. */
enum audit_epochs_column {
    EPOCH_NUMBER,
    EPOCH_UP_TO,
    EPOCH_SIGNED,
    EPOCH_BEGIN,
    EPOCH_AT,
    EPOCH_PREVIOUS
};
static const struct db_stmt audit_epochs_stmt = {
    "audit_epochs",
    "SELECT b.epoch AS number, s.line::json -> 'seal' ->> 'upTo' AS up_to,"
    "  greatest(s.leaf + 1, d.leaf + 1) AS signed,"
    "  b.line::json -> 'begin' ->> 'upTo' AS begin, b.line::json -> 'begin' ->> 'at' AS at,"
    "  b.line::json -> 'begin' ->> 'previous' AS previous"
    " FROM audit_note b LEFT JOIN LATERAL (SELECT leaf, line FROM audit_note"
    "   WHERE epoch = b.epoch AND " NOTE_IS_SEAL " ORDER BY leaf DESC LIMIT 1) s"
    "  ON true LEFT JOIN LATERAL (SELECT n.leaf FROM audit_note n JOIN audit_checkpoint c"
    "    ON c.epoch = n.epoch AND c.size = n.leaf + 1 WHERE n.epoch = b.epoch"
    "    AND (n." NOTE_IS_DROPPED " OR n." NOTE_IS_AGED ") ORDER BY "
    "n.leaf DESC LIMIT 1) d ON true"
    " WHERE b.leaf = 0 AND b.epoch <= $1::integer ORDER BY b.epoch",
    1};
enum audit_dropped_column { DROPPED_EPOCH, DROPPED_LEAF, DROPPED_DAY, DROPPED_ROWS };
static const struct db_stmt audit_dropped_stmt = {
    "audit_dropped",
    "SELECT epoch, leaf, line::json -> 'dropped' ->> 'day' AS day,"
    "  line::json -> 'dropped' ->> 'rows' AS rows FROM audit_note"
    " WHERE " NOTE_IS_DROPPED " ORDER BY epoch, leaf",
    0};
/* The last note of aged leaves in each epoch that has a checkpoint, the newest first, with a row
 * for each epoch that it names and each day of it. A note of an earlier version is about its own
 * epoch alone, and does not name it. */
enum audit_aged_column {
    AGED_IN,
    AGED_LEAF,
    AGED_EPOCH,
    AGED_LEAVES,
    AGED_UP_TO,
    AGED_DAY,
    AGED_ROWS
};
static const struct db_stmt audit_aged_stmt = {
    "audit_aged",
    "SELECT a.epoch AS \"in\", a.leaf, coalesce(e.epoch, a.epoch) AS epoch, e.leaves,"
    "  e.\"upTo\" AS up_to, g.day, g.rows"
    " FROM (SELECT DISTINCT ON (n.epoch) n.epoch, n.leaf, n.line::json -> 'aged' AS aged"
    "  FROM audit_note n JOIN audit_checkpoint c ON c.epoch = n.epoch AND c.size = n.leaf + 1"
    "  WHERE n." NOTE_IS_AGED " ORDER BY n.epoch, n.leaf DESC) a"
    " CROSS JOIN LATERAL json_to_recordset(coalesce(a.aged -> 'epochs', json_build_array(a.aged)))"
    "  AS e(epoch integer, leaves bigint, \"upTo\" bigint, gone json)"
    " LEFT JOIN LATERAL json_to_recordset(e.gone) AS g(day bigint, rows bigint) ON true"
    " ORDER BY 1 DESC, 3 DESC",
    0};
/* An hour: the clocks of hosts that write rows may differ. */
static const struct db_stmt audit_outside_stmt = {
    "audit_outside",
    "SELECT id FROM (SELECT id FROM audit_log WHERE id <= $1::bigint"
    "   AND created_at > $2::timestamptz + interval '1 hour'"
    "  UNION ALL SELECT id FROM audit_log WHERE id > (SELECT last_value FROM audit_id_seq)) x"
    " ORDER BY id LIMIT $3",
    3};

enum audit_note_kind
audit_note_kind(const char *line)
{
    static const struct {
        const char *begin;
        enum audit_note_kind kind;
    } kinds[] = {
        {"{\"v\":1,\"begin\":",   NOTE_BEGIN  },
        {"{\"v\":1,\"key\":",     NOTE_KEY    },
        {"{\"v\":1,\"seal\":",    NOTE_SEAL   },
        {"{\"v\":1,\"dropped\":", NOTE_DROPPED},
        {"{\"v\":1,\"aged\":",    NOTE_AGED   },
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strncmp(line, kinds[i].begin, strlen(kinds[i].begin)) == 0)
            return kinds[i].kind;
    return NOTE_OTHER;
}

bool
audit_note_fits(int64_t leaf, const char *line, const unsigned char *hash)
{
    merkle_hash made;
    enum audit_note_kind kind = line != NULL ? audit_note_kind(line) : NOTE_OTHER;
    return kind != NOTE_OTHER && (kind == NOTE_BEGIN) == (leaf == 0)
           && merkle_leaf(line, strlen(line), made) == AZ_OK
           && memcmp(made, hash, SHA256_OCTETS) == 0;
}

/* Read the epochs; `state` is the present one. */
static enum az_status
read_epochs(struct op *op, const struct audit_log_state *state, struct audit_notes *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, state->epoch);
    enum az_status st = db_exec(op, &audit_epochs_stmt, &params, true, &result);
    int rows = st == AZ_OK ? PQntuples(result) : 0;
    if (st != AZ_OK)
        return st;
    ret->epoch = talloc_zero_array(op->mem, struct audit_epoch, (unsigned) rows + 1);
    if (ret->epoch == NULL)
        return op_no_memory(op);
    for (int i = 0; i < rows; i++) {
        struct audit_epoch *epoch = &ret->epoch[ret->epochs++];
        epoch->aged_leaf = -1;
        epoch->begin_up_to = db_get_number(result, i, EPOCH_BEGIN, 0);
        epoch->begin_at = db_get(result, i, EPOCH_AT);
        epoch->next_up_to = INT64_MAX;
        epoch->state.begun = true;
        epoch->state.epoch = (int) db_get_number(result, i, EPOCH_NUMBER, 0);
        epoch->previous = (int) db_get_number(result, i, EPOCH_PREVIOUS, epoch->state.epoch - 1);
        epoch->state.size = epoch->covered = db_get_number(result, i, EPOCH_SIGNED, 0);
        epoch->state.up_to = db_get_number(result, i, EPOCH_UP_TO, epoch->begin_up_to);
        if (i > 0)
            ret->epoch[i - 1].next_up_to = epoch->begin_up_to;
    }
    /* The present one may have no note yet, and reaches beyond its last seal. */
    if (ret->epochs == 0 || ret->epoch[ret->epochs - 1].state.epoch != state->epoch)
        ret->epoch[ret->epochs++] = (struct audit_epoch){.next_up_to = INT64_MAX, .aged_leaf = -1};
    if (ret->epoch[ret->epochs - 1].begin_at == NULL)
        ret->epoch[ret->epochs - 1].previous = state->epoch - 1;
    struct audit_epoch *last = &ret->epoch[ret->epochs - 1];
    last->state = *state;
    /* A checkpoint of more leaves than there are covers nothing. */
    if (last->covered > state->size)
        last->covered = state->size;
    return AZ_OK;
}

/* Return an epoch; NULL: there is no such one. */
static struct audit_epoch *
epoch_of(const struct audit_notes *notes, int64_t number)
{
    for (size_t i = 0; i < notes->epochs; i++)
        if (notes->epoch[i].state.epoch == number)
            return &notes->epoch[i];
    return NULL;
}

/* An epoch in a note of aged leaves. */
struct aged_note {
    const struct audit_epoch *in; /* that has the note */
    int64_t leaf;                 /* number of the note */
    struct audit_epoch *epoch;
    int64_t leaves;
    int64_t up_to; /* of its rows; -1: not all its leaves have aged */
};

/* True if a note counts: a checkpoint covers it, it has not aged itself, and no newer one says
 * something of this epoch. */
static bool
aged_counts(const struct aged_note *note)
{
    const struct audit_epoch *in = note->in, *epoch = note->epoch;
    return in != NULL && epoch != NULL && epoch->state.epoch <= in->state.epoch
           && note->leaf < in->covered && (in == epoch || note->leaf >= in->aged)
           && (epoch->aged_leaf < 0
               || (epoch->aged_in == in->state.epoch && epoch->aged_leaf == note->leaf));
}

/* Set what a note says of an epoch. False: it cannot be. */
static bool
set_aged(const struct aged_note *note)
{
    struct audit_epoch *epoch = note->epoch;
    int64_t most = note->in == epoch ? note->leaf : epoch->covered;
    bool whole = note->up_to >= 0;
    if (whole ? note->in == epoch || note->leaves <= 0
              : note->leaves < MERKLE_TILE_WIDTH || note->leaves % MERKLE_TILE_WIDTH != 0
                    || note->leaves > most)
        return false;
    epoch->aged = note->leaves;
    epoch->aged_in = note->in->state.epoch;
    epoch->aged_leaf = note->leaf;
    epoch->whole = whole;
    if (whole) { /* its own last notes are no longer checked */
        epoch->state.size = epoch->covered = note->leaves;
        epoch->state.up_to = note->up_to;
    }
    return true;
}

/* Read which leaves have aged. */
static enum az_status
read_aged(struct op *op, struct audit_notes *ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, &audit_aged_stmt, NULL, true, &result);
    if (st != AZ_OK)
        return st;
    ret->gone = talloc_array(op->mem, struct audit_gone, (unsigned) PQntuples(result) + 1);
    if (ret->gone == NULL)
        return op_no_memory(op);
    for (int i = 0; i < PQntuples(result); i++) {
        const struct aged_note note = {
            .in = epoch_of(ret, db_get_number(result, i, AGED_IN, 0)),
            .leaf = db_get_number(result, i, AGED_LEAF, 0),
            .epoch = epoch_of(ret, db_get_number(result, i, AGED_EPOCH, 0)),
            .leaves = db_get_number(result, i, AGED_LEAVES, 0),
            .up_to = db_get_number(result, i, AGED_UP_TO, -1),
        };
        if (aged_counts(&note) && set_aged(&note) && db_get(result, i, AGED_DAY) != NULL)
            ret->gone[ret->gones++] =
                (struct audit_gone){.epoch = note.epoch->state.epoch,
                                    .day = db_get_number(result, i, AGED_DAY, -1),
                                    .rows = db_get_number(result, i, AGED_ROWS, 0)};
    }
    return AZ_OK;
}

/* Take the rows whose leaves have aged from what the notes of their days let pass. */
static void
take_gone(struct audit_notes *notes)
{
    for (size_t i = 0; i < notes->gones; i++) {
        int64_t left = notes->gone[i].rows;
        while (left-- > 0 && audit_notes_drop(notes, notes->gone[i].epoch, notes->gone[i].day))
            continue;
    }
}

static enum az_status
read_dropped(struct op *op, struct audit_notes *ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, &audit_dropped_stmt, NULL, true, &result);
    if (st != AZ_OK)
        return st;
    ret->dropped = talloc_array(op->mem, struct audit_dropped, (unsigned) PQntuples(result) + 1);
    if (ret->dropped == NULL)
        return op_no_memory(op);
    for (int i = 0; i < PQntuples(result); i++) {
        const struct audit_dropped dropped = {
            .epoch = (int) db_get_number(result, i, DROPPED_EPOCH, 0),
            .leaf = db_get_number(result, i, DROPPED_LEAF, -1),
            .day = db_get_number(result, i, DROPPED_DAY, -1),
            .rows = db_get_number(result, i, DROPPED_ROWS, 0),
        };
        const struct audit_epoch *epoch = epoch_of(ret, dropped.epoch);
        if (epoch != NULL && dropped.leaf < epoch->covered && dropped.leaf >= epoch->aged)
            ret->dropped[ret->count++] = dropped;
    }
    return AZ_OK;
}

enum az_status
audit_notes_read(struct op *op, struct audit_notes *ret)
{
    struct audit_log_state state;
    *ret = (struct audit_notes){.count = 0};
    enum az_status st = audit_log_state_read(op, &state);
    if (st == AZ_OK && !state.begun)
        return op_fail(op, AZ_NOT_FOUND, "There is no log yet; housekeeping begins it", NULL);
    if (st == AZ_OK)
        st = read_epochs(op, &state, ret);
    if (st == AZ_OK)
        st = read_aged(op, ret);
    if (st == AZ_OK)
        st = read_dropped(op, ret);
    if (st == AZ_OK)
        take_gone(ret);
    return st;
}

enum az_status
audit_note_line(struct op *op, int epoch, int64_t leaf, const char **ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, epoch);
    db_number(&params, leaf);
    return db_fetch_text(op, &audit_note_read_stmt, &params, ret);
}

bool
audit_notes_drop(struct audit_notes *notes, int epoch, int64_t day)
{
    for (size_t i = 0; i < notes->count; i++) {
        struct audit_dropped *dropped = &notes->dropped[i];
        if (dropped->day == day && dropped->epoch >= epoch && dropped->missing < dropped->rows) {
            dropped->missing++;
            return true;
        }
    }
    return false;
}

bool
audit_notes_drop_at(const struct audit_notes *notes, int epoch, int64_t leaf)
{
    for (size_t i = 0; i < notes->count; i++)
        if (notes->dropped[i].epoch == epoch && notes->dropped[i].leaf == leaf)
            return true;
    for (size_t i = 0; i < notes->epochs; i++)
        if (notes->epoch[i].aged_leaf == leaf && notes->epoch[i].aged_in == epoch)
            return true;
    return false;
}

enum az_status
audit_notes_outside(struct op *op, const struct audit_epoch *epoch, PGresult **ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, epoch->begin_up_to);
    db_text(&params, epoch->begin_at);
    db_number(&params, AUDIT_LINES_ROWS);
    return db_exec(op, &audit_outside_stmt, &params, true, ret);
}
