#include "config.h"

#include "store/gateway/feeds.h"

#include "store/db/db.h"
#include "store/db/keep/locks.h"
#include "store/db/trip/db_row.h"

/* Rows of others count while they are wanted. */
enum gateway_feed_want_column { WANT_ID, WANT_CHANGES };
static const struct db_stmt gateway_feed_want_stmt = {
    "gateway_feed_want",
    "INSERT INTO gateway_feed_uri AS f (resource_id, uri, wanted_until, reader)"
    " SELECT m.id, $2, now() + interval '" FEED_WANTED_SECONDS " seconds', $4::bytea"
    "  FROM managed_resource m, LATERAL (SELECT count(*) AS wanted,"
    "    count(*) FILTER (WHERE o.reader = $4::bytea) AS own, bool_or(o.uri = $2) AS has"
    "   FROM gateway_feed_uri o WHERE o.resource_id = m.id AND o.wanted_until > now()) n"
    "  WHERE m.id = $1::bigint AND (n.has OR n.wanted < $3::bigint AND n.own < $5::bigint)"
    " ON CONFLICT (resource_id, uri) DO UPDATE"
    "  SET wanted_until = greatest(f.wanted_until, excluded.wanted_until),"
    "   reader = CASE WHEN f.wanted_until > now() THEN f.reader ELSE excluded.reader END"
    " RETURNING f.id AS id, f.changes - CASE WHEN f.changed_at > now()"
    "  - interval '" FEED_BACK_SECONDS " seconds' THEN 1 ELSE 0 END AS changes",
    5};

/* A row that another relay writes is kept by it. */
static const struct db_stmt gateway_feed_keep_stmt = {
    "gateway_feed_keep",
    "UPDATE gateway_feed_uri SET wanted_until = now() + interval '" FEED_WANTED_SECONDS " seconds'"
    " WHERE id IN (SELECT id FROM gateway_feed_uri WHERE id = ANY ($1::bigint[])"
    "  AND wanted_until < now() + interval '" FEED_LEASE_SECONDS " seconds'"
    "  FOR UPDATE SKIP LOCKED)",
    1};
enum gateway_feed_changes_column { CHANGES_COUNT, CHANGES_N };
static const struct db_stmt gateway_feed_changes_stmt = {
    "gateway_feed_changes",
    "SELECT f.changes AS count, o.n FROM unnest($1::bigint[]) WITH ORDINALITY AS o (id, n)"
    " JOIN gateway_feed_uri f ON f.id = o.id",
    1};

static const struct db_stmt gateway_feed_drop_stmt = {
    "gateway_feed_drop",
    "DELETE FROM gateway_feed_uri WHERE id IN (SELECT id FROM gateway_feed_uri"
    " WHERE wanted_until < now() - interval '" FEED_WANTED_SECONDS " seconds'"
    " FOR UPDATE SKIP LOCKED)",
    0};
static const struct db_stmt gateway_feed_take_stmt = {
    "gateway_feed_take",
    "INSERT INTO gateway_feed AS f (resource_id, holder, held_until)"
    " SELECT u.resource_id, $1, now() + interval '" FEED_LEASE_SECONDS " seconds'"
    "  FROM (SELECT DISTINCT resource_id FROM gateway_feed_uri WHERE wanted_until > now()) u"
    "  JOIN managed_resource m ON m.id = u.resource_id AND m.enabled"
    "  WHERE NOT EXISTS (SELECT 1 FROM gateway_feed o WHERE o.resource_id = u.resource_id"
    "   AND o.holder <> $1 AND o.held_until > now())"
    "  ORDER BY u.resource_id LIMIT $2::bigint"
    " ON CONFLICT (resource_id) DO UPDATE"
    "  SET holder = excluded.holder, held_until = excluded.held_until"
    "  WHERE f.holder = excluded.holder OR f.held_until <= now()",
    2};
static const struct db_stmt gateway_feed_work_stmt = {
    "gateway_feed_work",
    "SELECT u.id, u.resource_id AS resource, u.uri FROM gateway_feed f"
    " JOIN gateway_feed_uri u ON u.resource_id = f.resource_id"
    " WHERE f.holder = $1 AND f.held_until > now() AND u.wanted_until > now()"
    " ORDER BY u.resource_id, u.id",
    1};
static const struct db_column gateway_feed_work_columns[] = {
    {"id",       DB_INTO(struct feed_uri, id)      },
    {"resource", DB_INTO(struct feed_uri, resource)},
    {"uri",      DB_INTO(struct feed_uri, uri)     },
};
static const struct db_stmt gateway_feed_wanted_stmt = {
    "gateway_feed_wanted",
    "SELECT EXISTS (SELECT 1 FROM gateway_feed_uri WHERE wanted_until > now()) AS wanted", 0};

static const struct db_stmt gateway_feed_tell_stmt = {
    "gateway_feed_tell",
    "UPDATE gateway_feed_uri SET changes = changes + 1, changed_at = now()"
    " WHERE id = ANY ($1::bigint[])",
    1};
static const struct db_stmt gateway_feed_leave_stmt = {
    "gateway_feed_leave", "DELETE FROM gateway_feed WHERE holder = $1", 1};

enum az_status
feed_want(struct op *op, int64_t resource, const char *uri,
          const unsigned char reader[FEED_READER_OCTETS], struct feed_mark *ret)
{
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    /* Requests at once must not pass the limits, which are both of the resource. */
    lock_add(batch, LOCK_OWNER, &resource, sizeof(resource));
    struct db_step *step = db_batch_add(batch, &gateway_feed_want_stmt);
    db_batch_commit(batch);
    db_number(&step->params, resource);
    db_text(&step->params, uri);
    db_number(&step->params, FEED_URIS_MAX);
    db_octets(&step->params, reader, FEED_READER_OCTETS);
    db_number(&step->params, FEED_READER_URIS_MAX);
    enum az_status st = db_run(op, batch, false);
    if (st == AZ_OK)
        *ret = (struct feed_mark){db_get_number(step->result, 0, WANT_ID, 0),
                                  db_get_number(step->result, 0, WANT_CHANGES, 0)};
    return st;
}

/* Write ids as words. NULL: out of memory. */
static const char **
words_of(TALLOC_CTX *mem, const int64_t *id, size_t count)
{
    const char **words = talloc_array(mem, const char *, (unsigned) count + 1);
    for (size_t i = 0; words != NULL && i < count; i++)
        if ((words[i] = talloc_asprintf(words, "%lld", (long long) id[i])) == NULL)
            return NULL;
    return words;
}

/* Add a statement about ids to a batch, and return its step; without memory, the step's parameters
 * are marked as lost. */
static struct db_step *
add_about(struct op *op, struct db_batch *batch, const struct db_stmt *stmt, const int64_t *id,
          size_t count)
{
    struct db_step *step = db_batch_add(batch, stmt);
    const char **words = words_of(op->mem, id, count);
    if (words == NULL)
        step->params.lost = true;
    else
        db_words(op->mem, &step->params, words, count);
    return step;
}

enum az_status
feeds_keep(struct op *op, const int64_t *id, size_t count, int64_t *ret_changes)
{
    struct db_batch *batch = db_batch_new(op);
    add_about(op, batch, &gateway_feed_keep_stmt, id, count);
    struct db_step *step = add_about(op, batch, &gateway_feed_changes_stmt, id, count);
    enum az_status st = db_run(op, batch, false);
    for (size_t i = 0; i < count; i++)
        ret_changes[i] = -1;
    for (int row = 0; st == AZ_OK && row < PQntuples(step->result); row++) {
        int64_t n = db_get_number(step->result, row, CHANGES_N, 0);
        if (n >= 1 && n <= (int64_t) count)
            ret_changes[n - 1] = db_get_number(step->result, row, CHANGES_COUNT, 0);
    }
    return st;
}

enum az_status
feeds_take(struct op *op, const unsigned char holder[FEED_HOLDER_OCTETS], struct feed_work *ret)
{
    struct db_batch *batch = db_batch_new(op);
    db_batch_add(batch, &gateway_feed_drop_stmt);
    struct db_step *take = db_batch_add(batch, &gateway_feed_take_stmt);
    db_octets(&take->params, holder, FEED_HOLDER_OCTETS);
    db_number(&take->params, FEEDS_MAX);
    struct db_step *work = db_batch_add(batch, &gateway_feed_work_stmt);
    db_octets(&work->params, holder, FEED_HOLDER_OCTETS);
    struct db_step *wanted = db_batch_add(batch, &gateway_feed_wanted_stmt);
    enum az_status st = db_run(op, batch, false);
    if (st != AZ_OK)
        return st;
    ret->wanted = db_get_bool(wanted->result, 0, 0);
    return db_read_rows(op, work->result, DB_TABLE(struct feed_uri, gateway_feed_work_columns),
                        &ret->uri, &ret->count);
}

enum az_status
feeds_tell(struct op *op, const int64_t *id, size_t count)
{
    struct db_batch *batch = db_batch_new(op);
    add_about(op, batch, &gateway_feed_tell_stmt, id, count);
    return db_run(op, batch, false);
}

enum az_status
feeds_leave(struct op *op, const unsigned char holder[FEED_HOLDER_OCTETS])
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add(batch, &gateway_feed_leave_stmt);
    db_octets(&step->params, holder, FEED_HOLDER_OCTETS);
    return db_run(op, batch, false);
}
