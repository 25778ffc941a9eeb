#include "config.h"

#include "store/gateway/listing.h"

#include "base/json/jsonx.h"

/* clang-format off */
enum listing_read_column { LISTED_RESOURCE, LISTED_KEY, LISTED_ENTRY, LISTED_SHA256, LISTED_PIN, LISTED_SEEN_AT };
static const struct db_stmt listing_read_stmt = {
    "listing_read",
    "SELECT l.resource_id AS resource, l.key, l.entry, l.seen_sha256 AS sha256,"
    "  CASE WHEN NOT l.listed THEN 'missing' WHEN l.approved_sha256 = l.seen_sha256 THEN 'approved'"
    "   WHEN l.approved_sha256 IS NULL THEN 'new' ELSE 'changed' END AS pin,"
    "  to_char(l.seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') AS seen_at"
    " FROM gateway_listing l WHERE l.kind = $2 AND ($1::bigint IS NULL OR l.resource_id = $1::bigint)"
    " ORDER BY l.resource_id, l.key COLLATE \"C\"", 2};

/* $1 resource, $2 the entries, $3 now, $4 kind. The lock makes one sync follow another. */
static const struct db_stmt listing_store_stmt = {
    "listing_store",
    "WITH t AS (SELECT id, CASE $4::text WHEN 'prompt' THEN prompts_synced_at ELSE instructions_synced_at END IS NULL AS first FROM managed_resource WHERE id = $1::bigint FOR UPDATE),"
    " s AS (SELECT * FROM json_to_recordset($2::json) AS r(key text, entry json, sha256 text)),"
    " lost AS (UPDATE gateway_listing l SET listed = false FROM t WHERE l.resource_id = t.id AND l.kind = $4::text"
    "   AND l.listed AND l.approved_sha256 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM s WHERE s.key = l.key)),"
    " forgotten AS (DELETE FROM gateway_listing l USING t WHERE l.resource_id = t.id AND l.kind = $4::text"
    "   AND l.approved_sha256 IS NULL AND NOT EXISTS (SELECT 1 FROM s WHERE s.key = l.key)),"
    " done AS (UPDATE managed_resource m SET"
    "   prompts_synced_at = CASE $4::text WHEN 'prompt' THEN $3::timestamptz ELSE m.prompts_synced_at END,"
    "   instructions_synced_at = CASE $4::text WHEN 'instructions' THEN $3::timestamptz ELSE m.instructions_synced_at END FROM t WHERE m.id = t.id),"
    " put AS (INSERT INTO gateway_listing AS l (resource_id, kind, key, entry, seen_sha256, approved_sha256, listed, seen_at)"
    "   SELECT t.id, $4::text, s.key, s.entry, s.sha256, CASE WHEN t.first THEN s.sha256 END, true, $3::timestamptz FROM t, s"
    "   ON CONFLICT (resource_id, kind, key) DO UPDATE SET entry = excluded.entry, seen_sha256 = excluded.seen_sha256,"
    "    listed = true, seen_at = excluded.seen_at"
    "   RETURNING l.key, l.approved_sha256 IS DISTINCT FROM l.seen_sha256 AS waits)"
    " SELECT coalesce(json_agg(key ORDER BY key COLLATE \"C\"), '[]') FROM put WHERE waits", 4};

enum listing_approve_column { APPROVE_KNOWN, APPROVE_DONE };
static const struct db_stmt listing_approve_stmt = {
    "listing_approve",
    "WITH done AS (UPDATE gateway_listing SET approved_sha256 = seen_sha256 WHERE resource_id = $1::bigint AND kind = $4"
    "   AND key = $2 AND listed AND seen_sha256 = coalesce($3, seen_sha256) RETURNING key)"
    " SELECT EXISTS (SELECT 1 FROM gateway_listing WHERE resource_id = $1::bigint AND kind = $4 AND key = $2) AS known,"
    "  EXISTS (SELECT 1 FROM done) AS done", 4};
/* clang-format on */

/* The kinds: their word, and why an entry of theirs cannot be approved. */
static const struct kind_row {
    const char *word, *gone, *unknown;
} kind_rows[] = {
    [LISTING_PROMPT] = {"prompt",
                        "The upstream has the prompt no more, or describes it in another way", "no such prompt"        },
    [LISTING_INSTRUCTIONS] = {"instructions",
                        "The upstream has no instructions any more, or other ones",            "no stored instructions"},
};

const char *
listing_word(enum listing_kind kind)
{
    return kind_rows[kind].word;
}

static enum az_status
read_row(struct op *op, const PGresult *result, int row, struct stored_entry *ret)
{
    *ret = (struct stored_entry){
        .resource = db_get_number(result, row, LISTED_RESOURCE, 0),
        .name = db_get(result, row, LISTED_KEY),
        .sha256 = db_get(result, row, LISTED_SHA256),
        .pin = managed_pin_of(db_get(result, row, LISTED_PIN)),
        .seen_at = db_get(result, row, LISTED_SEEN_AT),
    };
    return db_read_json(op, result, row, LISTED_ENTRY, &ret->entry);
}

enum az_status
listing_read(struct op *op, enum listing_kind kind, const struct managed_resource *resource,
             struct stored_entries *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    if (resource != NULL)
        db_number(&params, resource->id);
    else
        db_text(&params, NULL);
    db_text(&params, listing_word(kind));
    enum az_status st = db_exec(op, &listing_read_stmt, &params, true, &result);
    if (st != AZ_OK)
        return st;
    int rows = PQntuples(result);
    *ret = (struct stored_entries){
        .item = talloc_array(op->mem, struct stored_entry, (unsigned) rows + 1)};
    if (ret->item == NULL)
        return op_no_memory(op);
    for (int row = 0; row < rows && st == AZ_OK; row++)
        st = read_row(op, result, row, &ret->item[ret->count++]);
    return st;
}

enum az_status
listing_store(struct op *op, enum listing_kind kind, const struct managed_resource *resource,
              const json_t *seen, json_t **ret_waiting)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    const char *text = jsonx_dump(op->mem, seen);
    if (text == NULL)
        return op_no_memory(op);
    db_number(&params, resource->id);
    db_text(&params, text);
    db_time(&params, op->now_ms);
    db_text(&params, listing_word(kind));
    enum az_status st = db_exec(op, &listing_store_stmt, &params, false, &result);
    return st == AZ_OK ? db_read_json(op, result, 0, 0, ret_waiting) : st;
}

enum az_status
listing_approve(struct op *op, enum listing_kind kind, const struct managed_resource *resource,
                const char *name, const char *sha256)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, resource->id);
    db_text(&params, name);
    db_text(&params, sha256);
    db_text(&params, listing_word(kind));
    enum az_status st = db_exec(op, &listing_approve_stmt, &params, false, &result);
    if (st != AZ_OK || db_get_bool(result, 0, APPROVE_DONE))
        return st;
    return db_get_bool(result, 0, APPROVE_KNOWN)
               ? op_fail(op, AZ_CONFLICT, kind_rows[kind].gone, NULL)
               : op_fail(op, AZ_NOT_FOUND, NULL, "%s", kind_rows[kind].unknown);
}
