#include "config.h"

#include "store/tokens/signing_keys.h"

#include <string.h>

#include "base/settings/settings.h"
#include "crypto/keypair.h"
#include "crypto/keyring.h"
#include "store/db/db.h"
#include "store/tokens/signing_keys_private.h"

/* Names in the table. */
static const char *const use_names[SIGNING_USES] = {
    [SIGNING_OIDC] = "oidc",
    [SIGNING_STATEMENT] = "statement",
    [SIGNING_AUDIT] = "audit",
    [SIGNING_ACCESS] = "access",
};

static const char *const algs_always[SIGNING_USES] = {
    [SIGNING_OIDC] = SIGNING_ALG_ALWAYS,
    [SIGNING_STATEMENT] = SIGNING_ALG_ALWAYS,
    [SIGNING_AUDIT] = SIGNING_ALG_AUDIT,
};

static const struct db_stmt signing_key_states_stmt = {
    "signing_key_states",
    "SELECT state, alg, kid, private_sealed, floor(extract(epoch FROM now() - created_at))::bigint "
    "AS "
    "age"
    " FROM signing_key"
    " WHERE use = $1 AND state IN ('active', 'next')",
    1};
static const struct db_stmt signing_key_all_stmt = {
    "signing_key_all",
    "SELECT state, alg, kid, private_sealed, 0 AS age FROM signing_key WHERE use = $1"
    " ORDER BY created_at DESC",
    1};
/* Keys of ID tokens by RS256 come first, for clients that take the first key. Those of the audit
 * log are in no key set, and each is shown for ever: checkpoints that it signed are checked years
 * later. */
static const struct db_stmt signing_key_public_stmt = {
    "signing_key_public",
    "SELECT public_jwk FROM signing_key WHERE (state <> 'retired' OR use = 'audit'"
    "  OR " SIGNING_PUBLISHED_UNTIL " > now())"
    " AND CASE WHEN $3::text IS NULL THEN use <> 'audit' ELSE use = $3 END ORDER BY use <> 'oidc', "
    "use, alg DESC, state, created_at",
    3};
/* clang-format off */
static const struct db_stmt signing_key_list_stmt = {
    "signing_key_list",
    "SELECT json_strip_nulls(json_build_object('kid', kid, 'use', use, 'alg', alg, 'state', state,"
    "  'createdAt', to_char(created_at" DB_TIME ","
    "  'activatedAt', to_char(activated_at" DB_TIME ","
    "  'retiredAt', to_char(retired_at" DB_TIME ")) AS key"
    " FROM signing_key ORDER BY use, alg DESC, created_at", 0};
enum signing_key_ages_column { AGES_USE, AGES_AGE };
static const struct db_stmt signing_key_ages_stmt = {
    "signing_key_ages",
    "SELECT use, floor(extract(epoch FROM now() - min(activated_at)))::bigint AS age"
    " FROM signing_key WHERE state = 'active' GROUP BY use",
    0};
/* clang-format on */
char *
signing_key_place(TALLOC_CTX *mem, const char *kid)
{
    return talloc_asprintf(mem, "signing_key/private/%s", kid);
}

enum az_status
signing_key_states(struct op *op, enum signing_use use, PGresult **ret)
{
    struct db_params params = {.count = 0};
    db_text(&params, use_names[use]);
    return db_exec(op, &signing_key_states_stmt, &params, true, ret);
}

int
signing_key_row(const PGresult *result, const char *alg, const char *state)
{
    for (int row = 0; row < PQntuples(result); row++)
        if (strcmp(db_get(result, row, STATES_STATE), state) == 0
            && strcmp(db_get(result, row, STATES_ALG), alg) == 0)
            return row;
    return -1;
}

void
signing_key_bind_retirement(const struct op *op, struct db_params *params)
{
    db_number(params, op->az->cfg->key_retirement_seconds);
    db_number(params, op->az->cfg->statement_key_retirement);
}

enum az_status
signing_keys_public(struct op *op, json_t **ret)
{
    struct db_params params = {.count = 0};
    signing_key_bind_retirement(op, &params);
    db_text(&params, NULL);
    return db_fetch_array(op, &signing_key_public_stmt, &params, ret);
}

enum az_status
signing_keys_public_of(struct op *op, enum signing_use use, json_t **ret)
{
    struct db_params params = {.count = 0};
    signing_key_bind_retirement(op, &params);
    db_text(&params, use_names[use]);
    return db_fetch_array(op, &signing_key_public_stmt, &params, ret);
}

const char *
signing_alg_always(enum signing_use use)
{
    return algs_always[use];
}

const char *
signing_use_name(enum signing_use use)
{
    return use_names[use];
}

enum az_status
signing_keys_ages(struct op *op, int64_t ret[SIGNING_USES])
{
    PGresult *result;
    enum az_status st = db_exec(op, &signing_key_ages_stmt, NULL, true, &result);
    for (int use = 0; use < SIGNING_USES; use++)
        ret[use] = -1;
    for (int row = 0; st == AZ_OK && row < PQntuples(result); row++)
        for (int use = 0; use < SIGNING_USES; use++)
            if (strcmp(db_get(result, row, AGES_USE), use_names[use]) == 0)
                ret[use] = db_get_number(result, row, AGES_AGE, -1);
    return st;
}

enum az_status
signing_keys_list(struct op *op, json_t **ret)
{
    return db_fetch_array(op, &signing_key_list_stmt, NULL, ret);
}

/* Open the private key of a row, as DER. AZ_INVALID without a fault: another key sealed it. */
static enum az_status
signing_key_open_row(struct op *op, const PGresult *result, int row, unsigned char **ret_der,
                     size_t *ret_length)
{
    unsigned char *box;
    size_t box_length;
    if (db_get_octets(op->mem, result, row, STATES_PRIVATE_SEALED, &box, &box_length) != AZ_OK
        || keyring_open(op->mem, op->az->keyring, KEYRING_SIGNING_KEY,
                        signing_key_place(op->mem, db_get(result, row, STATES_KID)), box,
                        box_length, ret_der, ret_length)
               != AZ_OK)
        return AZ_INVALID;
    return AZ_OK;
}

static enum az_status
signing_key_missing(struct op *op, enum signing_use use)
{
    return op_fail(op, AZ_SERVER_ERROR, NULL,
                   "there is no active %s signing key; run `authzctl db migrate`", use_names[use]);
}

/* Check one use. `made`: a key must be there. */
static enum az_status
signing_key_check(struct op *op, enum signing_use use, bool made)
{
    unsigned char *der;
    size_t length;
    PGresult *result;
    enum az_status st = signing_key_states(op, use, &result);
    if (st != AZ_OK)
        return st;
    const char *always = signing_alg_always(use);
    if (made && always != NULL && signing_key_row(result, always, "active") < 0)
        return signing_key_missing(op, use);
    for (int row = 0; row < PQntuples(result); row++)
        if (strcmp(db_get(result, row, STATES_STATE), "active") == 0
            && signing_key_open_row(op, result, row, &der, &length) != AZ_OK)
            return op_fail(op, AZ_CONFLICT, NULL,
                           "SVC_CREDENTIAL_KEY: cannot decrypt the signing key; set the key that "
                           "encrypted it");
    return AZ_OK;
}

static enum az_status
signing_keys_check_each(struct op *op, bool made)
{
    enum az_status st = AZ_OK;
    for (int use = 0; use < SIGNING_USES && st == AZ_OK; use++)
        st = signing_key_check(op, (enum signing_use) use, made);
    return st;
}

enum az_status
signing_keys_check(struct op *op)
{
    return signing_keys_check_each(op, true);
}

enum az_status
signing_keys_check_stored(struct op *op)
{
    return signing_keys_check_each(op, false);
}

enum az_status
signing_key_open(struct op *op, enum signing_use use, const char *alg, struct jwk **ret)
{
    unsigned char *der;
    size_t length;
    PGresult *result;
    enum az_status st = signing_key_states(op, use, &result);
    if (st != AZ_OK)
        return st;
    const char *always = signing_alg_always(use);
    int row = signing_key_row(result, alg, "active");
    if (row < 0 && always != NULL)
        row = signing_key_row(result, always, "active");
    *ret = NULL;
    if (row < 0)
        return always != NULL ? signing_key_missing(op, use) : AZ_OK;
    if (signing_key_open_row(op, result, row, &der, &length) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "the %s signing key cannot be decrypted; was SVC_CREDENTIAL_KEY changed?",
                       use_names[use]);
    if (keypair_parse(op->mem, der, length, ret) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the %s signing key cannot be read",
                       use_names[use]);
    return AZ_OK;
}

enum az_status
signing_keys_open_all(struct op *op, enum signing_use use, struct jwk ***ret, size_t *ret_count)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, use_names[use]);
    enum az_status st = db_exec(op, &signing_key_all_stmt, &params, true, &result);
    int rows = st == AZ_OK ? PQntuples(result) : 0;
    *ret_count = 0;
    *ret = talloc_array(op->mem, struct jwk *, (unsigned) rows + 1);
    if (st == AZ_OK && *ret == NULL)
        return op_no_memory(op);
    for (int row = 0; row < rows; row++) {
        unsigned char *der;
        size_t length;
        if (signing_key_open_row(op, result, row, &der, &length) == AZ_OK
            && keypair_parse(op->mem, der, length, &(*ret)[*ret_count]) == AZ_OK)
            (*ret_count)++;
    }
    return st;
}
