#include "config.h"

#include "store/clients/clients.h"

#include <string.h>

#include "base/settings/settings.h"
#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "store/db/db.h"

#define SLOTS 256

/* Keys that are not used would fill the cache. */
#define KEYED "c.auth_method = 'private_key_jwt'"
static const struct db_stmt client_fetch_stmt = {
    "client_fetch",
    "SELECT " CLIENT_COLUMNS ", c.scope, c.id_token_signed_response_alg AS id_token_alg, "
    "c.secret_sealed, c.previous_secret_sealed,"
    " extract(epoch FROM c.previous_secret_expires_at)::bigint AS previous_expires_at,"
    " c.client_name, c.client_uri, c.logo_uri, c.policy_uri, c.tos_uri, CASE WHEN " KEYED
    " THEN c.jwks::text END AS jwks,"
    " CASE WHEN " KEYED " THEN c.jwks_uri END AS jwks_uri,"
    " to_json(c.redirect_uris) AS redirect_uris,"
    " to_json(c.grant_types) AS grant_types, c.dpop_bound, c.pkce_required FROM client c WHERE "
    "c.client_id = $1",
    1};

/* A sealed secret, as stored. */
struct sealed {
    const unsigned char *octets; /* NULL: the client has no such secret */
    size_t length;
};

/* A row of client_fetch. */
struct client_stored {
    struct client client;      /* without its secrets */
    struct sealed secret, old; /* sealed; `old`: the previous one */
};

/* clang-format off */
static const struct db_column client_fetch_columns[] = {
    CLIENT_ROWS(struct client_stored, client),
    {"scope", DB_INTO(struct client_stored, client.scope)},
    {"id_token_alg", DB_INTO(struct client_stored, client.id_token_alg)},
    {"secret_sealed", DB_OCTETS_INTO(struct client_stored, secret.octets, secret.length)},
    {"previous_secret_sealed", DB_OCTETS_INTO(struct client_stored, old.octets, old.length)},
    {"previous_expires_at", DB_INTO(struct client_stored, client.previous_expires_at)},
    {"client_name", DB_INTO(struct client_stored, client.name)},
    {"client_uri", DB_INTO(struct client_stored, client.uri)},
    {"logo_uri", DB_INTO(struct client_stored, client.logo)},
    {"policy_uri", DB_INTO(struct client_stored, client.policy)},
    {"tos_uri", DB_INTO(struct client_stored, client.terms)},
    {"jwks", DB_INTO(struct client_stored, client.jwks)},
    {"jwks_uri", DB_INTO(struct client_stored, client.jwks_uri)},
    {"redirect_uris", DB_INTO(struct client_stored, client.redirect_uris), .needed = true},
    {"grant_types", DB_INTO(struct client_stored, client.grant_types)},
    {"dpop_bound", DB_INTO(struct client_stored, client.dpop_bound)},
    {"pkce_required", DB_INTO(struct client_stored, client.pkce_required)},
};
/* clang-format on */

/* A cached client; entries with the same hash are linked. */
struct client_entry {
    struct client_entry *next; /* same slot */
    struct client client;      /* the row */
    int64_t used_day;          /* see client_used_day */
    size_t octets;             /* of the entry and its texts */
};

struct client_cache {
    struct client_entry *slot[SLOTS]; /* by hash of client_id */
    size_t count;                     /* entries */
    size_t octets;                    /* octets of all entries */
};

struct client_cache *
client_cache_new(TALLOC_CTX *mem)
{
    return talloc_zero(mem, struct client_cache);
}

static struct client_entry **
find_slot(struct client_cache *cache, const char *client_id)
{
    uint32_t hash = 5381;
    for (const char *c = client_id; *c != '\0'; c++)
        hash = hash * 33 ^ (unsigned char) *c;
    struct client_entry **at = &cache->slot[hash % SLOTS];
    while (*at != NULL && strcmp((*at)->client.client_id, client_id) != 0)
        at = &(*at)->next;
    return at;
}

bool
client_is_cached(const struct op *op, const char *client_id)
{
    return *find_slot(op->az->clients, client_id) != NULL;
}

int64_t
client_used_day(const struct op *op, const char *client_id)
{
    const struct client_entry *entry = *find_slot(op->az->clients, client_id);
    return entry != NULL ? entry->used_day : 0;
}

void
client_set_used_day(struct op *op, const char *client_id, int64_t day)
{
    struct client_entry *entry = *find_slot(op->az->clients, client_id);
    if (entry != NULL)
        entry->used_day = day;
}

/* The entry moves to the operation, so that a pointer to it stays valid until the operation
 * ends. */
void
client_forget(struct op *op, const char *client_id)
{
    struct client_cache *cache = op->az->clients;
    struct client_entry **at = find_slot(cache, client_id), *entry = *at;
    if (entry == NULL)
        return;
    *at = entry->next;
    cache->count--;
    cache->octets -= entry->octets;
    talloc_steal(op->mem, entry);
}

static void
forget_all(struct op *op)
{
    struct client_cache *cache = op->az->clients;
    for (size_t i = 0; i < SLOTS; i++)
        while (cache->slot[i] != NULL)
            client_forget(op, cache->slot[i]->client.client_id);
}

bool
client_is_public(const struct client *client)
{
    return strcmp(client->type, "public") == 0;
}

const char *
client_secret_place(TALLOC_CTX *mem, const char *client_id)
{
    char digest[SHA256_HEX_SIZE];
    /* The digest keeps the place short, however long the client_id is. */
    if (sha256_hex(client_id, strlen(client_id), digest) != AZ_OK)
        return NULL;
    return talloc_asprintf(mem, "client/secret/%s", digest);
}

/* Open a sealed secret and keep only its digest. */
static enum az_status
read_secret(struct op *op, const struct client *client, const struct sealed *sealed,
            const char *column, bool *ret_has, unsigned char ret_hash[SHA256_OCTETS])
{
    unsigned char *plain;
    size_t length;
    if (sealed->octets == NULL)
        return AZ_OK;
    const char *place = client_secret_place(op->mem, client->client_id);
    if (place == NULL
        || keyring_open(op->mem, op->az->keyring, KEYRING_CLIENT_SECRET, place, sealed->octets,
                        sealed->length, &plain, &length)
               != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "client %s: %s cannot be decrypted; was SVC_CREDENTIAL_KEY changed?",
                       client->client_id, column);
    talloc_steal(op->mem, sealed->octets); /* the cache keeps no part of a secret */
    enum az_status st = sha256(plain, length, ret_hash);
    secret_wipe(plain, length);
    *ret_has = st == AZ_OK;
    return st;
}

static enum az_status
client_read_row(struct op *op, const PGresult *row, struct client_entry *entry)
{
    struct client *client = &entry->client;
    struct client_stored stored = {.client = {.id = 0}};
    enum az_status st = db_copy_row(op, entry, row, 0,
                                    DB_TABLE(struct client_stored, client_fetch_columns), &stored);
    if (st != AZ_OK)
        return st;
    *client = stored.client;
    client->pkce_required = client->pkce_required || op->az->cfg->pkce_required;
    st = read_secret(op, client, &stored.secret, "secret_sealed", &client->has_secret,
                     client->secret_hash);
    if (st == AZ_OK)
        st = read_secret(op, client, &stored.old, "previous_secret_sealed", &client->has_previous,
                         client->previous_hash);
    return st;
}

enum az_status
client_fetch(struct op *op, const char *client_id, bool fresh, struct client **ret_client)
{
    struct client_cache *cache = op->az->clients;
    struct client_entry **at = find_slot(cache, client_id);
    if (*at != NULL && !fresh) {
        *ret_client = &(*at)->client;
        return AZ_OK;
    }
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, client_id);
    enum az_status st = db_exec(op, &client_fetch_stmt, &params, true, &result);
    if (st != AZ_OK)
        return st;
    struct client_entry was = *at != NULL ? **at : (struct client_entry){.used_day = 0};
    client_forget(op, client_id);
    if (PQntuples(result) == 0) {
        *ret_client = NULL;
        return AZ_OK;
    }
    struct client_entry *entry = talloc_zero(cache, struct client_entry);
    if (entry == NULL || (st = client_read_row(op, result, entry)) != AZ_OK) {
        talloc_free(entry);
        return st != AZ_OK ? st : op_no_memory(op);
    }
    entry->octets = talloc_total_size(entry);
    if (cache->count >= CLIENT_CACHE_MAX || cache->octets + entry->octets > CLIENT_CACHE_OCTETS_MAX)
        forget_all(op);
    entry->used_day = entry->client.id == was.client.id ? was.used_day : 0;
    at = find_slot(cache, client_id);
    *at = entry;
    cache->count++;
    cache->octets += entry->octets;
    *ret_client = &entry->client;
    return AZ_OK;
}

/* ---- clients whose name is a resource */

/* clang-format off */
static const struct db_stmt client_named_as_stmt = {
    "client_named_as",
    "SELECT c.client_id FROM unnest($1::text[]) named JOIN client c ON c.client_id"
    " IN (named, regexp_replace(named" RESOURCE_BARE ", regexp_replace(named" RESOURCE_BARE
    "  || '/')"
    " AND regexp_replace(c.client_id" RESOURCE_BARE " = regexp_replace(named" RESOURCE_BARE
    " LIMIT 1", 1};
/* clang-format on */

enum az_status
client_named_as(struct op *op, const char *const *resources, const char **ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    *ret = NULL;
    db_words_or_null(op->mem, &params, resources);
    enum az_status st = db_exec(op, &client_named_as_stmt, &params, true, &result);
    if (st == AZ_OK && PQntuples(result) > 0)
        *ret = db_get(result, 0, 0);
    return st;
}
