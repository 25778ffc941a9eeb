#include "config.h"

#include "policy/decide/published.h"

#include <string.h>

#include "base/jsonx.h"
#include "store/policy/policy_rows.h"

/* Nesting of a row; the schemas of the rows that are read here need far less. */
#define PUBLISHED_DEPTH_MAX 32

enum az_status
published_parse(struct op *op, TALLOC_CTX *mem, const char *data_key, const char *payload,
                json_t **ret)
{
    const char *why = NULL;
    *ret = NULL;
    if (payload != NULL
        && jsonx_parse(mem, payload, strlen(payload), PUBLISHED_DEPTH_MAX, ret, &why) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "row %s is not JSON: %s", data_key,
                       why != NULL ? why : "out of memory");
    return AZ_OK;
}

enum az_status
published_row(struct op *op, const char *data_key, json_t **ret)
{
    const char *revision, *payload;
    enum az_status st = policy_published_fetch(op, data_key, NULL, &revision, &payload);
    return st == AZ_OK ? published_parse(op, op->mem, data_key, payload, ret) : st;
}
