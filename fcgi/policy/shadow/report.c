#include "config.h"

#include "policy/shadow/shadow_private.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/shadow/result.h"
#include "store/db/db.h"
#include "store/policy/impact.h"
#include "store/policy/shadow.h"

/* Nesting of a result. */
#define RESULT_DEPTH_MAX 64

/* Return the counts as a report. There are no limits and no recorded answers here. */
static json_t *
report_of(struct op *op, const struct shadow_counts *counts, int64_t dropped)
{
    static const char *const absent[] = {"guards", "drifted", "clients", "people"};
    struct jsonx_build report = {tally_json(op->mem, counts->tally, IMPACT_KEYS_MAX), false};
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
        json_object_del(report.value, absent[i]);
    jsonx_set(&report, "moved", json_integer(counts->moved));
    jsonx_set(&report, "dropped", json_integer(dropped));
    return jsonx_built(&report);
}

/* Add a report to the stored result, in the open transaction. */
static enum az_status
add(struct op *op, int64_t id, const json_t *report, size_t *ret_octets)
{
    const char *before, *after;
    json_t *stored = NULL;
    bool found;
    enum az_status st = shadow_lock_result(op, id, &before, &found);
    if (st == AZ_OK && !found)
        return op_fail(op, AZ_NOT_FOUND, NULL, "the shadow is not active");
    if (st == AZ_OK && before != NULL)
        st = jsonx_parse(op->mem, before, strlen(before), RESULT_DEPTH_MAX, &stored, NULL);
    if (st != AZ_OK)
        return op_fail(op, st, NULL, "the result of the shadow cannot be read");
    after =
        shadow_result_text(op->mem, shadow_result_add(op->mem, stored, report), IMPACT_RESULT_MAX);
    if (after == NULL || strlen(after) > IMPACT_RESULT_MAX)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the result of the shadow is too large");
    *ret_octets = strlen(after);
    return shadow_store_result(op, id, after);
}

enum az_status
shadow_report(struct op *op, int64_t id, const struct shadow_counts *counts, int64_t dropped,
              size_t *ret_octets)
{
    const json_t *report = report_of(op, counts, dropped);
    if (report == NULL)
        return op_no_memory(op);
    enum az_status st = db_begin(op);
    return st == AZ_OK ? db_end(op, add(op, id, report, ret_octets)) : st;
}
