#include "config.h"

#include "policy/impact/guards.h"

#include <string.h>

#include "policy/impact/period.h"
#include "policy/rows/data_key.h"
#include "store/people/admin_keys.h"
#include "store/policy/policy_rows.h"

/* Period of a guard without one. */
#define GUARD_PERIOD "1d"

/* Read a row and parse its payload. *ret is NULL if there is no row. */
static enum az_status
read_row(struct op *op, const char *key, struct policy_row *row, json_t **ret)
{
    *ret = NULL;
    enum az_status st = policy_data_fetch(op, key, row);
    if (st == AZ_OK && row->payload != NULL
        && jsonx_parse(op->mem, row->payload, strlen(row->payload), POLICY_DATA_DEPTH_MAX, ret,
                       NULL)
               != AZ_OK)
        st = op_fail(op, AZ_SERVER_ERROR, NULL, "%s cannot be read", key);
    return st;
}

/* Find out who of those in overrides is still there. */
static enum az_status
read_named(struct op *op, struct guards *guards)
{
    struct admin_keys_named named = {.key = false};
    enum az_status st = admin_keys_named_find(op, guards->overrides, &named);
    guards->named = named.key || named.person;
    guards->way_out = named.key ? NULL : named.configured;
    return st;
}

enum az_status
guards_read(struct op *op, struct guards *ret)
{
    struct policy_row row = {.payload = NULL};
    json_t *value;
    enum az_status st = read_row(op, GUARDS_ROW, &row, &value);
    *ret = (struct guards){.digest = "", .in_bundle = true};
    if (st == AZ_OK && value != NULL)
        *ret = (struct guards){.list = json_object_get(value, "guards"),
                               .overrides = json_object_get(value, "overrides"),
                               .digest = row.digest,
                               .in_bundle = row.in_bundle};
    return st == AZ_OK && json_array_size(ret->overrides) > 0 ? read_named(op, ret) : st;
}

enum az_status
guards_row_is(struct op *op, const char *key, const char *payload, bool *ret)
{
    struct policy_row row = {.payload = NULL};
    json_t *value, *given = NULL;
    enum az_status st = read_row(op, key, &row, &value);
    *ret = st == AZ_OK && value != NULL
           && jsonx_parse(op->mem, payload, strlen(payload), POLICY_DATA_DEPTH_MAX, &given, NULL)
                  == AZ_OK
           && json_equal(value, given);
    return st;
}

bool
guards_any(const struct guards *guards)
{
    return json_array_size(guards->list) > 0;
}

bool
guards_are_kept(const struct guards *guards)
{
    return guards_any(guards) || json_array_size(guards->overrides) > 0;
}

bool
guards_may_override(const struct guards *guards, const char *key)
{
    size_t index;
    const json_t *id;
    if (json_array_size(guards->overrides) == 0)
        return true;
    if (key != NULL
        && (strcmp(key, GUARDS_OPERATOR) == 0
            || (guards->way_out != NULL && strcmp(key, guards->way_out) == 0)))
        return true;
    json_array_foreach (guards->overrides, index, id)
        if (key != NULL && json_is_string(id) && strcmp(json_string_value(id), key) == 0)
            return true;
    return false;
}

bool
guards_watch(const struct guards *guards, int64_t now_ms, int64_t least_ms, const char *why,
             struct jsonx_build *watches, int64_t *earliest_ms)
{
    size_t index;
    const json_t *guard;
    json_array_foreach (guards->list, index, guard) {
        const char *period = json_string_value(json_object_get(guard, "period")),
                   *unknown = json_string_value(json_object_get(guard, "notKnown"));
        int64_t from;
        if (!impact_period_read(period != NULL ? period : GUARD_PERIOD, now_ms, &from))
            return false;
        if (from < least_ms) {
            jsonx_append(watches, json_pack("{s:O,s:s}", "name", json_object_get(guard, "name"),
                                            "why", why));
            continue;
        }
        if (from < *earliest_ms)
            *earliest_ms = from;
        jsonx_append(watches, json_pack("{s:O,s:I,s:O*,s:O*,s:O*,s:O*,s:b}", "name",
                                        json_object_get(guard, "name"), "fromMs", (json_int_t) from,
                                        "limits", json_object_get(guard, "limits"), "when",
                                        json_object_get(guard, "when"), "least",
                                        json_object_get(guard, "least"), "whole",
                                        json_object_get(guard, "whole"), "count",
                                        unknown == NULL || strcmp(unknown, "ignore") != 0));
    }
    return true;
}
