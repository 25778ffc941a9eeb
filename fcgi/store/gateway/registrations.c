#include "config.h"

#include "store/gateway/registrations.h"

#include <string.h>

#include "base/b64url.h"
#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "store/db/db.h"
#include "store/db/keep/locks.h"

enum registration_find_column {
    REGISTRATION_CLIENT_ID,
    REGISTRATION_AUTH_METHOD,
    REGISTRATION_SECRET_SEALED
};
static const struct db_stmt registration_find_stmt = {
    "registration_find",
    "SELECT client_id, auth_method, secret_sealed FROM gateway_registration"
    " WHERE resource = $1 AND issuer = $2 AND redirect_uri = $3"
    "  AND (secret_expires_at IS NULL OR secret_expires_at > now())",
    3};
static const struct db_stmt registration_store_stmt = {
    "registration_store",
    "INSERT INTO gateway_registration (resource, issuer, redirect_uri, client_id, auth_method,"
    " secret_sealed, secret_expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7::timestamptz)"
    " ON CONFLICT (resource, issuer) DO UPDATE SET redirect_uri = excluded.redirect_uri,"
    " client_id = excluded.client_id, auth_method = excluded.auth_method,"
    " secret_sealed = excluded.secret_sealed, secret_expires_at = excluded.secret_expires_at,"
    " registered_at = now()",
    7};
static const struct db_stmt registration_forget_stmt = {
    "registration_forget",
    "DELETE FROM gateway_registration WHERE resource = $1 AND client_id = $2", 2};

/* Return the place that the secret is sealed for: a hash, because an issuer may be longer than a
 * place. NULL: failure. */
static const char *
registration_place(TALLOC_CTX *mem, const struct registration_key *key)
{
    unsigned char hash[SHA256_OCTETS];
    const char *text = talloc_asprintf(mem, "%s %s%s%s", key->resource, key->issuer,
                                       *key->endpoints != '\0' ? " " : "", key->endpoints);
    const char *name = text != NULL && sha256(text, strlen(text), hash) == AZ_OK
                           ? b64url_encode(mem, hash, sizeof(hash))
                           : NULL;
    return name != NULL ? talloc_asprintf(mem, "gateway_registration/secret/%s", name) : NULL;
}

enum az_status
registration_find(struct op *op, const struct registration_key *key, struct registration *ret)
{
    struct db_params params = {.count = 0};
    PGresult *row;
    const unsigned char *box = NULL;
    unsigned char *plain = NULL;
    size_t box_length = 0, length = 0;
    *ret = (struct registration){.found = false};
    db_text(&params, key->resource);
    db_text(&params, key->issuer);
    db_text(&params, key->redirect_uri);
    enum az_status st = db_exec(op, &registration_find_stmt, &params, true, &row);
    if (st != AZ_OK || PQntuples(row) != 1)
        return st;
    if ((st = db_read_octets(op, row, 0, REGISTRATION_SECRET_SEALED, &box, &box_length)) != AZ_OK)
        return st;
    if (box != NULL) {
        const char *place = registration_place(op->mem, key);
        if (place == NULL
            || keyring_open(op->mem, op->az->keyring, KEYRING_CONNECTION, place, box, box_length,
                            &plain, &length)
                   != AZ_OK)
            return AZ_OK; /* SVC_CREDENTIAL_KEY or the endpoints were changed: we register again */
        ret->secret = secret_copy(op->mem, plain, length);
        secret_wipe(plain, length);
        if (ret->secret == NULL)
            return op_no_memory(op);
    }
    ret->client_id = db_get(row, 0, REGISTRATION_CLIENT_ID);
    ret->auth_method = db_get(row, 0, REGISTRATION_AUTH_METHOD);
    ret->found = true;
    return AZ_OK;
}

enum az_status
registration_lock(struct op *op, const struct registration_key *key)
{
    const char *name = talloc_asprintf(op->mem, "%s %s", key->resource, key->issuer);
    if (name == NULL)
        return op_no_memory(op);
    enum az_status st = db_begin(op);
    struct db_batch *batch = db_batch_new(op);
    lock_add(batch, LOCK_REGISTRATION, name, strlen(name));
    if (st == AZ_OK)
        st = db_run(op, batch, false);
    return st == AZ_OK ? AZ_OK : db_end(op, st);
}

enum az_status
registration_store(struct op *op, const struct registration_key *key,
                   const struct registration *made)
{
    struct db_params params = {.count = 0};
    unsigned char *box = NULL;
    size_t length = 0;
    const char *place = registration_place(op->mem, key);
    if (made->secret != NULL
        && (place == NULL
            || keyring_seal(op->mem, op->az->keyring, KEYRING_CONNECTION, place, made->secret,
                            strlen(made->secret), &box, &length)
                   != AZ_OK))
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "the secret of a registration cannot be encrypted");
    db_text(&params, key->resource);
    db_text(&params, key->issuer);
    db_text(&params, key->redirect_uri);
    db_text(&params, made->client_id);
    db_text(&params, made->auth_method);
    db_octets(&params, box, length);
    if (made->secret_expires_at > 0)
        db_time(&params, made->secret_expires_at * 1000);
    else
        db_text(&params, NULL);
    return db_exec(op, &registration_store_stmt, &params, false, NULL);
}

enum az_status
registration_forget(struct op *op, const char *resource, const char *client_id)
{
    struct db_params params = {.count = 0};
    db_text(&params, resource);
    db_text(&params, client_id);
    return db_exec(op, &registration_forget_stmt, &params, false, NULL);
}
