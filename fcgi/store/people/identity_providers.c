#include "config.h"

#include "store/people/identity_providers.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "store/db/db.h"
#include "store/db/trip/db_row.h"

/* Nesting of an object of texts. */
#define LOGOS_DEPTH 1

/* The sequence is read with the rows: later statements compare with its last value. */
static const struct db_stmt identity_providers_list_stmt = {
    "identity_providers_list",
    "SELECT s.last_value AS list_version, h.issuer AS home, " IDENTITY_PROVIDER_COLUMNS
    " FROM identity_provider_version_seq s LEFT JOIN home_issuer h ON true"
    "  LEFT JOIN identity_provider p ON true ORDER BY p.id",
    0};
struct provider_listed {
    int64_t list_version; /* last value of the sequence */
    const char *home;     /* or NULL */
    struct identity_provider provider;
};
/* clang-format off */
static const struct db_column identity_providers_list_columns[] = {
    {"list_version", DB_INTO(struct provider_listed, list_version), .needed = true},
    {"home",         DB_INTO(struct provider_listed, home)},
    IDENTITY_PROVIDER_ROWS(struct provider_listed, provider),
};
/* clang-format on */

static const struct db_stmt identity_provider_logos_stmt = {
    "identity_provider_logos",
    "SELECT coalesce(json_object_agg(l.idp_id, l.logo), '{}') AS object FROM (SELECT idp_id, logo"
    "  FROM identity_provider WHERE enabled AND logo IS NOT NULL ORDER BY id LIMIT $1) l",
    1};

bool
identity_provider_says(const struct identity_provider *provider, const char *iss)
{
    return strcmp(provider->issuer, iss) == 0
           || (provider->issuer_aliases != NULL
               && words_has((const char *const *) provider->issuer_aliases, iss));
}

const char *
identity_provider_secret_place(TALLOC_CTX *mem, const char *idp_id)
{
    return talloc_asprintf(mem, "identity_provider/secret/%s", idp_id);
}

static enum az_status
identity_providers_read(struct op *op, const PGresult *result, struct identity_providers *list,
                        bool *ret_enabled)
{
    int rows = PQntuples(result);
    struct identity_provider *providers =
        talloc_zero_array(list, struct identity_provider, (unsigned) rows + 1);
    if (providers == NULL)
        return op_no_memory(op);
    list->provider = providers;
    for (int row = 0; row < rows; row++) {
        struct provider_listed listed = {.home = NULL};
        enum az_status st =
            db_copy_row(op, list, result, row,
                        DB_TABLE(struct provider_listed, identity_providers_list_columns), &listed);
        if (st != AZ_OK)
            return st;
        list->version = listed.list_version;
        list->home = listed.home;
        /* Without a provider there is one row, which has only the sequence. */
        if (listed.provider.idp_id == NULL)
            return AZ_OK;
        providers[list->count++] = listed.provider;
        *ret_enabled = *ret_enabled || listed.provider.enabled;
    }
    return AZ_OK;
}

enum az_status
identity_providers_get(struct op *op, bool fresh, const struct identity_providers **ret)
{
    PGresult *result;
    bool enabled = false;
    if (!fresh && op->az->providers != NULL) {
        *ret = op->az->providers;
        return AZ_OK;
    }
    struct identity_providers *list = talloc_zero(op->mem, struct identity_providers);
    if (list == NULL)
        return op_no_memory(op);
    enum az_status st = db_exec(op, &identity_providers_list_stmt, NULL, true, &result);
    if (st == AZ_OK)
        st = identity_providers_read(op, result, list, &enabled);
    if (st != AZ_OK)
        return st;
    /* The old list lives until the end of the operation, which may still read it. */
    if (op->az->providers != NULL)
        talloc_steal(op->mem, op->az->providers);
    op->az->providers = enabled ? talloc_steal(op->az, list) : NULL;
    *ret = list;
    return AZ_OK;
}

enum az_status
identity_provider_logos(struct op *op, json_t **ret)
{
    struct db_params params = {.count = 0};
    const char *text;
    db_number(&params, PROVIDER_LOGOS_MAX);
    enum az_status st = db_fetch_text(op, &identity_provider_logos_stmt, &params, &text);
    if (st != AZ_OK)
        return st;
    st = text != NULL ? jsonx_parse(op->mem, text, strlen(text), LOGOS_DEPTH, ret, NULL)
                      : AZ_SERVER_ERROR;
    return st == AZ_OK ? AZ_OK
                       : op_fail(op, AZ_SERVER_ERROR, NULL,
                                 "the logos of the identity providers "
                                 "cannot be read");
}
