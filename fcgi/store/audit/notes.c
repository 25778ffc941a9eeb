#include "config.h"

#include "store/audit/notes.h"

#include <string.h>

static const struct db_stmt audit_note_read_stmt = {
    "audit_note_read", "SELECT line FROM audit_note WHERE epoch = $1 AND leaf = $2::bigint", 2};
enum audit_begin_column { BEGIN_UP_TO, BEGIN_AT };
static const struct db_stmt audit_begin_stmt = {
    "audit_begin",
    "SELECT line::json -> 'begin' ->> 'upTo' AS up_to, line::json -> 'begin' ->> 'at' AS at"
    " FROM audit_note WHERE epoch = $1 AND leaf = 0",
    1};
enum audit_dropped_column { DROPPED_LEAF, DROPPED_DAY, DROPPED_ROWS };
static const struct db_stmt audit_dropped_stmt = {
    "audit_dropped",
    "SELECT leaf, line::json -> 'dropped' ->> 'day' AS day,"
    "  line::json -> 'dropped' ->> 'rows' AS rows FROM audit_note"
    " WHERE epoch = $1 AND leaf < $2::bigint AND line LIKE '{\"v\":1,\"dropped\":%' ORDER BY leaf",
    2};
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
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strncmp(line, kinds[i].begin, strlen(kinds[i].begin)) == 0)
            return kinds[i].kind;
    return NOTE_OTHER;
}

static enum az_status
read_begin(struct op *op, const struct audit_log_state *state, struct audit_notes *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, state->epoch);
    enum az_status st = db_exec(op, &audit_begin_stmt, &params, true, &result);
    if (st == AZ_OK && PQntuples(result) > 0) {
        ret->begin_up_to = db_get_number(result, 0, BEGIN_UP_TO, 0);
        ret->begin_at = db_get(result, 0, BEGIN_AT);
    }
    return st;
}

enum az_status
audit_notes_read(struct op *op, const struct audit_log_state *state, struct audit_notes *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    *ret = (struct audit_notes){.count = 0};
    enum az_status st = read_begin(op, state, ret);
    db_number(&params, state->epoch);
    db_number(&params, state->size);
    if (st == AZ_OK)
        st = db_exec(op, &audit_dropped_stmt, &params, true, &result);
    if (st != AZ_OK)
        return st;
    size_t count = (size_t) PQntuples(result);
    ret->dropped = talloc_array(op->mem, struct audit_dropped, (unsigned) count + 1);
    if (ret->dropped == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for notes of the audit log");
    for (; ret->count < count; ret->count++)
        ret->dropped[ret->count] = (struct audit_dropped){
            .leaf = db_get_number(result, (int) ret->count, DROPPED_LEAF, -1),
            .day = db_get_number(result, (int) ret->count, DROPPED_DAY, -1),
            .rows = db_get_number(result, (int) ret->count, DROPPED_ROWS, 0),
        };
    return AZ_OK;
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
audit_notes_drop(struct audit_notes *notes, int64_t day)
{
    for (size_t i = 0; i < notes->count; i++)
        if (notes->dropped[i].day == day && notes->dropped[i].missing < notes->dropped[i].rows) {
            notes->dropped[i].missing++;
            return true;
        }
    return false;
}

bool
audit_notes_drop_at(const struct audit_notes *notes, int64_t leaf)
{
    for (size_t i = 0; i < notes->count; i++)
        if (notes->dropped[i].leaf == leaf)
            return true;
    return false;
}

enum az_status
audit_notes_outside(struct op *op, const struct audit_notes *notes, PGresult **ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, notes->begin_up_to);
    db_text(&params, notes->begin_at);
    db_number(&params, AUDIT_LINES_ROWS);
    return db_exec(op, &audit_outside_stmt, &params, true, ret);
}
