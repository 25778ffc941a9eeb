#include "config.h"

#include "policy/rows/data_check.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/schema/json_schema.h"
#include "base/json/schema/schema_format.h"

enum az_status
data_check(struct op *op, const char *data_key, const char *schema, const json_t *payload,
           json_t **ret_failures)
{
    json_t *value, *failures = NULL;
    const char *why = NULL;
    if (schema == NULL)
        return AZ_OK;
    if (jsonx_parse(op->mem, schema, strlen(schema), SCHEMA_DEPTH_MAX, &value, &why) != AZ_OK
        || (why = schema_fault(op->mem, value)) != NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the schema of %s: %s", data_key,
                       why != NULL ? why : "out of memory");
    enum az_status st = schema_validate(op->mem, value, payload, &failures);
    if (st == AZ_INVALID) {
        *ret_failures = failures;
        return op_fail(op, AZ_UNPROCESSABLE, "The payload does not match the schema of its row",
                       "%zu failures against the schema of %s", json_array_size(failures),
                       data_key);
    }
    return st == AZ_OK
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for the schema of %s", data_key);
}

const char *
data_check_warning(const char *schema)
{
    return schema != NULL && !schema_format_knows_zones() && strstr(schema, "\"timezone\"") != NULL
               ? "names of time zones were not checked: the host has no tz database; install it"
               : NULL;
}
