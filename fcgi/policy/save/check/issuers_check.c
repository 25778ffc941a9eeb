#include "config.h"

#include "policy/save/check/issuers_check.h"

#include <string.h>

#include "policy/rows/software_issuers.h"
#include "policy/save/check/check_row.h"

enum az_status
issuers_check(struct op *op, const char *data_key, json_t **ret_failures)
{
    json_t *bindings = NULL, *trust = NULL, *failures = NULL;
    if (strcmp(data_key, SOFTWARE_BINDINGS_ROW) != 0 && strcmp(data_key, SOFTWARE_TRUST_ROW) != 0)
        return AZ_OK;
    enum az_status st = check_row_read(op, SOFTWARE_BINDINGS_ROW, &bindings);
    if (st == AZ_OK)
        st = check_row_read(op, SOFTWARE_TRUST_ROW, &trust);
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
