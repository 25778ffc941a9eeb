#include "config.h"

#include "store/schema/migration_plan.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "store/db/db.h"
#include "store/schema/migrations.h"

/* Rows that a slow machine reads for an index or a constraint, and rewrites, in a millisecond. */
#define READS_PER_MS 1000
#define REWRITES_PER_MS 100

/* Octets of a row whose table was never analyzed; a token has some 400. */
enum plan_rows_column { PLAN_ROWS };
static const struct db_stmt plan_rows_stmt = {
    "plan_rows",
    "SELECT coalesce(sum(CASE WHEN reltuples < 0 THEN pg_relation_size(oid) / 100 ELSE reltuples "
    "END), 0)::bigint AS rows FROM pg_class WHERE relkind = 'r' AND (oid = to_regclass('public.' "
    "|| $1) OR oid IN (SELECT relid FROM pg_partition_tree(to_regclass('public.' || $1))))",
    1};

/* Parts of a plan's line after the kind. */
enum part { PART_LOCKS, PART_READS, PART_REWRITES, PARTS };
static const struct part_row {
    const char *name;
    int64_t rows_per_ms; /* 0: its time does not grow with the table */
} part_rows[PARTS] = {
    [PART_LOCKS] = {"locks",    0              },
    [PART_READS] = {"reads",    READS_PER_MS   },
    [PART_REWRITES] = {"rewrites", REWRITES_PER_MS},
};

struct planned {
    const char *kind;
    const char *part[PARTS]; /* lists as the line has them; may be "" */
    int64_t rows, ms;
};

/* Split the line of a migration; without one nothing is known of it. */
static void
plan_split(TALLOC_CTX *mem, const char *line, struct planned *ret)
{
    char *rest = talloc_strdup(mem, line != NULL ? line : "unknown");
    *ret = (struct planned){.kind = rest != NULL ? strsep(&rest, ";") : "unknown"};
    for (size_t i = 0; i < PARTS; i++)
        ret->part[i] = "";
    for (const char *part; (part = strsep(&rest, ";")) != NULL;)
        for (size_t i = 0; i < PARTS; i++) {
            size_t length = strlen(part_rows[i].name);
            part += *part == ' ';
            if (strncmp(part, part_rows[i].name, length) == 0 && part[length] == ' ')
                ret->part[i] = part + length + 1;
        }
}

static enum az_status
count_rows(struct op *op, const char *table, int64_t *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, table);
    enum az_status st = db_exec(op, &plan_rows_stmt, &params, true, &result);
    if (st == AZ_OK)
        *ret = db_get_number(result, 0, PLAN_ROWS, 0);
    return st;
}

/* Add the rows and the time of the tables that a part names. */
static enum az_status
plan_measure(struct op *op, const struct part_row *part, const char *tables,
             struct planned *planned)
{
    enum az_status st = AZ_OK;
    char *rest = talloc_strdup(op->mem, tables);
    if (rest == NULL)
        return op_no_memory(op);
    for (const char *table; st == AZ_OK && (table = strsep(&rest, ",")) != NULL;) {
        int64_t rows = 0;
        table += *table == ' ';
        st = *table != '\0' ? count_rows(op, table, &rows) : AZ_OK;
        planned->rows += rows;
        planned->ms += rows / part->rows_per_ms;
    }
    return st;
}

static enum az_status
plan_one(struct op *op, const struct migration *migration, struct planned *ret)
{
    enum az_status st = AZ_OK;
    plan_split(op->mem, migration->plan, ret);
    for (size_t i = 0; i < PARTS && st == AZ_OK; i++)
        if (part_rows[i].rows_per_ms > 0)
            st = plan_measure(op, &part_rows[i], ret->part[i], ret);
    return st;
}

/* True if the programs that run may not run on while it is applied, or after it: it takes long,
 * breaks them, or does not say what it does. */
static bool
needs_offline(const struct planned *planned)
{
    return planned->ms > PLAN_LOCK_MS || strcmp(planned->kind, "expand") != 0;
}

/* Call `each` for the missing migrations, until it fails. */
static enum az_status
plan_all(struct op *op,
         enum az_status (*each)(struct op *op, const struct migration *migration,
                                const struct planned *planned, void *arg),
         void *arg)
{
    struct migration *list;
    struct planned planned;
    size_t count;
    PGresult *applied;
    enum az_status st = migrations_read(op, &list, &count);
    if (st == AZ_OK)
        st = schema_read_applied(op, &applied);
    for (size_t i = 0; i < count && st == AZ_OK; i++) {
        if (schema_find_applied(applied, list[i].version) >= 0)
            continue;
        st = plan_one(op, &list[i], &planned);
        if (st == AZ_OK)
            st = each(op, &list[i], &planned, arg);
    }
    return st;
}

struct listing {
    struct jsonx_build rows;
    bool offline;
};

static enum az_status
list_one(struct op *op, const struct migration *migration, const struct planned *planned, void *arg)
{
    (void) op;
    struct listing *listing = arg;
    bool offline = needs_offline(planned);
    listing->offline = listing->offline || offline;
    jsonx_append(&listing->rows,
                 json_pack("{s:i,s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:b}", "version", migration->version,
                           "name", migration->name, "kind", planned->kind, "locks",
                           planned->part[PART_LOCKS], "reads", planned->part[PART_READS],
                           "rewrites", planned->part[PART_REWRITES], "rows",
                           (json_int_t) planned->rows, "ms", (json_int_t) planned->ms, "offline",
                           offline));
    return AZ_OK;
}

enum az_status
schema_plan(struct op *op, json_t **ret, bool *ret_offline)
{
    struct listing listing = {
        .rows = {jsonx_own(op->mem, json_array()), false}
    };
    enum az_status st = plan_all(op, list_one, &listing);
    if (st == AZ_OK && jsonx_built(&listing.rows) == NULL)
        st = op_no_memory(op);
    *ret = listing.rows.value;
    *ret_offline = listing.offline;
    return st;
}

static enum az_status
check_one(struct op *op, const struct migration *migration, const struct planned *planned,
          void *arg)
{
    (void) arg;
    if (!needs_offline(planned))
        return AZ_OK;
    if (planned->ms <= PLAN_LOCK_MS)
        return op_fail(op, AZ_CONFLICT, NULL,
                       "%s is of the kind %s, so programs that run may fail with it: stop the "
                       "service on all hosts and run `authzctl db migrate --offline`",
                       migration->name, planned->kind);
    return op_fail(op, AZ_CONFLICT, NULL,
                   "%s would hold %s for some %lld s (%lld rows; see `authzctl db plan`): stop the "
                   "service on all hosts and run `authzctl db migrate --offline`",
                   migration->name, planned->part[PART_LOCKS], (long long) planned->ms / 1000 + 1,
                   (long long) planned->rows);
}

enum az_status
schema_plan_check(struct op *op)
{
    return plan_all(op, check_one, NULL);
}
