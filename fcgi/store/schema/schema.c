#include "config.h"

#include "store/schema/schema.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "store/db/db.h"
#include "store/db/keep/locks.h"
#include "store/schema/migrations.h"

/* Within one thousand, migrations only add, so that the older program keeps running while the newer
 * one is installed. The first migration of the next thousand may break the older program. */
#define MAJOR_STEP 1000
/* Longest time for which a migration waits for a table that another transaction holds: requests
 * wait behind it. Milliseconds; less than the time that requests wait for a lock. */
#define LOCK_WAIT_MS 2000

static const char table_sql[] = "CREATE TABLE IF NOT EXISTS schema_migration (version integer "
                                "PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,"
                                " applied_at timestamptz NOT NULL DEFAULT now())";
enum schema_exists_column { EXISTS_THERE };
static const struct db_stmt schema_exists_stmt = {
    "schema_exists", "SELECT to_regclass('schema_migration') IS NOT NULL AS there", 0};
enum schema_applied_column { APPLIED_VERSION, APPLIED_NAME, APPLIED_CHECKSUM, APPLIED_APPLIED_AT };
static const struct db_stmt schema_applied_stmt = {
    "schema_applied",
    "SELECT version, name, checksum, to_char(applied_at" DB_TIME " AS applied_at"
    " FROM schema_migration ORDER BY version",
    0};
static const struct db_stmt schema_record_stmt = {
    "schema_record", "INSERT INTO schema_migration (version, name, checksum) VALUES ($1, $2, $3)",
    3};
static const struct db_stmt schema_lock_stmt = {"schema_lock",
                                                "SELECT pg_advisory_xact_lock($1, 0)", 1};

enum az_status
schema_read_applied(struct op *op, PGresult **ret)
{
    PGresult *exists;
    enum az_status st = db_exec(op, &schema_exists_stmt, NULL, true, &exists);
    if (st != AZ_OK)
        return st;
    if (!db_get_bool(exists, 0, EXISTS_THERE)) {
        *ret = NULL;
        return AZ_OK;
    }
    return db_exec(op, &schema_applied_stmt, NULL, true, ret);
}

int
schema_find_applied(const PGresult *applied, int version)
{
    for (int row = 0; applied != NULL && row < PQntuples(applied); row++)
        if (db_get_number(applied, row, APPLIED_VERSION, 0) == version)
            return row;
    return -1;
}

/* Begin a transaction in which one process at a time migrates. It waits as long as the migration of
 * another takes, and sees what that did, whatever isolation is the default; but not so long for any
 * other lock. */
static enum az_status
schema_begin(struct op *op)
{
    struct db_params params = {.count = 0};
    db_number(&params, LOCK_MIGRATION);
    enum az_status st = db_begin(op);
    if (st == AZ_OK)
        st = db_script(op, "SET LOCAL lock_timeout = 0");
    if (st == AZ_OK)
        st = db_exec(op, &schema_lock_stmt, &params, false, NULL);
    return st == AZ_OK ? db_limit_lock_wait(op, LOCK_WAIT_MS) : st;
}

static enum az_status
schema_make_table(struct op *op)
{
    enum az_status st = schema_begin(op);
    if (st == AZ_OK)
        st = db_script(op, table_sql);
    return db_end(op, st);
}

/* *ret_missing: the migration is not applied. It fails if another text was applied. */
static enum az_status
schema_is_missing(struct op *op, const struct migration *migration, const PGresult *applied,
                  bool *ret_missing)
{
    int row = schema_find_applied(applied, migration->version);
    *ret_missing = row < 0;
    if (row < 0 || strcmp(db_get(applied, row, APPLIED_CHECKSUM), migration->checksum) == 0)
        return AZ_OK;
    return op_fail(op, AZ_SERVER_ERROR, NULL,
                   "%s differs from the migration that was applied; never change a migration, add "
                   "a new one",
                   migration->name);
}

/* Run the statements of a migration. */
static enum az_status
schema_run(struct op *op, const struct migration *migration)
{
    enum az_status st = db_script_or_retry(op, migration->text, SQLSTATE_LOCK_NOT_AVAILABLE);
    return st != AZ_RETRY
               ? st
               : op_fail(op, AZ_UNAVAILABLE, NULL,
                         "%s is not applied: another transaction held a table that it needs for "
                         "longer than %d s (a dump, or one that pg_stat_activity shows as idle in "
                         "transaction); run it again when that one has ended",
                         migration->name, LOCK_WAIT_MS / 1000);
}

/* Apply a migration, unless another process did so in between. */
static enum az_status
schema_apply(struct op *op, const struct migration *migration, int *ret_applied)
{
    struct db_params params = {.count = 0};
    PGresult *applied;
    bool missing = false;
    db_number(&params, migration->version);
    db_text(&params, migration->name);
    db_text(&params, migration->checksum);
    enum az_status st = schema_begin(op);
    if (st == AZ_OK)
        st = db_exec(op, &schema_applied_stmt, NULL, true, &applied);
    if (st == AZ_OK)
        st = schema_is_missing(op, migration, applied, &missing);
    if (st == AZ_OK && missing)
        st = schema_run(op, migration);
    if (st == AZ_OK && missing)
        st = db_exec(op, &schema_record_stmt, &params, false, NULL);
    st = db_end(op, st);
    *ret_applied += st == AZ_OK && missing;
    return st;
}

enum az_status
schema_migrate(struct op *op, int *ret_applied)
{
    struct migration *list;
    size_t count;
    PGresult *applied;
    *ret_applied = 0;
    enum az_status st = migrations_read(op, &list, &count);
    if (st == AZ_OK)
        st = schema_make_table(op);
    if (st == AZ_OK)
        st = db_exec(op, &schema_applied_stmt, NULL, true, &applied);
    for (size_t i = 0; i < count && st == AZ_OK; i++) {
        bool missing;
        st = schema_is_missing(op, &list[i], applied, &missing);
        if (st == AZ_OK && missing)
            st = schema_apply(op, &list[i], ret_applied);
    }
    return st;
}

enum az_status
schema_status(struct op *op, json_t **ret)
{
    struct migration *list;
    size_t count;
    PGresult *applied;
    struct jsonx_build rows = {jsonx_own(op->mem, json_array()), false};
    enum az_status st = migrations_read(op, &list, &count);
    if (st == AZ_OK)
        st = schema_read_applied(op, &applied);
    for (size_t i = 0; i < count && st == AZ_OK; i++) {
        int row = schema_find_applied(applied, list[i].version);
        bool changed =
            row >= 0 && strcmp(db_get(applied, row, APPLIED_CHECKSUM), list[i].checksum) != 0;
        jsonx_append(&rows, json_pack("{s:i,s:s,s:s,s:s*}", "version", list[i].version, "name",
                                      list[i].name, "state",
                                      row < 0   ? "missing"
                                      : changed ? "changed"
                                                : "applied",
                                      "appliedAt",
                                      row < 0 ? NULL : db_get(applied, row, APPLIED_APPLIED_AT)));
    }
    if (st == AZ_OK && jsonx_built(&rows) == NULL)
        st = op_no_memory(op);
    if (st == AZ_OK)
        *ret = rows.value;
    return st;
}

enum az_status
schema_check(struct op *op)
{
    PGresult *applied;
    enum az_status st = schema_read_applied(op, &applied);
    if (st != AZ_OK)
        return st;
    int64_t version = applied == NULL || PQntuples(applied) == 0
                          ? 0
                          : db_get_number(applied, PQntuples(applied) - 1, APPLIED_VERSION, 0);
    if (version < SCHEMA_VERSION)
        return op_fail(op, AZ_CONFLICT, NULL,
                       "SVC_DATABASE_URL: the database has schema %lld, this program needs %d; run "
                       "`authzctl db migrate`",
                       (long long) version, SCHEMA_VERSION);
    if (version / MAJOR_STEP > SCHEMA_VERSION / MAJOR_STEP)
        return op_fail(
            op, AZ_CONFLICT, NULL,
            "SVC_DATABASE_URL: the database has schema %lld, which programs of schema %d cannot "
            "use; install the newer program",
            (long long) version, SCHEMA_VERSION);
    return AZ_OK;
}
