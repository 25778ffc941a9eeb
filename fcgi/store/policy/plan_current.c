#include "config.h"

#include "store/policy/plan_current.h"

#include "store/db/db.h"

/* The first of the acceptable revisions was confirmed before any that was only published. The same
 * rows have the same revision, so the bodies of several bundles of one are the same. */
enum plan_current_column {
    PLAN_REVISION,
    PLAN_KNOWN,
    PLAN_NOTE,
    PLAN_MODULES,
    PLAN_OTHER,
    PLAN_OCTETS,
    PLAN_BODY
};
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

enum az_status
plan_current(struct op *op, const struct plan_known *known, struct plan_current *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    *ret = (struct plan_current){.revision = NULL};
    db_text(&params, known->revision);
    db_text(&params, known->modules);
    db_text(&params, known->data);
    db_bool(&params, known->compare);
    enum az_status st = db_exec(op, &plan_current_stmt, &params, true, &result);
    if (st != AZ_OK)
        return st;
    ret->revision = db_get(result, 0, PLAN_REVISION);
    ret->known = db_get_bool(result, 0, PLAN_KNOWN);
    ret->note = db_get(result, 0, PLAN_NOTE);
    ret->modules = db_get(result, 0, PLAN_MODULES);
    ret->other_plan = db_get_bool(result, 0, PLAN_OTHER);
    if (ret->modules == NULL || known->compare)
        return AZ_OK;
    st = db_read_octets(op, result, 0, PLAN_OCTETS, &ret->plan, &ret->plan_length);
    return st == AZ_OK ? db_read_octets(op, result, 0, PLAN_BODY, &ret->body, &ret->body_length)
                       : st;
}
