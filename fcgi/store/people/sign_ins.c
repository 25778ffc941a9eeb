#include "config.h"

#include "store/people/sign_ins.h"

#include <string.h>

#include "base/b64url.h"
#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "store/db/db.h"
#include "store/db/keep/partitions.h"
#include "store/db/trip/db_row.h"

/* Check the caller's cached rows where the sign-in is written: a changed or new provider, or a
 * changed client, could lead to another choice. */
static const struct db_stmt sign_in_insert_stmt = {
    "sign_in_insert",
    "WITH ok AS (SELECT p.id FROM identity_provider p, identity_provider_version_seq v"
    "   WHERE p.id = $3 AND p.version = $4 AND p.enabled AND v.last_value = $5"
    "    AND ($6 = 0 OR EXISTS (SELECT 1 FROM client WHERE id = $6 AND version = $7 AND enabled))),"
    " audit AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    "  SELECT $12::timestamptz, nextval('audit_id_seq'), $13, $14::uuid, $15, $16, $17, $18, $19,"
    "   $20, $21, $22::inet, $23, $24, $25, $26 FROM ok)"
    " INSERT INTO sign_in (state_hash, browser_hash, idp, nonce, verifier_sealed, request,"
    "   expires_at)"
    " SELECT $1, $2, ok.id, $8, $9, $10::jsonb, now() + make_interval(secs => $11::double "
    "precision) FROM ok",
    26};

static const struct db_stmt sign_in_find_stmt = {
    "sign_in_find",
    "SELECT s.request FROM sign_in s JOIN identity_provider p ON p.id = s.idp"
    " WHERE s.state_hash = $1 AND s.browser_hash = $2 AND s.taken_at IS NULL AND s.expires_at > "
    "now()"
    "  AND p.idp_id = $3",
    3};
static const struct db_stmt sign_in_take_stmt = {
    "sign_in_take",
    "WITH s AS (SELECT s.state_hash, s.idp, s.nonce, s.verifier_sealed"
    "   FROM sign_in s JOIN identity_provider p ON p.id = s.idp"
    "   WHERE s.state_hash = $1 AND s.browser_hash = $2 AND s.taken_at IS NULL"
    "    AND s.expires_at > now() AND p.idp_id = $3 FOR UPDATE OF s),"
    " taken AS (UPDATE sign_in SET taken_at = now(), browser_hash = '', nonce = '',"
    "   verifier_sealed = '' FROM s WHERE sign_in.state_hash = s.state_hash)"
    " SELECT s.nonce, s.verifier_sealed, " IDENTITY_PROVIDER_COLUMNS
    " FROM s JOIN identity_provider p ON p.id = s.idp",
    3};
struct sign_in_stored {
    struct sign_in row;          /* without its verifier */
    const unsigned char *sealed; /* the verifier */
    size_t length;
};
/* clang-format off */
static const struct db_column sign_in_take_columns[] = {
    {"nonce",           DB_INTO(struct sign_in_stored, row.nonce)},
    {"verifier_sealed", DB_OCTETS_INTO(struct sign_in_stored, sealed, length), .needed = true},
    IDENTITY_PROVIDER_ROWS(struct sign_in_stored, row.provider),
};
/* clang-format on */

static const struct db_stmt sign_in_again_stmt = {
    "sign_in_again",
    "UPDATE sign_in s SET again = true FROM identity_provider p"
    " WHERE s.state_hash = $1 AND s.taken_at IS NOT NULL AND NOT s.again AND s.expires_at > now()"
    "  AND p.id = s.idp AND p.idp_id = $2 RETURNING s.request, p.id",
    2};
struct sign_in_begun {
    const char *request; /* NULL: there is no such sign-in */
    int64_t idp;
};
static const struct db_column sign_in_again_columns[] = {
    {"request", DB_INTO(struct sign_in_begun, request)},
    {"id",      DB_INTO(struct sign_in_begun, idp)    },
};

static const char *
verifier_place(TALLOC_CTX *mem, const unsigned char state_hash[SHA256_OCTETS])
{
    return talloc_asprintf(mem, "sign_in/verifier/%s",
                           b64url_encode(mem, state_hash, SHA256_OCTETS));
}

static void
bind_insert(struct op *op, struct db_params *params, const struct sign_in_new *sign_in,
            const unsigned char *sealed, size_t sealed_length)
{
    db_octets(params, sign_in->state_hash, SHA256_OCTETS);
    db_octets(params, sign_in->browser_hash, SHA256_OCTETS);
    db_number(params, sign_in->provider->id);
    db_number(params, sign_in->provider->version);
    db_number(params, sign_in->providers_version);
    db_number(params, sign_in->client->id);
    db_number(params, sign_in->client->version);
    db_text(params, sign_in->nonce);
    db_octets(params, sealed, sealed_length);
    db_text(params, sign_in->request);
    db_number(params, SIGN_IN_VALIDITY);
    db_time(params, op->now_ms);
}

enum az_status
sign_in_insert(struct op *op, const struct sign_in_new *sign_in, const struct audit_entry *audit,
               bool *ret_stored)
{
    uint32_t day = partition_day(op_now(op));
    unsigned char *sealed;
    size_t sealed_length;
    const char *place = verifier_place(op->mem, sign_in->state_hash);
    if (place == NULL
        || keyring_seal(op->mem, op->az->keyring, KEYRING_SIGN_IN, place, sign_in->verifier,
                        strlen(sign_in->verifier), &sealed, &sealed_length)
               != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "a PKCE verifier cannot be encrypted");
    enum az_status st = partition_need_day(op, day);
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &sign_in_insert_stmt, DB_NO_PARTITION, day);
    if (st != AZ_OK)
        return st;
    bind_insert(op, &step->params, sign_in, sealed, sealed_length);
    audit_bind(&step->params, audit);
    if ((st = db_run(op, batch, false)) == AZ_OK)
        *ret_stored = db_written(step->result) > 0;
    return st;
}

static enum az_status
open_verifier(struct op *op, const struct sign_in_stored *stored,
              const unsigned char state_hash[SHA256_OCTETS], const char **ret)
{
    unsigned char *plain;
    size_t plain_length;
    const char *place = verifier_place(op->mem, state_hash), *text = NULL;
    if (place != NULL
        && keyring_open(op->mem, op->az->keyring, KEYRING_SIGN_IN, place, stored->sealed,
                        stored->length, &plain, &plain_length)
               == AZ_OK) {
        text = secret_copy(op->mem, plain, plain_length);
        talloc_free(plain);
    }
    if (text == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "the PKCE verifier of a sign-in cannot be decrypted");
    *ret = text;
    return AZ_OK;
}

static void
sign_in_bind_key(struct db_params *params, const struct sign_in_key *key)
{
    db_octets(params, key->state_hash, SHA256_OCTETS);
    db_octets(params, key->browser_hash, SHA256_OCTETS);
    db_text(params, key->idp_id);
}

enum az_status
sign_in_find(struct op *op, const struct sign_in_key *key, const char **ret_request)
{
    struct db_params params = {.count = 0};
    sign_in_bind_key(&params, key);
    return db_fetch_text(op, &sign_in_find_stmt, &params, ret_request);
}

enum az_status
sign_in_take(struct op *op, const struct sign_in_key *key, struct sign_in *ret)
{
    struct db_params params = {.count = 0};
    struct sign_in_stored stored = {.sealed = NULL};
    bool found;
    sign_in_bind_key(&params, key);
    enum az_status st =
        db_fetch_row(op, &sign_in_take_stmt, &params, false,
                     DB_TABLE(struct sign_in_stored, sign_in_take_columns), &stored, &found);
    if (found)
        st = open_verifier(op, &stored, key->state_hash, &stored.row.verifier);
    stored.row.found = found;
    stored.row.disabled = found && !stored.row.provider.enabled;
    if (st == AZ_OK)
        *ret = stored.row;
    return st;
}

enum az_status
sign_in_again(struct op *op, const struct sign_in_key *key, const char **ret_request,
              int64_t *ret_idp)
{
    struct db_params params = {.count = 0};
    struct sign_in_begun begun = {.request = NULL};
    db_octets(&params, key->state_hash, SHA256_OCTETS);
    db_text(&params, key->idp_id);
    enum az_status st =
        db_fetch_row(op, &sign_in_again_stmt, &params, false,
                     DB_TABLE(struct sign_in_begun, sign_in_again_columns), &begun, NULL);
    *ret_request = begun.request;
    if (begun.request != NULL)
        *ret_idp = begun.idp;
    return st;
}
