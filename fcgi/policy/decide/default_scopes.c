#include "config.h"

#include "policy/decide/default_scopes.h"

#include "base/words.h"
#include "policy/decide/published.h"

/* The default of the row's schema, for a row without the member. */
#define SCHEMA_DEFAULT "openid profile email"

const char *
default_scopes_of(TALLOC_CTX *mem, const json_t *row)
{
    const json_t *dcr = json_object_get(row, "dcr"),
                 *scopes = json_object_get(dcr, "default_scopes");
    return dcr == NULL || scopes != NULL ? words_join(mem, scopes) : SCHEMA_DEFAULT;
}

enum az_status
default_scopes_fetch(struct op *op, const char **ret)
{
    json_t *row;
    enum az_status st = published_row(op, DEFAULT_SCOPES_ROW, &row);
    if (st != AZ_OK)
        return st;
    *ret = default_scopes_of(op->mem, row);
    return *ret != NULL ? AZ_OK : op_no_memory(op);
}

enum az_status
default_gateway_resource_fetch(struct op *op, bool *ret)
{
    json_t *row;
    enum az_status st = published_row(op, DEFAULT_SCOPES_ROW, &row);
    *ret = st == AZ_OK && !json_is_false(json_object_get(row, "default_gateway_resource"));
    return st;
}
