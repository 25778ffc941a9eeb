#include "config.h"

#include "store/tokens/signing_keys.h"

#include <string.h>

#include "base/jsonx.h"
#include "base/settings.h"
#include "crypto/keypair.h"
#include "crypto/keyring.h"
#include "store/db/db.h"
#include "store/db/locks.h"

/* A key is seen when its insertion is committed, a moment after created_at, and an answer of the
 * key set is on its way for another. Longer than both, in seconds. */
#define PUBLICATION_MARGIN 1

/* Names in the table. */
static const char *const use_names[SIGNING_USES] = {
    [SIGNING_OIDC] = "oidc",
    [SIGNING_STATEMENT] = "statement",
};

static const struct db_stmt signing_key_insert_stmt = {
    "signing_key_insert",
    "INSERT INTO signing_key (kid, use, state, public_jwk, private_sealed, created_at, "
    "activated_at)"
    " SELECT $1, $2, $3, $4::jsonb, $5, clock_timestamp(), CASE WHEN $3 = 'active' THEN now() END"
    "  WHERE NOT EXISTS (SELECT 1 FROM signing_key WHERE use = $2 AND state = $3)",
    5};
enum signing_key_states_column { STATES_STATE, STATES_KID, STATES_PRIVATE_SEALED, STATES_AGE };
static const struct db_stmt signing_key_states_stmt = {
    "signing_key_states",
    "SELECT state, kid, private_sealed, floor(extract(epoch FROM now() - created_at))::bigint AS "
    "age"
    " FROM signing_key"
    " WHERE use = $1 AND state IN ('active', 'next')",
    1};
/* End of a retired key's publication: $1 seconds after its retirement for ID tokens, $2 seconds for
 * statements, which live longer. */
#define PUBLISHED_UNTIL                                                                            \
    "retired_at + make_interval(secs => CASE use WHEN 'statement' THEN $2::double precision"       \
    " ELSE $1::double precision END)"
static const struct db_stmt signing_key_public_stmt = {
    "signing_key_public",
    "SELECT public_jwk FROM signing_key WHERE (state <> 'retired' OR " PUBLISHED_UNTIL " > now())"
    " AND ($3::text IS NULL OR use = $3) ORDER BY use, state, created_at",
    3};
/* clang-format off */
static const struct db_stmt signing_key_list_stmt = {
    "signing_key_list",
    "SELECT json_strip_nulls(json_build_object('kid', kid, 'use', use, 'state', state,"
    "  'createdAt', to_char(created_at" DB_TIME ","
    "  'activatedAt', to_char(activated_at" DB_TIME ","
    "  'retiredAt', to_char(retired_at" DB_TIME ")) AS key"
    " FROM signing_key ORDER BY use, created_at", 0};
enum signing_key_ages_column { AGES_USE, AGES_AGE };
static const struct db_stmt signing_key_ages_stmt = {
    "signing_key_ages",
    "SELECT use, floor(extract(epoch FROM now() - activated_at))::bigint AS age FROM signing_key "
    "WHERE state = 'active'",
    0};
/* clang-format on */
static const struct db_stmt signing_key_retire_stmt = {
    "signing_key_retire",
    "UPDATE signing_key SET state = 'retired', retired_at = now() WHERE use = $1 AND state = "
    "'active'"
    " AND EXISTS (SELECT 1 FROM signing_key WHERE kid = $2 AND state = 'next')",
    2};
static const struct db_stmt signing_key_activate_stmt = {
    "signing_key_activate",
    "UPDATE signing_key SET state = 'active', activated_at = now() WHERE kid = $1 AND state = "
    "'next'",
    1};
static const struct db_stmt signing_key_purge_stmt = {
    "signing_key_purge",
    "DELETE FROM signing_key WHERE state = 'retired' AND " PUBLISHED_UNTIL " < now()", 2};

static char *
signing_key_place(TALLOC_CTX *mem, const char *kid)
{
    return talloc_asprintf(mem, "signing_key/private/%s", kid);
}

/* Make a key and add its insertion for one state to the batch. The step writes nothing if another
 * process made the key first. */
static enum az_status
signing_key_add(struct op *op, struct db_batch *batch, enum signing_use use, const char *state,
                struct db_step **ret_step)
{
    struct jwk *key;
    unsigned char *der, *box;
    size_t length, box_length;
    json_t *public_half;
    struct db_step *step = db_batch_add(batch, &signing_key_insert_stmt);
    if (keypair_generate_rsa(op->mem, SIGNING_KEY_BITS, &key) != AZ_OK
        || keypair_dump(op->mem, key, &der, &length) != AZ_OK
        || keyring_seal(op->mem, op->az->keyring, KEYRING_SIGNING_KEY,
                        signing_key_place(op->mem, key->kid), der, length, &box, &box_length)
               != AZ_OK
        || jwk_dump(key, &public_half) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "a signing key cannot be created");
    db_text(&step->params, key->kid);
    db_text(&step->params, use_names[use]);
    db_text(&step->params, state);
    db_text(&step->params, jsonx_dump(op->mem, jsonx_own(op->mem, public_half)));
    db_octets(&step->params, box, box_length);
    *ret_step = step;
    return AZ_OK;
}

static enum az_status
signing_key_states(struct op *op, enum signing_use use, PGresult **ret)
{
    struct db_params params = {.count = 0};
    db_text(&params, use_names[use]);
    return db_exec(op, &signing_key_states_stmt, &params, true, ret);
}

static int
signing_key_row(const PGresult *result, const char *state)
{
    for (int row = 0; row < PQntuples(result); row++)
        if (strcmp(db_get(result, row, STATES_STATE), state) == 0)
            return row;
    return -1;
}

/* Begin a batch with BEGIN and the key lock, so that two hosts never make two keys for one
 * state. */
static struct db_batch *
signing_key_batch(struct op *op, enum signing_use use)
{
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    lock_add(batch, LOCK_KEYS, use_names[use], strlen(use_names[use]));
    return batch;
}

static enum az_status
signing_key_ensure(struct op *op, enum signing_use use, bool *ret_made)
{
    static const char *const states[] = {"active", "next"};
    PGresult *result;
    enum az_status st = signing_key_states(op, use, &result);
    for (size_t i = 0; i < 2 && st == AZ_OK; i++) {
        if (signing_key_row(result, states[i]) >= 0)
            continue;
        struct db_step *step;
        struct db_batch *batch = signing_key_batch(op, use);
        st = signing_key_add(op, batch, use, states[i], &step);
        db_batch_commit(batch);
        if (st == AZ_OK)
            st = db_run(op, batch, false);
        *ret_made = *ret_made || (st == AZ_OK && db_written(step->result) > 0);
    }
    return st;
}

enum az_status
signing_keys_ensure(struct op *op, bool *ret_made)
{
    enum az_status st = AZ_OK;
    *ret_made = false;
    for (int use = 0; use < SIGNING_USES && st == AZ_OK; use++)
        st = signing_key_ensure(op, (enum signing_use) use, ret_made);
    return st;
}

static void
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

enum az_status
signing_keys_rotate(struct op *op, enum signing_use use)
{
    PGresult *result;
    enum az_status st = signing_key_states(op, use, &result);
    if (st != AZ_OK)
        return st;
    int row = signing_key_row(result, "next");
    if (row < 0)
        return op_fail(op, AZ_CONFLICT, "No next signing key exists; run `authzctl db migrate`",
                       NULL);
    /* Without a cache no verifier can lack the key. */
    int64_t cached = op->az->cfg->jwks_cache_seconds;
    int64_t wait =
        cached > 0 ? cached + PUBLICATION_MARGIN - db_get_number(result, row, STATES_AGE, 0) : 0;
    if (wait > 0)
        return op_fail(op, AZ_CONFLICT,
                       talloc_asprintf(op->mem,
                                       "Not all verifiers know the next key yet; "
                                       "try again in %lld seconds",
                                       (long long) wait),
                       NULL);
    struct db_batch *batch = signing_key_batch(op, use);
    struct db_step *retire = db_batch_add(batch, &signing_key_retire_stmt);
    struct db_step *activate = db_batch_add(batch, &signing_key_activate_stmt), *next;
    db_text(&retire->params, use_names[use]);
    db_text(&retire->params, db_get(result, row, STATES_KID));
    db_text(&activate->params, db_get(result, row, STATES_KID));
    if ((st = signing_key_add(op, batch, use, "next", &next)) != AZ_OK)
        return st;
    db_batch_commit(batch);
    return db_run(op, batch, false);
}

enum az_status
signing_keys_purge(struct op *op)
{
    struct db_params params = {.count = 0};
    signing_key_bind_retirement(op, &params);
    return db_exec(op, &signing_key_purge_stmt, &params, false, NULL);
}

/* Open the private key of a row, as DER. AZ_INVALID without a fault: it is sealed with another
 * key. */
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

/* Open the active key of a use. AZ_NOT_FOUND without a fault: there is none. */
static enum az_status
signing_key_open_active(struct op *op, enum signing_use use, unsigned char **ret_der,
                        size_t *ret_length)
{
    PGresult *result;
    enum az_status st = signing_key_states(op, use, &result);
    int row = st == AZ_OK ? signing_key_row(result, "active") : -1;
    if (st != AZ_OK || row < 0)
        return st != AZ_OK ? st : AZ_NOT_FOUND;
    return signing_key_open_row(op, result, row, ret_der, ret_length);
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
    enum az_status st = signing_key_open_active(op, use, &der, &length);
    if (st == AZ_NOT_FOUND)
        return made ? signing_key_missing(op, use) : AZ_OK;
    if (st == AZ_INVALID)
        return op_fail(
            op, AZ_CONFLICT, NULL,
            "SVC_CREDENTIAL_KEY: cannot decrypt the signing key; set the key that encrypted it");
    return st;
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
signing_key_open(struct op *op, enum signing_use use, struct jwk **ret)
{
    unsigned char *der;
    size_t length;
    enum az_status st = signing_key_open_active(op, use, &der, &length);
    if (st == AZ_NOT_FOUND)
        return signing_key_missing(op, use);
    if (st == AZ_INVALID)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "the %s signing key cannot be decrypted; was SVC_CREDENTIAL_KEY changed?",
                       use_names[use]);
    if (st == AZ_OK && keypair_parse(op->mem, der, length, ret) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the %s signing key cannot be read",
                       use_names[use]);
    return st;
}
