#include "config.h"

#include "policy/decide/default_scopes.h"

#include <jansson.h>

#include "base/words.h"
#include "policy/decide/published.h"

#define ROW "svc.operator.controls.public_client_policy"

/* The default of the row's schema, for a row without the member. */
#define SCHEMA_DEFAULT "openid profile email"

enum az_status
default_scopes_fetch(struct op *op, const char **ret)
{
    json_t *row;
    enum az_status st = published_row(op, ROW, &row);
    if (st != AZ_OK)
        return st;
    const json_t *dcr = json_object_get(row, "dcr"),
                 *scopes = json_object_get(dcr, "default_scopes");
    if (dcr == NULL || scopes != NULL) {
        *ret = words_join(op->mem, scopes);
        return *ret != NULL ? AZ_OK : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
    }
    *ret = SCHEMA_DEFAULT;
    return AZ_OK;
}
