#include "config.h"

#include "store/gateway/upstream_tokens.h"

#include <string.h>

#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "managed/managed.h"
#include "store/db/db.h"
#include "store/db/keep/purge.h"

static const struct db_stmt upstream_token_find_stmt = {
    "upstream_token_find",
    "SELECT token_sealed, floor(extract(epoch FROM expires_at - now()))::bigint"
    " FROM upstream_token WHERE resource_id = $1 AND version = $2 AND owner = $4"
    " AND expires_at > now() + make_interval(secs => $3::double precision)",
    4};

/* Store nothing if the resource was deleted in between. */
static const struct db_stmt upstream_token_store_stmt = {
    "upstream_token_store",
    "INSERT INTO upstream_token (resource_id, version, token_sealed, expires_at, owner)"
    " SELECT id, $2, $3, now() + make_interval(secs => $4::double precision), $5"
    " FROM managed_resource WHERE id = $1"
    " ON CONFLICT (resource_id, owner) DO UPDATE SET version = excluded.version,"
    " token_sealed = excluded.token_sealed, expires_at = excluded.expires_at,"
    " fetching_until = NULL",
    5};

/* A row that has no token yet holds an empty one that has expired. A lease that has ended belonged
 * to a process that died. */
static const struct db_stmt upstream_token_lease_stmt = {
    "upstream_token_lease",
    "INSERT INTO upstream_token (resource_id, version, token_sealed, expires_at, owner,"
    "  fetching_until)"
    " SELECT id, $2, '', now(), $4, now() + make_interval(secs => $3::double precision)"
    " FROM managed_resource WHERE id = $1"
    " ON CONFLICT (resource_id, owner) DO UPDATE SET fetching_until = excluded.fetching_until"
    "  WHERE upstream_token.fetching_until IS NULL OR upstream_token.fetching_until < now()"
    " RETURNING resource_id",
    4};
static const struct db_stmt upstream_token_release_stmt = {
    "upstream_token_release",
    "UPDATE upstream_token SET fetching_until = NULL WHERE resource_id = $1 AND owner = $2", 2};

static const struct db_stmt upstream_token_purge_stmt = {
    "upstream_token_purge",
    "DELETE FROM upstream_token WHERE (resource_id, owner) IN (SELECT resource_id, owner"
    " FROM upstream_token WHERE expires_at < now()"
    " AND (fetching_until IS NULL OR fetching_until < now()) LIMIT $1 FOR UPDATE SKIP LOCKED)",
    1};

/* The owner is part of it: a row that is given to another person does not open. */
static char *
token_place(TALLOC_CTX *mem, const struct managed_resource *resource, const unsigned char *owner)
{
    char *place =
        talloc_asprintf(mem, "upstream_token/token_sealed/%lld", (long long) resource->id);
    for (size_t i = 0; owner != NULL && place != NULL && i < UPSTREAM_OWNER_OCTETS; i++)
        place = talloc_asprintf_append(place, "%s%02x", i == 0 ? "/" : "", owner[i]);
    return place;
}

static void
bind_owner(struct db_params *params, const unsigned char *owner)
{
    db_octets(params, owner != NULL ? owner : (const unsigned char *) "",
              owner != NULL ? UPSTREAM_OWNER_OCTETS : 0);
}

enum az_status
upstream_token_find(struct op *op, const struct managed_resource *resource,
                    const unsigned char *owner, int64_t least, struct upstream_token *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    unsigned char *plain;
    size_t length;
    ret->token = NULL;
    db_number(&params, resource->id);
    db_number(&params, resource->version);
    db_number(&params, least);
    bind_owner(&params, owner);
    enum az_status st = db_exec(op, &upstream_token_find_stmt, &params, false, &result);
    if (st != AZ_OK || PQntuples(result) == 0)
        return st;
    unsigned char *box;
    const char *place = token_place(op->mem, resource, owner);
    if (place == NULL || db_get_octets(op->mem, result, 0, 0, &box, &length) != AZ_OK)
        return op_no_memory(op);
    if (keyring_open(op->mem, op->az->keyring, KEYRING_UPSTREAM_TOKEN, place, box, length, &plain,
                     &length)
        != AZ_OK)
        return AZ_OK;
    ret->token = (const char *) plain; /* a NUL follows */
    ret->seconds = db_get_number(result, 0, 1, 0);
    return AZ_OK;
}

enum az_status
upstream_token_store(struct op *op, const struct managed_resource *resource,
                     const unsigned char *owner, const struct upstream_token *token)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    unsigned char *box;
    size_t length;
    const char *place = token_place(op->mem, resource, owner);
    if (place == NULL
        || keyring_seal(op->mem, op->az->keyring, KEYRING_UPSTREAM_TOKEN, place, token->token,
                        strlen(token->token), &box, &length)
               != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "a token of an upstream cannot be sealed");
    db_number(&params, resource->id);
    db_number(&params, resource->version);
    db_octets(&params, box, length);
    db_number(&params, token->seconds);
    bind_owner(&params, owner);
    return db_exec(op, &upstream_token_store_stmt, &params, false, &result);
}

enum az_status
upstream_token_lease(struct op *op, const struct managed_resource *resource,
                     const unsigned char *owner, int64_t seconds, bool *ret_taken)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, resource->id);
    db_number(&params, resource->version);
    db_number(&params, seconds);
    bind_owner(&params, owner);
    enum az_status st = db_exec(op, &upstream_token_lease_stmt, &params, false, &result);
    *ret_taken = st == AZ_OK && PQntuples(result) == 1;
    return st;
}

enum az_status
upstream_token_release(struct op *op, const struct managed_resource *resource,
                       const unsigned char *owner)
{
    struct db_params params = {.count = 0};
    db_number(&params, resource->id);
    bind_owner(&params, owner);
    return db_exec(op, &upstream_token_release_stmt, &params, false, NULL);
}

enum az_status
upstream_tokens_purge(struct op *op)
{
    return db_purge(op, &upstream_token_purge_stmt, 0, NULL);
}
