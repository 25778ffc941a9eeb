#include "config.h"

#include "policy/save/check/issuers_check.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/rows/data_key.h"
#include "policy/rows/software_issuers.h"
#include "store/policy/policy_rows.h"

static enum az_status
read_row(struct op *op, const char *data_key, json_t **ret)
{
    struct policy_row row = {.payload = NULL};
    enum az_status st = policy_data_fetch(op, data_key, &row);
    if (st != AZ_OK || row.payload == NULL)
        return st;
    return jsonx_parse(op->mem, row.payload, strlen(row.payload), POLICY_DATA_DEPTH_MAX, ret, NULL)
                   == AZ_OK
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL, "row %s cannot be read", data_key);
}

enum az_status
issuers_check(struct op *op, const char *data_key, json_t **ret_failures)
{
    json_t *bindings = NULL, *trust = NULL, *failures = NULL;
    if (strcmp(data_key, SOFTWARE_BINDINGS_ROW) != 0 && strcmp(data_key, SOFTWARE_TRUST_ROW) != 0)
        return AZ_OK;
    enum az_status st = read_row(op, SOFTWARE_BINDINGS_ROW, &bindings);
    if (st == AZ_OK)
        st = read_row(op, SOFTWARE_TRUST_ROW, &trust);
    if (st != AZ_OK)
        return st;
    st = software_issuers_judge(op->mem, data_key, bindings, trust, &failures);
    if (st == AZ_SERVER_ERROR)
        return op_fail(op, st, NULL, "out of memory for the check of software bindings");
    if (st == AZ_OK)
        return AZ_OK;
    *ret_failures = failures;
    return op_fail(op, AZ_UNPROCESSABLE,
                   "Software bindings must name their issuers, because several statement issuers "
                   "are trusted",
                   "%zu software bindings without issuers", json_array_size(failures));
}
