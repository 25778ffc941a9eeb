#include "config.h"

#include "policy/impact/impact_stored.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/impact/job.h"

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
