#include "config.h"

#include "store/audit/proof/outgoing.h"

#include "crypto/random.h"
#include "store/audit/proof/leaf.h"
#include "store/db/trip/db_row.h"

/* ---- statements ---- */

static const struct db_stmt outgoing_read_stmt = {
    "outgoing_read",
    "SELECT up_to, tries, held, error, to_char(sent_at" DB_TIME " AS sent_at,"
    " to_char(next_at" DB_TIME " AS next_at, sent, rejected, skipped, passed, refused,"
    " greatest(0, (SELECT last_value FROM audit_id_seq) - up_to) AS lag"
    " FROM audit_stream WHERE name = $1",
    1};
static const struct db_column outgoing_read_columns[] = {
    {"up_to",    DB_INTO(struct outgoing, up_to)   },
    {"tries",    DB_INTO(struct outgoing, tries)   },
    {"held",     DB_INTO(struct outgoing, held)    },
    {"error",    DB_INTO(struct outgoing, error)   },
    {"sent_at",  DB_INTO(struct outgoing, sent_at) },
    {"next_at",  DB_INTO(struct outgoing, next_at) },
    {"sent",     DB_INTO(struct outgoing, sent)    },
    {"rejected", DB_INTO(struct outgoing, rejected)},
    {"skipped",  DB_INTO(struct outgoing, skipped) },
    {"passed",   DB_INTO(struct outgoing, passed)  },
    {"refused",  DB_INTO(struct outgoing, refused) },
    {"lag",      DB_INTO(struct outgoing, lag)     },
};
static const struct db_stmt outgoing_begin_stmt = {
    "outgoing_begin",
    "INSERT INTO audit_stream (name, up_to) VALUES ($1, $2::bigint) ON CONFLICT DO NOTHING", 2};
static const struct db_stmt outgoing_lease_stmt = {
    "outgoing_lease",
    "UPDATE audit_stream SET lease = gen_random_uuid(),"
    "  leased_until = now() + $2::bigint * interval '1 second'"
    " WHERE name = $1 AND coalesce(leased_until < now(), true) AND coalesce(next_at <= now(), true)"
    " RETURNING lease::text",
    2};
/* $1 name, $2 lease, $3 its seconds; then the members of a step. */
static const struct db_stmt outgoing_step_stmt = {
    "outgoing_step",
    "UPDATE audit_stream SET leased_until = now() + $3::bigint * interval '1 second',"
    "  up_to = $4::bigint, sent = sent + $5::bigint, rejected = rejected + $6::bigint,"
    "  skipped = skipped + $7::bigint, passed = passed + $8::bigint,"
    "  refused = CASE WHEN $5::bigint > 0 THEN 0 ELSE refused + $12::bigint END,"
    "  error = $9::text, held = $10::boolean,"
    "  tries = CASE WHEN $9::text IS NULL THEN 0 ELSE tries + 1 END,"
    "  next_at = CASE WHEN $11::bigint > 0 THEN now() + $11::bigint * interval '1 second' END,"
    "  sent_at = CASE WHEN $5::bigint > 0 THEN now() ELSE sent_at END"
    " WHERE name = $1 AND lease = $2::uuid",
    12};
static const struct db_stmt outgoing_release_stmt = {
    "outgoing_release",
    "UPDATE audit_stream SET lease = NULL, leased_until = NULL WHERE name = $1 AND lease = "
    "$2::uuid",
    2};
/* A process that is still sending then loses its lease, so it cannot move the row back. */
static const struct db_stmt outgoing_move_stmt = {
    "outgoing_move",
    "INSERT INTO audit_stream (name, up_to) VALUES ($1, $2::bigint) ON CONFLICT (name) DO UPDATE"
    " SET up_to = excluded.up_to, tries = 0, next_at = NULL, held = false, error = NULL,"
    "  refused = 0, lease = NULL, leased_until = NULL",
    2};

static const struct db_stmt posted_waiting_stmt = {
    "posted_waiting",
    "SELECT epoch, size, note FROM audit_checkpoint WHERE posted_at IS NULL"
    " ORDER BY epoch DESC, size DESC LIMIT $1",
    1};
static const struct db_stmt posted_write_stmt = {
    "posted_write",
    "UPDATE audit_checkpoint SET posted_at = now(), cosigned = CASE WHEN epoch = $1::integer"
    "  AND size = $2::bigint THEN $3::text END"
    " WHERE posted_at IS NULL AND (epoch, size) <= ($1::integer, $2::bigint)",
    3};

/* ---- the row ---- */

enum az_status
outgoing_read(struct op *op, struct outgoing *outgoing)
{
    struct db_params params = {.count = 0};
    db_text(&params, outgoing->name);
    *outgoing = (struct outgoing){.name = outgoing->name};
    return db_fetch_row(op, &outgoing_read_stmt, &params, true,
                        DB_TABLE(struct outgoing, outgoing_read_columns), outgoing,
                        &outgoing->begun);
}

enum az_status
outgoing_begin(struct op *op, const char *name, int64_t up_to)
{
    struct db_params params = {.count = 0};
    db_text(&params, name);
    db_number(&params, up_to);
    return db_exec(op, &outgoing_begin_stmt, &params, false, NULL);
}

enum az_status
outgoing_lease(struct op *op, struct outgoing *outgoing)
{
    struct db_params params = {.count = 0};
    const char *lease;
    db_text(&params, outgoing->name);
    db_number(&params, OUTGOING_LEASE);
    enum az_status st = db_fetch_text(op, &outgoing_lease_stmt, &params, &lease);
    if (st == AZ_OK && lease != NULL)
        st = outgoing_read(op, outgoing);
    if (st == AZ_OK)
        outgoing->lease = lease;
    return st;
}

enum az_status
outgoing_step(struct op *op, struct outgoing *outgoing, const struct outgoing_step *step)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, outgoing->name);
    db_text(&params, outgoing->lease);
    db_number(&params, OUTGOING_LEASE);
    db_number(&params, step->up_to);
    db_number(&params, step->sent);
    db_number(&params, step->rejected);
    db_number(&params, step->skipped);
    db_number(&params, step->passed);
    db_text(&params, step->error);
    db_bool(&params, step->held);
    db_number(&params, step->wait);
    db_number(&params, step->refused);
    enum az_status st = db_exec(op, &outgoing_step_stmt, &params, false, &result);
    if (st == AZ_OK && db_written(result) == 0)
        return op_fail(op, AZ_CONFLICT, NULL, "another process sends in place of this one");
    if (st == AZ_OK) {
        outgoing->up_to = step->up_to;
        outgoing->tries = step->error == NULL ? 0 : outgoing->tries + 1;
        outgoing->refused = step->sent > 0 ? 0 : outgoing->refused + step->refused;
    }
    return st;
}

enum az_status
outgoing_release(struct op *op, const struct outgoing *outgoing)
{
    struct db_params params = {.count = 0};
    db_text(&params, outgoing->name);
    db_text(&params, outgoing->lease);
    return db_exec(op, &outgoing_release_stmt, &params, false, NULL);
}

enum az_status
outgoing_move(struct op *op, const char *name, int64_t up_to)
{
    struct db_params params = {.count = 0};
    db_text(&params, name);
    db_number(&params, up_to);
    return db_exec(op, &outgoing_move_stmt, &params, false, NULL);
}

int64_t
outgoing_wait(int64_t tries, int64_t asked)
{
    uint32_t chance = 0;
    int64_t wait = 1;
    for (int64_t i = 0; i < tries && wait < OUTGOING_WAIT_MAX; i++)
        wait *= 2;
    if (random_nonce(&chance, sizeof(chance)) == AZ_OK)
        wait = wait * (80 + chance % 41) / 100;
    if (asked > wait)
        wait = asked;
    if (wait < 1)
        wait = 1;
    return wait < OUTGOING_WAIT_MAX ? wait : OUTGOING_WAIT_MAX;
}

/* ---- rows that retention dropped ---- */

/* Count the leaves of rows between two ids in a tile. *ret_more: the next tile may have more. */
static enum az_status
count_tile(struct op *op, int epoch, uint64_t n, int64_t after, int64_t before, int64_t *ret,
           bool *ret_more)
{
    struct audit_tiles tiles;
    const struct audit_tile *tile;
    struct op step = op_beside(op, talloc_new(op->mem));
    audit_tiles_init(&tiles, &step, epoch);
    enum az_status st = audit_tile_read(&tiles, 0, n, &tile);
    for (size_t i = 0; st == AZ_OK && i < tile->width; i++)
        *ret += !tile->leaf[i].note && tile->leaf[i].id > after && tile->leaf[i].id < before;
    *ret_more =
        st == AZ_OK && tile->width == MERKLE_TILE_WIDTH && tile->leaf[tile->width - 1].id < before;
    if (st != AZ_OK && st != AZ_NOT_FOUND)
        op->fault = step.fault;
    talloc_free(step.mem);
    return st == AZ_NOT_FOUND ? AZ_OK : st;
}

enum az_status
outgoing_passed(struct op *op, int64_t after, int64_t before, int64_t *ret)
{
    struct audit_log_state state;
    struct audit_tiles tiles;
    uint64_t n = 0;
    bool more = true;
    *ret = 0;
    if (before <= after + 1)
        return AZ_OK;
    enum az_status st = audit_log_state_read(op, &state);
    if (st != AZ_OK || state.size == 0 || after >= state.up_to)
        return st;
    audit_tiles_init(&tiles, op, state.epoch);
    st = audit_leaf_tile(&tiles, state.size, after, &n);
    while (st == AZ_OK && more)
        st = count_tile(op, state.epoch, n++, after, before, ret, &more);
    return st == AZ_NOT_FOUND ? AZ_OK : st; /* a tile is missing: nothing can be counted */
}

/* ---- checkpoints that are posted ---- */

enum az_status
posted_waiting(struct op *op, PGresult **ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, POSTED_WAITING_MAX + 1);
    return db_exec(op, &posted_waiting_stmt, &params, true, ret);
}

enum az_status
posted_write(struct op *op, int64_t epoch, int64_t size, const char *cosigned)
{
    struct db_params params = {.count = 0};
    db_number(&params, epoch);
    db_number(&params, size);
    db_text(&params, cosigned);
    return db_exec(op, &posted_write_stmt, &params, false, NULL);
}
