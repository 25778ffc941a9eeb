#include "config.h"

#include "store/db/rows/object_owners.h"

#include "base/json/jsonx.h"

/* Octets of the name of an object in an error. */
#define ABSENT_SHOWN 200

/* clang-format off */
static const struct field object_owner_fields[] = {
    {"kind",      FIELD_TEXT,    .required = true, .help = "client, provider, resource, connector, rule, row or entry", .example = "\"client\""},
    {"key",       FIELD_TEXT,    .required = true, .help = "Name of the object; of an entry DATAKEY/MEMBER/NAME", .example = "\"shop\""},
    {"owner",     FIELD_TEXT,    .required = true, .help = "The owner of instance.json", .example = "\"platform\""},
    {"digest",    FIELD_TEXT,    .required = true, .may_be_empty = true, .help = "SHA-256 of the object as it was applied; empty until authzctl has sent it", .example = "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\""},
    {"hasSecret", FIELD_BOOLEAN, .required = true, .help = "Its secrets are from the files", .example = "false"},
    {"updatedAt", FIELD_TEXT,    .required = true, .example = "\"2026-01-31T12:00:00.000Z\""},
};

static const struct db_stmt object_owners_list_stmt = {
    "object_owners_list",
    "SELECT json_build_object('kind', o.kind, 'key', o.key, 'owner', o.owner, 'digest', o.digest,"
    " 'hasSecret', o.secret_mac IS NOT NULL, 'updatedAt', to_char(o.updated_at" DB_TIME ") AS dto"
    " FROM object_owner o WHERE $1::text IS NULL OR o.owner = $1 ORDER BY o.kind, o.key", 1};
/* A row of another owner is not updated, so the count of rows tells a conflict. An entry is a value
 * in its row, one to three names below the payload (doc/design/instance.md F3); the last name may
 * have slashes. `absent`: an object that is not stored. */
enum object_owners_write_column { WRITTEN_COUNT, WRITTEN_GIVEN, WRITTEN_ABSENT };
static const struct db_stmt object_owners_write_stmt = {
    "object_owners_write",
    "WITH g AS (SELECT kind, key, digest, mac FROM json_to_recordset($2::json)"
    "  AS x(kind text, key text, digest text, mac text)),"
    " p AS MATERIALIZED (SELECT d.data_key, d.payload::jsonb AS value FROM policy_data d WHERE d.data_key IN"
    "  (SELECT split_part(key, '/', 1) FROM g WHERE kind = 'entry')),"
    " a AS (SELECT g.kind || ' ' || g.key AS name FROM g WHERE NOT CASE g.kind"
    "  WHEN 'client' THEN EXISTS (SELECT FROM client WHERE client_id = g.key)"
    "  WHEN 'provider' THEN EXISTS (SELECT FROM identity_provider WHERE idp_id = g.key)"
    "  WHEN 'resource' THEN EXISTS (SELECT FROM managed_resource WHERE name = g.key)"
    "  WHEN 'connector' THEN EXISTS (SELECT FROM connector WHERE id = g.key)"
    "  WHEN 'rule' THEN EXISTS (SELECT FROM policy_rule WHERE path = g.key)"
    "  WHEN 'row' THEN EXISTS (SELECT FROM policy_data WHERE data_key = g.key)"
    "  ELSE EXISTS (SELECT FROM p, LATERAL (SELECT substr(g.key, length(p.data_key) + 2) AS rest) r"
    "   WHERE g.kind = 'entry' AND p.data_key = split_part(g.key, '/', 1) AND coalesce(p.value #> ARRAY[r.rest],"
    "    p.value #> regexp_match(r.rest, '^([^/]*)/(.*)$'), p.value #> regexp_match(r.rest, '^([^/]*)/([^/]*)/(.*)$')) IS NOT NULL) END),"
    " w AS (INSERT INTO object_owner (kind, key, owner, digest, secret_mac)"
    "  SELECT DISTINCT ON (kind, key) kind, key, $1, digest, decode(mac, 'hex') FROM g"
    "  ON CONFLICT (kind, key) DO UPDATE SET digest = excluded.digest, updated_at = now(),"
    "   secret_mac = coalesce(excluded.secret_mac, object_owner.secret_mac)"
    "  WHERE object_owner.owner = excluded.owner RETURNING 1)"
    " SELECT (SELECT count(*) FROM w) AS count, (SELECT count(*) FROM g) AS given,"
    "  (SELECT name FROM a LIMIT 1) AS absent", 2};
static const struct db_stmt object_owners_compare_stmt = {
    "object_owners_compare",
    "SELECT to_json(coalesce(o.secret_mac = decode(g.item ->> 'mac', 'hex'), false)) AS same"
    " FROM json_array_elements($1::json) WITH ORDINALITY AS g(item, place)"
    " LEFT JOIN object_owner o ON o.kind = g.item ->> 'kind' AND o.key = g.item ->> 'key'"
    " ORDER BY g.place", 1};
static const struct db_stmt object_owner_delete_stmt = {
    "object_owner_delete", "DELETE FROM object_owner WHERE kind = $1 AND key = $2 RETURNING kind", 2};
/* clang-format on */

const struct field_table object_owner_view =
    FIELD_TABLE("ObjectOwner", object_owner_fields, FIELDS_ANSWER);

enum az_status
object_owners_list(struct op *op, const char *owner, const char **ret_array)
{
    struct db_params params = {.count = 0};
    db_text(&params, owner);
    return db_fetch_list(op, &object_owners_list_stmt, &params, ret_array);
}

enum az_status
object_owners_put(struct op *op, const char *owner, const json_t *marks)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    const char *text = jsonx_dump(op->mem, marks);
    if (text == NULL)
        return op_no_memory(op);
    db_text(&params, owner);
    db_text(&params, text);
    enum az_status st = db_exec(op, &object_owners_write_stmt, &params, false, &result);
    if (st == AZ_OK && db_get(result, 0, WRITTEN_ABSENT) != NULL)
        return op_fail(op, AZ_CONFLICT,
                       talloc_asprintf(op->mem, "There is no %.*s, so it cannot have an owner",
                                       ABSENT_SHOWN, db_get(result, 0, WRITTEN_ABSENT)),
                       NULL);
    if (st == AZ_OK
        && db_get_number(result, 0, WRITTEN_COUNT, 0) != db_get_number(result, 0, WRITTEN_GIVEN, 0))
        st = op_fail(op, AZ_CONFLICT,
                     "An object belongs to another owner, or is named twice; see GET "
                     "/admin/api/object-owners",
                     NULL);
    return st;
}

enum az_status
object_owners_write(struct op *op, const char *owner, const json_t *marks)
{
    enum az_status st = db_begin(op);
    return st == AZ_OK ? db_end(op, object_owners_put(op, owner, marks)) : st;
}

enum az_status
object_owner_mark(struct op *op, const char *owner, const char *kind, const char *key)
{
    json_t *marks =
        jsonx_own(op->mem, json_pack("[{s:s,s:s,s:s}]", "kind", kind, "key", key, "digest", ""));
    return marks != NULL ? object_owners_put(op, owner, marks) : op_no_memory(op);
}

enum az_status
object_owners_compare(struct op *op, const json_t *items, const char **ret_array)
{
    struct db_params params = {.count = 0};
    const char *text = jsonx_dump(op->mem, items);
    if (text == NULL)
        return op_no_memory(op);
    db_text(&params, text);
    return db_fetch_list(op, &object_owners_compare_stmt, &params, ret_array);
}

enum az_status
object_owner_delete(struct op *op, const char *kind, const char *key)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, kind);
    db_text(&params, key);
    enum az_status st = db_exec(op, &object_owner_delete_stmt, &params, false, &result);
    if (st == AZ_OK && PQntuples(result) == 0)
        return op_fail(op, AZ_NOT_FOUND, NULL, "the object has no owner");
    return st;
}
