#include "config.h"

#include "policy/decide/default_scopes.h"

#include <jansson.h>
#include <string.h>

#include "base/jsonx.h"
#include "base/words.h"
#include "store/policy/policy_rows.h"

#define ROW "svc.operator.controls.public_client_policy"
/* Nesting of the row; its schema needs far less. */
#define DEPTH_MAX 32

/* The default of the row's schema, for a row without the member. */
#define SCHEMA_DEFAULT "openid profile email"

enum az_status
default_scopes_fetch(struct op *op, const char **ret)
{
    const char *revision, *payload, *why = NULL;
    json_t *row = NULL;
    enum az_status st = policy_published_fetch(op, ROW, NULL, &revision, &payload);
    if (st != AZ_OK)
        return st;
    if (payload != NULL
        && jsonx_parse(op->mem, payload, strlen(payload), DEPTH_MAX, &row, &why) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "row " ROW " is not JSON: %s",
                       why != NULL ? why : "out of memory");
    const json_t *dcr = json_object_get(row, "dcr"),
                 *scopes = json_object_get(dcr, "default_scopes");
    if (dcr == NULL || scopes != NULL) {
        *ret = words_join(op->mem, scopes);
        return *ret != NULL ? AZ_OK : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
    }
    *ret = SCHEMA_DEFAULT;
    return AZ_OK;
}
