#include "config.h"

#include "store/seals/seals.h"

#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "store/db/db.h"

/* The secrets of one kind ($1) that another key than $2 sealed, from behind a key of a row on. The
 * places are those for which the stores of these tables seal; a place of another spelling does not
 * open. Octets 2 to 5 of a box name its key (crypto/seal.h). */
enum seals_list_column { SEAL_KEY, SEAL_PLACE, SEAL_BOX };
static const struct db_stmt seals_list_stmt = {
    "seals_list",
    "SELECT key, place, box FROM ("
    "SELECT 'client secrets', id::text, 'client/secret/' || encode(sha256(convert_to(client_id, "
    "'UTF8')), 'hex'), secret_sealed FROM client UNION ALL "
    "SELECT 'previous client secrets', id::text, 'client/secret/' || "
    "encode(sha256(convert_to(client_id, 'UTF8')), 'hex'), previous_secret_sealed FROM client "
    "UNION ALL "
    "SELECT 'admin keys', id::text, 'admin_key/sealed/' || id, sealed FROM admin_key UNION ALL "
    "SELECT 'signing keys', kid, 'signing_key/private/' || kid, private_sealed FROM signing_key "
    "UNION ALL "
    "SELECT 'identity providers', idp_id, 'identity_provider/secret/' || idp_id, secret_sealed "
    "FROM identity_provider UNION ALL "
    "SELECT 'browser sessions', sid, 'browser_session/id_token/' || sid, id_token_sealed FROM "
    "browser_session UNION ALL "
    "SELECT 'managed resources', name, 'managed_resource/secrets/' || name, secrets_sealed FROM "
    "managed_resource UNION ALL "
    "SELECT 'connections', id::text, 'gateway_connection/secret/' || "
    "rtrim(translate(encode(sha256(convert_to(resource || ' ' || idp || ' ' || subject, 'UTF8')), "
    "'base64'), '+/', '-_'), '='), secret_sealed FROM gateway_connection UNION ALL "
    "SELECT 'registrations', resource || ' ' || issuer, 'gateway_registration/secret/' || "
    "rtrim(translate(encode(sha256(convert_to(resource || ' ' || issuer, 'UTF8')), 'base64'), "
    "'+/', '-_'), '='), secret_sealed FROM gateway_registration) "
    "s (kind, key, place, box) WHERE kind = $1 AND box IS NOT NULL AND substring(box FROM 2 FOR 4) "
    "<> $2"
    " AND key COLLATE \"C\" > $3 ORDER BY key COLLATE \"C\" LIMIT 500",
    3};

/* A box is replaced only by the one that was made of it: $1 key of the row, $2 old, $3 new. */
static const struct db_stmt seal_client_stmt = {
    "seal_client",
    "UPDATE client SET secret_sealed = $3 WHERE id = $1::bigint AND secret_sealed = $2", 3};
static const struct db_stmt seal_client_previous_stmt = {
    "seal_client_previous",
    "UPDATE client SET previous_secret_sealed = $3 WHERE id = $1::bigint AND "
    "previous_secret_sealed = $2",
    3};
static const struct db_stmt seal_admin_key_stmt = {
    "seal_admin_key", "UPDATE admin_key SET sealed = $3 WHERE id = $1::uuid AND sealed = $2", 3};
static const struct db_stmt seal_signing_key_stmt = {
    "seal_signing_key",
    "UPDATE signing_key SET private_sealed = $3 WHERE kid = $1 AND private_sealed = $2", 3};
static const struct db_stmt seal_identity_provider_stmt = {
    "seal_identity_provider",
    "UPDATE identity_provider SET secret_sealed = $3 WHERE idp_id = $1 AND secret_sealed = $2", 3};
static const struct db_stmt seal_browser_session_stmt = {
    "seal_browser_session",
    "UPDATE browser_session SET id_token_sealed = $3 WHERE sid = $1 AND id_token_sealed = $2", 3};
static const struct db_stmt seal_managed_resource_stmt = {
    "seal_managed_resource",
    "UPDATE managed_resource SET secrets_sealed = $3 WHERE name = $1 AND secrets_sealed = $2", 3};
static const struct db_stmt seal_connection_stmt = {
    "seal_connection",
    "UPDATE gateway_connection SET secret_sealed = $3 WHERE id = $1::bigint AND secret_sealed = $2",
    3};
static const struct db_stmt seal_registration_stmt = {
    "seal_registration",
    "UPDATE gateway_registration SET secret_sealed = $3 WHERE resource || ' ' || issuer = $1 AND "
    "secret_sealed = $2",
    3};

static const struct seals_kind {
    const char *name; /* as in seals_list_stmt */
    enum keyring_purpose purpose;
    const struct db_stmt *replace;
} seals_kinds[SEALS_KINDS] = {
    {"client secrets",          KEYRING_CLIENT_SECRET,     &seal_client_stmt           },
    {"previous client secrets", KEYRING_CLIENT_SECRET,     &seal_client_previous_stmt  },
    {"admin keys",              KEYRING_ADMIN_KEY,         &seal_admin_key_stmt        },
    {"signing keys",            KEYRING_SIGNING_KEY,       &seal_signing_key_stmt      },
    {"identity providers",      KEYRING_IDENTITY_PROVIDER, &seal_identity_provider_stmt},
    {"browser sessions",        KEYRING_SIGN_IN,           &seal_browser_session_stmt  },
    {"managed resources",       KEYRING_MANAGED_RESOURCE,  &seal_managed_resource_stmt },
    {"connections",             KEYRING_CONNECTION,        &seal_connection_stmt       },
    {"registrations",           KEYRING_CONNECTION,        &seal_registration_stmt     },
};

/* Seal the secret of one row again. */
static enum az_status
renew_row(struct op *op, const struct seals_kind *kind, const PGresult *rows, int row,
          struct seals_count *count)
{
    struct db_params params = {.count = 0};
    const char *place = db_get(rows, row, SEAL_PLACE);
    unsigned char *box, *plain = NULL, *made = NULL;
    size_t box_length, length, made_length;
    PGresult *result;
    if (db_get_octets(op->mem, rows, row, SEAL_BOX, &box, &box_length) != AZ_OK)
        return op_no_memory(op);
    if (keyring_open(op->mem, op->az->keyring, kind->purpose, place, box, box_length, &plain,
                     &length)
        != AZ_OK) {
        count->unreadable++;
        return AZ_OK;
    }
    enum az_status st = keyring_seal(op->mem, op->az->keyring, kind->purpose, place, plain, length,
                                     &made, &made_length);
    talloc_free(plain); /* wiped */
    if (st != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "a secret cannot be encrypted");
    db_text(&params, db_get(rows, row, SEAL_KEY));
    db_octets(&params, box, box_length);
    db_octets(&params, made, made_length);
    st = db_exec(op, kind->replace, &params, false, &result);
    if (st != AZ_OK)
        return st;
    if (db_written(result) > 0)
        count->resealed++;
    else
        count->changed++;
    return AZ_OK;
}

/* Seal one page of rows again. *last is the key of the last row that was looked at, "" at first,
 * and NULL behind the last page. There may be a million sessions: the memory of a page is freed
 * with it. */
static enum az_status
renew_page(struct op *op, const struct seals_kind *kind, const char **last,
           struct seals_count *count)
{
    struct op step = op_beside(op, talloc_new(op->mem));
    struct db_params params = {.count = 0};
    PGresult *rows;
    db_text(&params, kind->name);
    db_octets(&params, keyring_id(op->az->keyring, kind->purpose), SEAL_KEY_ID_OCTETS);
    db_text(&params, *last);
    enum az_status st = db_exec(&step, &seals_list_stmt, &params, true, &rows);
    int found = st == AZ_OK ? PQntuples(rows) : 0;
    for (int row = 0; row < found && st == AZ_OK; row++)
        st = renew_row(&step, kind, rows, row, count);
    *last = found > 0 ? talloc_strdup(op->mem, db_get(rows, found - 1, SEAL_KEY)) : NULL;
    if (st == AZ_OK && found > 0 && *last == NULL)
        st = op_no_memory(&step);
    if (st != AZ_OK)
        op->fault = step.fault;
    talloc_free(step.mem);
    return st;
}

enum az_status
seals_renew(struct op *op, struct seals_count ret[SEALS_KINDS])
{
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < SEALS_KINDS && st == AZ_OK; i++) {
        const char *last = "";
        ret[i] = (struct seals_count){.kind = seals_kinds[i].name};
        while (st == AZ_OK && last != NULL)
            st = renew_page(op, &seals_kinds[i], &last, &ret[i]);
    }
    return st;
}
