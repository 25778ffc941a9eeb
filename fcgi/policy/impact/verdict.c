#include "config.h"

#include "policy/impact/verdict.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/impact/job.h"
#include "policy/impact/watch.h"

/* Add limits that are passed, of the guard of this name, or of the request (NULL). */
static void
add_passed(struct jsonx_build *refused, const json_t *passed, json_t *name)
{
    size_t index;
    json_t *one;
    json_array_foreach ((json_t *) (uintptr_t) passed, index, one) {
        struct jsonx_build item = {jsonx_copy(one), false};
        jsonx_set(&item, name == NULL ? "request" : "guard",
                  name == NULL ? json_true() : json_incref(name));
        refused->lost = refused->lost || item.lost;
        jsonx_append(refused, item.value);
    }
}

/* Return the counts of the request in a result, on mem: its own counts, or, in a preview, the
 * counts of the whole period. */
static const json_t *
counts_of_request(TALLOC_CTX *mem, const json_t *result)
{
    const json_t *counts = json_object_get(result, "limits");
    if (counts != NULL)
        return counts;
    struct jsonx_build all = {jsonx_own(mem, json_object()), false};
    watch_counts_add(result, &all);
    jsonx_set(&all, "of", json_integer(json_integer_value(json_object_get(all.value, "looked"))));
    return jsonx_built(&all);
}

/* Judge the limits of the request. */
static void
judge_request(struct op *op, const json_t *result, const json_t *max, struct verdict *ret,
              struct jsonx_build *refused)
{
    struct impact_sample sample;
    bool sampled = bound_sample_read(result, &sample);
    const json_t *counts = counts_of_request(op->mem, result),
                 *about = jsonx_own(op->mem, json_pack("{s:O,s:b}", "limits",
                                                       (json_t *) (uintptr_t) max, "count", 0));
    const json_t *passed =
        jsonx_own(op->mem, watch_refused(about, counts, sampled ? &sample : NULL));
    refused->lost = refused->lost || counts == NULL || about == NULL || passed == NULL;
    ret->by_request = json_array_size(passed) > 0;
    add_passed(refused, passed, NULL);
}

enum az_status
verdict_find(struct op *op, const json_t *result, const json_t *max, struct verdict *ret)
{
    size_t index;
    json_t *watch;
    struct jsonx_build refused = {jsonx_own(op->mem, json_array()), false};
    *ret = (struct verdict){.refused = refused.value};
    bool counted = json_object_get(result, "looked") != NULL;
    if (counted && max != NULL)
        judge_request(op, result, max, ret, &refused);
    if (counted)
        json_array_foreach (json_object_get(result, "guards"), index, watch) {
            json_t *name = json_object_get(watch, "name");
            if (!json_is_string(name) || json_object_get(watch, "why") != NULL)
                continue;
            add_passed(&refused, json_object_get(watch, "refused"), name);
            if (json_is_true(json_object_get(watch, "notMeasured")))
                ret->lack = talloc_asprintf(
                    op->mem,
                    "there are more decisions than SVC_IMPACT_DECISIONS, and the guard %s takes no "
                    "sample (whole)",
                    json_string_value(name));
        }
    return jsonx_built(&refused) != NULL ? AZ_OK : op_no_memory(op);
}

/* Nesting of a stored result. */
#define RESULT_DEPTH_MAX 64

enum az_status
stored_await(struct op *op, int64_t id, int64_t ms, json_t **ret)
{
    const char *dto = NULL;
    bool running = false;
    enum az_status st = impact_wait(op, id, ms, &dto, &running);
    *ret = NULL;
    if (st != AZ_OK || dto == NULL || running)
        return st;
    return jsonx_parse(op->mem, dto, strlen(dto), RESULT_DEPTH_MAX, ret, NULL) == AZ_OK
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL, "a stored measurement cannot be read");
}

/* Return how many guards a result has counted against. */
static size_t
count_guards(const json_t *result)
{
    size_t index, count = 0;
    const json_t *watch;
    json_array_foreach (json_object_get(result, "guards"), index, watch)
        count += json_object_get(watch, "why") == NULL;
    return count;
}

enum az_status
stored_find(struct op *op, const struct impact_like *like, size_t guards, int64_t *ret_id,
            json_t **ret_result)
{
    int64_t id = 0;
    json_t *result = NULL;
    *ret_result = NULL;
    enum az_status st = impact_find_like(op, like, &id);
    if (st == AZ_OK && id != 0)
        st = stored_await(op, id, 0, &result);
    if (st != AZ_OK || result == NULL || count_guards(result) != guards)
        return st;
    *ret_id = id;
    *ret_result = result;
    return AZ_OK;
}
