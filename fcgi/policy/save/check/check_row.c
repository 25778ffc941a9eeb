#include "config.h"

#include "policy/save/check/check_row.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/rows/data_key.h"
#include "store/policy/policy_rows.h"

enum az_status
check_row_read(struct op *op, const char *data_key, json_t **ret)
{
    struct policy_row row = {.payload = NULL};
    *ret = NULL;
    enum az_status st = policy_data_fetch(op, data_key, &row);
    if (st != AZ_OK || row.payload == NULL)
        return st;
    return jsonx_parse(op->mem, row.payload, strlen(row.payload), POLICY_DATA_DEPTH_MAX, ret, NULL)
                   == AZ_OK
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL, "row %s cannot be read", data_key);
}
