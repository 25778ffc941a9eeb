#include "config.h"

#include "store/people/identity_providers.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "store/db/db.h"

/* Nesting of authorizeParams, an object of strings. */
#define PARAMS_DEPTH 2

/* Nesting of an object of texts. */
#define LOGOS_DEPTH 1

/* The sequence is read with the rows: later statements compare with its last value. */
enum identity_providers_list_column {
    LIST_LIST_VERSION,
    LIST_HOME,
    LIST_ID,
    LIST_VERSION,
    LIST_IDP_ID,
    LIST_NAME,
    LIST_ISSUER,
    LIST_CLIENT_ID,
    LIST_SECRET_SEALED,
    LIST_AUTHORIZATION_ENDPOINT,
    LIST_TOKEN_ENDPOINT,
    LIST_USERINFO_ENDPOINT,
    LIST_JWKS_URI,
    LIST_SCOPES,
    LIST_AUTHORIZE_PARAMS,
    LIST_ENABLED,
    LIST_LIST_CLAIMS,
    LIST_USERINFO
};
static const struct db_stmt identity_providers_list_stmt = {
    "identity_providers_list",
    "SELECT s.last_value AS list_version, h.issuer AS home, " IDENTITY_PROVIDER_COLUMNS
    " FROM identity_provider_version_seq s LEFT JOIN home_issuer h ON true"
    "  LEFT JOIN identity_provider p ON true ORDER BY p.id",
    0};

enum identity_provider_logos_column { LOGOS_OBJECT };
static const struct db_stmt identity_provider_logos_stmt = {
    "identity_provider_logos",
    "SELECT coalesce(json_object_agg(l.idp_id, l.logo), '{}') AS object FROM (SELECT idp_id, logo"
    "  FROM identity_provider WHERE enabled AND logo IS NOT NULL ORDER BY id LIMIT $1) l",
    1};

const char *
identity_provider_secret_place(TALLOC_CTX *mem, const char *idp_id)
{
    return talloc_asprintf(mem, "identity_provider/secret/%s", idp_id);
}

static enum az_status
read_provider_texts(TALLOC_CTX *mem, const PGresult *result, int row, int shift,
                    struct identity_provider *provider)
{
    const struct {
        enum identity_providers_list_column column;
        const char **at;
    } texts[] = {
        {LIST_IDP_ID,                 &provider->idp_id                },
        {LIST_NAME,                   &provider->name                  },
        {LIST_ISSUER,                 &provider->issuer                },
        {LIST_CLIENT_ID,              &provider->client_id             },
        {LIST_AUTHORIZATION_ENDPOINT, &provider->authorization_endpoint},
        {LIST_TOKEN_ENDPOINT,         &provider->token_endpoint        },
        {LIST_USERINFO_ENDPOINT,      &provider->userinfo_endpoint     },
        {LIST_JWKS_URI,               &provider->jwks_uri              },
        {LIST_USERINFO,               &provider->userinfo              },
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *text = db_get(result, row, (int) texts[i].column + shift);
        if (text != NULL && (*texts[i].at = talloc_strdup(mem, text)) == NULL)
            return AZ_SERVER_ERROR;
    }
    return AZ_OK;
}

static enum az_status
read_provider_values(TALLOC_CTX *mem, const PGresult *result, int row, int shift,
                     struct identity_provider *provider)
{
    const char *params = db_get(result, row, LIST_AUTHORIZE_PARAMS + shift);
    unsigned char *sealed;
    enum az_status st = db_get_words(mem, result, row, LIST_SCOPES + shift, &provider->scopes);
    if (st == AZ_OK)
        st = db_get_words(mem, result, row, LIST_LIST_CLAIMS + shift, &provider->list_claims);
    if (st == AZ_OK && db_get(result, row, LIST_SECRET_SEALED + shift) != NULL) {
        st = db_get_octets(mem, result, row, LIST_SECRET_SEALED + shift, &sealed,
                           &provider->secret_length);
        if (st == AZ_OK)
            provider->secret_sealed = sealed;
    }
    if (st == AZ_OK && params != NULL)
        st = jsonx_parse(mem, params, strlen(params), PARAMS_DEPTH, &provider->authorize_params,
                         NULL);
    return st;
}

enum az_status
identity_provider_read(struct op *op, TALLOC_CTX *mem, const PGresult *result, int row, int first,
                       struct identity_provider *ret)
{
    struct identity_provider provider = {.id = 0};
    int shift = first - LIST_ID;
    enum az_status st = read_provider_texts(mem, result, row, shift, &provider);
    if (st == AZ_OK)
        st = read_provider_values(mem, result, row, shift, &provider);
    if (st != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "identity provider %s cannot be read",
                       provider.idp_id != NULL ? provider.idp_id : "?");
    provider.id = db_get_number(result, row, LIST_ID + shift, 0);
    provider.version = db_get_number(result, row, LIST_VERSION + shift, 0);
    provider.enabled = db_get_bool(result, row, LIST_ENABLED + shift);
    *ret = provider;
    return AZ_OK;
}

static enum az_status
identity_providers_read(struct op *op, const PGresult *result, struct identity_providers *list,
                        bool *ret_enabled)
{
    int rows = PQntuples(result);
    struct identity_provider *providers =
        talloc_zero_array(list, struct identity_provider, (unsigned) rows + 1);
    const char *home = db_get(result, 0, LIST_HOME);
    if (home != NULL)
        list->home = talloc_strdup(list, home);
    if (providers == NULL || (home != NULL && list->home == NULL))
        return op_no_memory(op);
    list->version = db_get_number(result, 0, LIST_LIST_VERSION, 0);
    list->provider = providers;
    /* Without a provider there is one row, which has only the sequence. */
    for (int row = 0; row < rows && db_get(result, row, LIST_ID) != NULL; row++) {
        enum az_status st = identity_provider_read(op, list, result, row, LIST_ID, &providers[row]);
        if (st != AZ_OK)
            return st;
        *ret_enabled = *ret_enabled || providers[row].enabled;
        list->count++;
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
    PGresult *result;
    db_number(&params, PROVIDER_LOGOS_MAX);
    enum az_status st = db_exec(op, &identity_provider_logos_stmt, &params, true, &result);
    if (st != AZ_OK)
        return st;
    const char *text = db_get(result, 0, LOGOS_OBJECT);
    st = text != NULL ? jsonx_parse(op->mem, text, strlen(text), LOGOS_DEPTH, ret, NULL)
                      : AZ_SERVER_ERROR;
    return st == AZ_OK ? AZ_OK
                       : op_fail(op, AZ_SERVER_ERROR, NULL,
                                 "the logos of the identity providers "
                                 "cannot be read");
}
