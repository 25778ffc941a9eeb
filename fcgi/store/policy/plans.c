#include "config.h"

#include "store/policy/plans.h"

#include "base/log.h"
#include "store/db/db.h"
#include "store/db/trip/db_row.h"

enum plan_find_column { FIND_KNOWN, FIND_NOTE };
static const struct db_stmt plan_find_stmt = {
    "plan_find",
    "SELECT count(plan) > 0 AS known, min(note) FILTER (WHERE plan IS NOT NULL) AS note FROM "
    "policy_plan WHERE modules = $1",
    1};
static const struct db_stmt plan_store_stmt = {
    "plan_store",
    "INSERT INTO policy_plan AS p (modules, plan, note) VALUES ($1, $2, $3) ON CONFLICT (modules) "
    "DO UPDATE SET plan = excluded.plan, note = excluded.note, created_at = now() WHERE p.plan IS "
    "NULL",
    3};
static const struct db_stmt plan_forget_stmt = {
    "plan_forget",
    "UPDATE policy_plan SET plan = NULL, note = 'the stored plan was damaged' WHERE modules = $1",
    1};
#define LOOSE " NOT EXISTS (SELECT 1 FROM bundle b WHERE b.modules = p.modules)"
static const struct db_stmt plan_bound_stmt = {
    "plan_bound",
    "DELETE FROM policy_plan p WHERE p.created_at < now() - interval '1 minute' AND" LOOSE
    " AND p.modules NOT IN (SELECT p.modules FROM policy_plan p WHERE" LOOSE
    " ORDER BY p.created_at DESC LIMIT $1)",
    1};
static const struct db_stmt plan_missing_stmt = {
    "plan_missing",
    "SELECT b.revision FROM bundle_state s JOIN bundle b ON b.id = s.served AND b.status <> "
    "'pending' LEFT JOIN policy_plan p ON p.modules = b.modules WHERE p.plan IS NULL",
    0};
static const struct db_stmt plan_name_stmt = {
    "plan_name", "UPDATE bundle SET modules = $2 WHERE revision = $1 AND modules IS NULL", 2};

/* The same rows have the same revision, so the bodies of several rows of it are the same. */
enum plan_fetch_column { PLAN_PLAN, PLAN_NOTE, PLAN_BODY };
static const struct db_stmt plan_fetch_stmt = {
    "plan_fetch",
    "SELECT p.plan, p.note, b.body FROM bundle b LEFT JOIN policy_plan p ON p.modules = b.modules "
    "WHERE b.revision = $1 AND b.body IS NOT NULL ORDER BY b.id DESC LIMIT 1",
    1};

enum plan_named_column { NAMED_PLAN, NAMED_NOTE };
static const struct db_stmt plan_named_stmt = {
    "plan_named", "SELECT plan, note FROM policy_plan WHERE modules = $1", 1};

enum az_status
plan_find(struct op *op, const char *modules, bool *ret, const char **ret_note)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, modules);
    enum az_status st = db_exec(op, &plan_find_stmt, &params, true, &result);
    if (st != AZ_OK)
        return st;
    *ret = db_get_bool(result, 0, FIND_KNOWN);
    *ret_note = db_get(result, 0, FIND_NOTE);
    return AZ_OK;
}

enum az_status
plan_store(struct op *op, const struct plan_new *plan)
{
    struct db_params params = {.count = 0};
    db_text(&params, plan->modules);
    db_octets(&params, plan->plan, plan->length);
    db_text(&params, plan->note);
    return db_exec(op, &plan_store_stmt, &params, false, NULL);
}

enum az_status
plan_forget(struct op *op, const char *modules)
{
    struct db_params params = {.count = 0};
    db_text(&params, modules);
    log_text(AZ_SEV_WARN, "a stored plan is damaged, and is made again", "%s", modules);
    return db_exec(op, &plan_forget_stmt, &params, false, NULL);
}

enum az_status
plan_bound(struct op *op)
{
    struct db_params params = {.count = 0};
    db_number(&params, PLANS_LOOSE_MAX);
    return db_exec(op, &plan_bound_stmt, &params, false, NULL);
}

enum az_status
plan_missing(struct op *op, const char **ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, &plan_missing_stmt, NULL, true, &result);
    *ret = st == AZ_OK ? db_get(result, 0, 0) : NULL;
    return st;
}

enum az_status
plan_name_served(struct op *op, const char *revision, const char *modules)
{
    struct db_params params = {.count = 0};
    db_text(&params, revision);
    db_text(&params, modules);
    return db_exec(op, &plan_name_stmt, &params, false, NULL);
}

enum az_status
plan_fetch(struct op *op, const char *revision, struct plan_stored *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    *ret = (struct plan_stored){.plan = NULL};
    db_text(&params, revision);
    enum az_status st = db_exec(op, &plan_fetch_stmt, &params, true, &result);
    if (st != AZ_OK || PQntuples(result) == 0)
        return st;
    ret->note = db_get(result, 0, PLAN_NOTE);
    st = db_read_octets(op, result, 0, PLAN_PLAN, &ret->plan, &ret->plan_length);
    return st == AZ_OK ? db_read_octets(op, result, 0, PLAN_BODY, &ret->body, &ret->body_length)
                       : st;
}

enum az_status
plan_fetch_named(struct op *op, const char *modules, struct plan_stored *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    *ret = (struct plan_stored){.plan = NULL};
    db_text(&params, modules);
    enum az_status st = db_exec(op, &plan_named_stmt, &params, true, &result);
    if (st != AZ_OK || PQntuples(result) == 0)
        return st;
    ret->note = db_get(result, 0, NAMED_NOTE);
    return db_read_octets(op, result, 0, NAMED_PLAN, &ret->plan, &ret->plan_length);
}

/* The first of the acceptable revisions was confirmed before any that was only published. The same
 * rows have the same revision, so the bodies of several bundles of one are the same. */
static const struct db_stmt plan_current_stmt = {
    "plan_current",
    "SELECT s.acceptable[1] AS revision, coalesce(s.acceptable[1] = $1, false) AS known, b.note, "
    "b.modules, coalesce(b.modules <> $2, b.modules IS NOT NULL) AS other, CASE WHEN NOT $4 AND "
    "b.modules IS DISTINCT FROM $2 THEN b.plan END AS octets, CASE WHEN NOT $4 THEN b.body END AS "
    "body FROM "
    "bundle_state s LEFT JOIN LATERAL (SELECT p.note, CASE WHEN p.plan IS NOT NULL THEN p.modules "
    "END AS modules, p.plan, CASE WHEN p.plan IS NOT NULL AND x.revision IS DISTINCT FROM $3 THEN "
    "x.body END AS body FROM bundle x LEFT JOIN policy_plan p ON p.modules = x.modules WHERE "
    "x.revision = s.acceptable[1] AND s.acceptable[1] IS DISTINCT FROM $1 AND x.body IS NOT NULL "
    "ORDER BY x.modules IS NULL, x.id DESC LIMIT 1) b ON true",
    4};
/* clang-format off */
static const struct db_column plan_current_columns[] = {
    {"revision", DB_INTO(struct plan_current, revision)},
    {"known",    DB_INTO(struct plan_current, known)},
    {"note",     DB_INTO(struct plan_current, note)},
    {"modules",  DB_INTO(struct plan_current, modules)},
    {"other",    DB_INTO(struct plan_current, other_plan)},
    {"octets",   DB_OCTETS_INTO(struct plan_current, plan, plan_length)},
    {"body",     DB_OCTETS_INTO(struct plan_current, body, body_length)},
};
/* clang-format on */

enum az_status
plan_current(struct op *op, const struct plan_known *known, struct plan_current *ret)
{
    struct db_params params = {.count = 0};
    *ret = (struct plan_current){.revision = NULL};
    db_text(&params, known->revision);
    db_text(&params, known->modules);
    db_text(&params, known->data);
    db_bool(&params, known->compare);
    return db_fetch_row(op, &plan_current_stmt, &params, true,
                        DB_TABLE(struct plan_current, plan_current_columns), ret, NULL);
}
