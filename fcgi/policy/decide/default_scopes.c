#include "config.h"

#include "policy/decide/default_scopes.h"

#include <stdint.h>
#include <strings.h>

#include "base/json/jsonx.h"
#include "base/uri.h"
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

/* ---- private schemes without a dot */

/* Return the schemes that a row (may be NULL) allows, as an array on mem; NULL: it allows none, or
 * no memory. */
static json_t *
dotless_schemes_of(TALLOC_CTX *mem, const json_t *row)
{
    /* The default of the row's schema. A row that lists the schemes with a dot was written when no
     * others existed, so it allows no others. */
    static const char *const shipped[] = {"cursor", "vscode", "vscode-insiders", "windsurf", NULL};
    const json_t *redirect = json_object_get(row, "redirect"),
                 *listed = json_object_get(redirect, "dotless_schemes");
    if (listed != NULL)
        return json_is_array(listed) ? words_array_once(mem, listed) : NULL;
    return row != NULL && json_object_get(redirect, "allowed_schemes") == NULL
               ? jsonx_own(mem, words_array(shipped))
               : NULL;
}

/* True if a list has the scheme of this length. */
static bool
lists_scheme(const json_t *allowed, const char *scheme, size_t length)
{
    size_t index;
    const json_t *one;
    json_array_foreach (allowed, index, one)
        if (json_is_string(one) && json_string_length(one) == length
            && strncasecmp(json_string_value(one), scheme, length) == 0)
            return true;
    return false;
}

size_t
dotless_refused(const json_t *allowed, const json_t *uris)
{
    size_t index;
    const json_t *uri;
    json_array_foreach (uris, index, uri) {
        size_t length = uri_dotless_scheme(json_string_value(uri));
        if (length > 0 && !lists_scheme(allowed, json_string_value(uri), length))
            return index;
    }
    return SIZE_MAX;
}

enum az_status
dotless_schemes_fetch(struct op *op, const json_t *uris, json_t **ret)
{
    json_t *row = NULL;
    *ret = NULL;
    if (dotless_refused(NULL, uris) == SIZE_MAX)
        return AZ_OK;
    enum az_status st = published_row(op, DEFAULT_SCOPES_ROW, &row);
    if (st == AZ_OK)
        *ret = dotless_schemes_of(op->mem, row);
    return st;
}
