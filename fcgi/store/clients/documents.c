#include "config.h"

#include "store/clients/documents.h"

#include <string.h>

#include "store/db/db.h"
#include "store/db/trip/db_row.h"

/* Most documents removed at a time beyond the limit: each fetch adds only one. */
#define EVICT_AT_ONCE "100"

/* True if the stored document is good enough: $2 not_before, $3 again. While another process
 * fetches it, a caller who wants a newer one waits. Only a fetch that $2 caused counts for $3, not
 * one that was due: keys may have changed a moment after that. */
#define GOOD                                                                                       \
    " coalesce(d.body IS NOT NULL AND d.expires_at > now() AND ($2::bigint = 0"                    \
    "  OR d.fetched_at >= to_timestamp($2::bigint / 1000.0)"                                       \
    "  OR (d.forced_at > now() - make_interval(secs => $3::double precision)"                      \
    "      AND (d.leased_until IS NULL OR d.leased_until <= now()))), false)"
/* True if the document cannot be had: $4 began, $5 the lease that the caller waited for. */
#define FAILED                                                                                     \
    " coalesce(d.failed_until > now(), false) OR coalesce(d.failure IS NOT NULL"                   \
    "  AND (d.ended_at >= $4::timestamptz OR encode(d.lease, 'hex') = $5::text), false)"

static const struct db_stmt document_look_stmt = {
    "document_look",
    "SELECT CASE WHEN d.leased_until > now() AND encode(d.lease, 'hex') = $5::text THEN NULL"
    "  ELSE d.body END AS body,"
    " floor(extract(epoch FROM d.fetched_at) * 1000)::bigint AS fetched,"
    " floor(extract(epoch FROM d.expires_at - now()))::bigint AS lasts," GOOD " AS good,"
    " coalesce(d.body IS NOT NULL AND d.expires_at + make_interval(secs => $6::double precision)"
    "  > now(), false) AS kept,"
    " coalesce(d.leased_until > now(), false) AS leased, (" FAILED ") AS failed,"
    " coalesce(d.used_at < now() - interval '1 hour', false) AS idle, d.failure,"
    " encode(d.lease, 'hex') AS lease, now()::text AS now,"
    " floor(extract(epoch FROM now()) * 1000)::bigint AS now_ms"
    " FROM (SELECT) one LEFT JOIN fetched_document d ON d.key = $1",
    6};
static const struct db_column document_look_columns[] = {
    {"body",    DB_INTO(struct document_look, body)      },
    {"fetched", DB_INTO(struct document_look, fetched_ms)},
    {"lasts",   DB_INTO(struct document_look, lasts)     },
    {"good",    DB_INTO(struct document_look, good)      },
    {"kept",    DB_INTO(struct document_look, kept)      },
    {"leased",  DB_INTO(struct document_look, leased)    },
    {"failed",  DB_INTO(struct document_look, failed)    },
    {"idle",    DB_INTO(struct document_look, idle)      },
    {"failure", DB_INTO(struct document_look, failure)   },
    {"lease",   DB_INTO(struct document_look, lease)     },
    {"now",     DB_INTO(struct document_look, now)       },
    {"now_ms",  DB_INTO(struct document_look, now_ms)    },
};
enum document_lease_column { LEASE_BODY };
static const struct db_stmt document_lease_stmt = {
    "document_lease",
    "INSERT INTO fetched_document AS d (key, kind, url, leased_until, lease)"
    " VALUES ($1, $6, $7, now() + make_interval(secs => $8::double precision), $9)"
    " ON CONFLICT (key) DO UPDATE SET leased_until = excluded.leased_until, lease = excluded.lease,"
    "  failure = NULL, failed_until = NULL, used_at = now(), forced_at = CASE WHEN $2::bigint <> 0"
    "   AND d.body IS NOT NULL AND d.expires_at > now() THEN now() ELSE d.forced_at END"
    " WHERE (d.leased_until IS NULL OR d.leased_until <= now())"
    "  AND NOT (" FAILED ") AND NOT (" GOOD ")"
    " RETURNING d.body",
    9};
enum document_keep_column { KEEP_FETCHED };
static const struct db_stmt document_keep_stmt = {
    "document_keep",
    "UPDATE fetched_document SET body = $3, fetched_at = now(), failure = NULL, failed_until = "
    "NULL, failing_since = NULL,"
    "  expires_at = now() + make_interval(secs => $4::double precision), leased_until = NULL,"
    "  ended_at = clock_timestamp()"
    " WHERE key = $1 AND lease = $2 RETURNING"
    " floor(extract(epoch FROM fetched_at) * 1000)::bigint AS fetched",
    4};
static const struct db_stmt document_fail_stmt = {
    "document_fail",
    "WITH gone AS (DELETE FROM fetched_document"
    "  WHERE key = $1 AND lease = $2 AND body IS NULL AND $5::boolean)"
    " UPDATE fetched_document SET failure = $3,"
    "  failing_since = coalesce(failing_since, now()), failed_until = CASE WHEN $4::bigint > 0"
    "  THEN now() + make_interval(secs => $4::bigint::double precision) END, leased_until = NULL,"
    "  ended_at = clock_timestamp()"
    " WHERE key = $1 AND lease = $2 AND NOT (body IS NULL AND $5::boolean)",
    5};
enum document_failing_column { FAILING_SINCE, FAILING_FAILURE };
static const struct db_stmt document_failing_stmt = {
    "document_failing",
    "SELECT to_char(failing_since" DB_TIME " AS since, failure FROM fetched_document"
    " WHERE key = $1 AND failing_since + coalesce((expires_at - fetched_at) * $2::int,"
    "  make_interval(secs => $3::double precision)) < now()",
    3};
static const struct db_stmt document_touch_stmt = {
    "document_touch", "UPDATE fetched_document SET used_at = now() WHERE key = $1", 1};
static const struct db_stmt document_forget_stmt = {
    "document_forget",
    "DELETE FROM fetched_document WHERE (leased_until IS NULL OR leased_until <= now())"
    " AND (used_at < now() - make_interval(days => $1)"
    "  OR (body IS NULL AND used_at < now() - interval '1 minute'))",
    1};
static const struct db_stmt document_evict_stmt = {
    "document_evict",
    "DELETE FROM fetched_document WHERE key IN (SELECT key FROM fetched_document WHERE kind = $1"
    " AND (leased_until IS NULL OR leased_until <= now())"
    " ORDER BY (body IS NOT NULL) DESC, used_at DESC OFFSET $2"
    " LIMIT " EVICT_AT_ONCE " FOR UPDATE SKIP LOCKED)",
    2};
/* The first look is without a lock, because callers that wait look often. */
static const struct db_stmt document_host_lease_stmt = {
    "document_host_lease",
    "INSERT INTO fetching_host AS h (host, lease, leased_until)"
    " SELECT $1, $2, now() + make_interval(secs => $3::double precision) WHERE NOT EXISTS"
    "  (SELECT 1 FROM fetching_host WHERE host = $1 AND leased_until > now())"
    " ON CONFLICT (host) DO UPDATE SET lease = excluded.lease, leased_until = "
    "excluded.leased_until"
    " WHERE h.leased_until <= now()",
    3};
static const struct db_stmt document_host_end_stmt = {
    "document_host_end", "DELETE FROM fetching_host WHERE host = $1 AND lease = $2", 2};
static const struct db_stmt document_host_forget_stmt = {
    "document_host_forget", "DELETE FROM fetching_host WHERE leased_until <= now()", 0};

/* Add $1 to $5, as GOOD and FAILED read them. */
static void
add_wish(struct db_params *params, const struct document_wish *wish)
{
    db_octets(params, wish->key, sizeof(wish->key));
    db_number(params, wish->not_before);
    db_number(params, wish->again);
    db_text(params, wish->began);
    db_text(params, wish->seen);
}

enum az_status
document_look(struct op *op, const struct document_wish *wish, struct document_look *ret)
{
    struct db_params params = {.count = 0};
    add_wish(&params, wish);
    db_number(&params, wish->grace);
    *ret = (struct document_look){.body = NULL};
    return db_fetch_row(op, &document_look_stmt, &params, true,
                        DB_TABLE(struct document_look, document_look_columns), ret, NULL);
}

enum az_status
document_lease(struct op *op, const struct document_wish *wish, long seconds,
               const unsigned char lease[DOCUMENT_LEASE_OCTETS], bool *ret_ours,
               const char **ret_before)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    add_wish(&params, wish);
    db_text(&params, wish->kind);
    db_text(&params, wish->url);
    db_number(&params, seconds);
    db_octets(&params, lease, DOCUMENT_LEASE_OCTETS);
    enum az_status st = db_exec(op, &document_lease_stmt, &params, false, &result);
    if (st != AZ_OK)
        return st;
    *ret_ours = db_written(result) > 0;
    *ret_before = *ret_ours ? db_get(result, 0, LEASE_BODY) : NULL;
    return AZ_OK;
}

enum az_status
document_keep(struct op *op, const struct document_wish *wish,
              const unsigned char lease[DOCUMENT_LEASE_OCTETS], const char *body, int64_t seconds,
              int64_t *ret_fetched_ms)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_octets(&params, wish->key, sizeof(wish->key));
    db_octets(&params, lease, DOCUMENT_LEASE_OCTETS);
    db_text(&params, body);
    db_number(&params, seconds);
    enum az_status st = db_exec(op, &document_keep_stmt, &params, false, &result);
    if (st == AZ_OK)
        *ret_fetched_ms = db_get_number(result, 0, KEEP_FETCHED, *ret_fetched_ms);
    return st;
}

enum az_status
document_fail(struct op *op, const struct document_wish *wish,
              const unsigned char lease[DOCUMENT_LEASE_OCTETS], const char *failure, long pause,
              bool refused)
{
    struct db_params params = {.count = 0};
    db_octets(&params, wish->key, sizeof(wish->key));
    db_octets(&params, lease, DOCUMENT_LEASE_OCTETS);
    db_text(&params, failure);
    db_number(&params, pause);
    db_bool(&params, refused);
    return db_exec(op, &document_fail_stmt, &params, false, NULL);
}

enum az_status
document_failing(struct op *op, const struct document_wish *wish, int lives, int64_t life,
                 const char **ret_since, const char **ret_failure)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_octets(&params, wish->key, sizeof(wish->key));
    db_number(&params, lives);
    db_number(&params, life * lives);
    enum az_status st = db_exec(op, &document_failing_stmt, &params, true, &result);
    if (st == AZ_OK && PQntuples(result) == 1) {
        *ret_since = db_get(result, 0, FAILING_SINCE);
        *ret_failure = db_get(result, 0, FAILING_FAILURE);
    }
    return st;
}

enum az_status
document_host_lease(struct op *op, const char *host, long seconds,
                    const unsigned char lease[DOCUMENT_LEASE_OCTETS], bool *ret_ours)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, host);
    db_octets(&params, lease, DOCUMENT_LEASE_OCTETS);
    db_number(&params, seconds);
    enum az_status st = db_exec(op, &document_host_lease_stmt, &params, false, &result);
    if (st == AZ_OK)
        *ret_ours = db_written(result) > 0;
    return st;
}

enum az_status
document_host_end(struct op *op, const char *host, const unsigned char lease[DOCUMENT_LEASE_OCTETS])
{
    struct db_params params = {.count = 0};
    db_text(&params, host);
    db_octets(&params, lease, DOCUMENT_LEASE_OCTETS);
    return db_exec(op, &document_host_end_stmt, &params, false, NULL);
}

enum az_status
document_touch(struct op *op, const struct document_wish *wish)
{
    struct db_params params = {.count = 0};
    db_octets(&params, wish->key, sizeof(wish->key));
    return db_exec(op, &document_touch_stmt, &params, false, NULL);
}

enum az_status
document_forget(struct op *op, int days)
{
    struct db_params params = {.count = 0};
    db_number(&params, days);
    enum az_status st = db_exec(op, &document_forget_stmt, &params, false, NULL);
    return st == AZ_OK ? db_exec(op, &document_host_forget_stmt, NULL, false, NULL) : st;
}

enum az_status
document_evict(struct op *op, const char *kind, int64_t most)
{
    struct db_params params = {.count = 0};
    db_text(&params, kind);
    db_number(&params, most);
    return db_exec(op, &document_evict_stmt, &params, false, NULL);
}
