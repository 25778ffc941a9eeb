#include "config.h"

#include "store/clients/clients.h"

#include <string.h>

#include "base/settings/settings.h"
#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "store/db/db.h"

#define SLOTS 256

enum client_fetch_column {
    FETCH_CLIENT_KEY,
    FETCH_CLIENT_VERSION,
    FETCH_CLIENT_ID,
    FETCH_CLIENT_TYPE,
    FETCH_REGISTRATION_TYPE,
    FETCH_AUTH_METHOD,
    FETCH_ENABLED,
    FETCH_SOFTWARE_ID,
    FETCH_SOFTWARE_VERSION,
    FETCH_STATEMENT,
    FETCH_SCOPE,
    FETCH_ID_TOKEN_ALG,
    FETCH_SECRET_SEALED,
    FETCH_PREVIOUS_SECRET_SEALED,
    FETCH_PREVIOUS_EXPIRES_AT,
    FETCH_CLIENT_NAME,
    FETCH_CLIENT_URI,
    FETCH_LOGO_URI,
    FETCH_POLICY_URI,
    FETCH_TOS_URI,
    FETCH_JWKS,
    FETCH_JWKS_URI,
    FETCH_REDIRECT_URIS,
    FETCH_GRANT_TYPES,
    FETCH_DPOP_BOUND,
    FETCH_PKCE_REQUIRED
};
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

void
client_read_columns(const PGresult *row, int first, struct client *ret)
{
    int shift = first - FETCH_CLIENT_KEY;
    *ret = (struct client){
        .id = db_get_number(row, 0, FETCH_CLIENT_KEY + shift, 0),
        .version = db_get_number(row, 0, FETCH_CLIENT_VERSION + shift, 0),
        .client_id = db_get(row, 0, FETCH_CLIENT_ID + shift),
        .type = db_get(row, 0, FETCH_CLIENT_TYPE + shift),
        .registration = db_get(row, 0, FETCH_REGISTRATION_TYPE + shift),
        .auth_method = db_get(row, 0, FETCH_AUTH_METHOD + shift),
        .enabled = db_get_bool(row, 0, FETCH_ENABLED + shift),
        .software_id = db_get(row, 0, FETCH_SOFTWARE_ID + shift),
        .software_version = db_get(row, 0, FETCH_SOFTWARE_VERSION + shift),
        .statement = db_get(row, 0, FETCH_STATEMENT + shift),
    };
}

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
read_secret(struct op *op, const PGresult *row, enum client_fetch_column column,
            const char *client_id, bool *ret_has, unsigned char ret_hash[SHA256_OCTETS])
{
    unsigned char *box, *plain;
    size_t box_length, length;
    if (db_get(row, 0, column) == NULL)
        return AZ_OK;
    const char *place = client_secret_place(op->mem, client_id);
    if (place == NULL || db_get_octets(op->mem, row, 0, column, &box, &box_length) != AZ_OK
        || keyring_open(op->mem, op->az->keyring, KEYRING_CLIENT_SECRET, place, box, box_length,
                        &plain, &length)
               != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "client %s: %s cannot be decrypted; was SVC_CREDENTIAL_KEY changed?",
                       client_id, PQfname(row, column));
    enum az_status st = sha256(plain, length, ret_hash);
    secret_wipe(plain, length);
    *ret_has = st == AZ_OK;
    return st;
}

static enum az_status
client_read_row(struct op *op, const PGresult *row, struct client_entry *entry)
{
    struct client *client = &entry->client;
    client_read_columns(row, FETCH_CLIENT_KEY, client);
    client->scope = db_get(row, 0, FETCH_SCOPE);
    client->id_token_alg = db_get(row, 0, FETCH_ID_TOKEN_ALG);
    client->name = db_get(row, 0, FETCH_CLIENT_NAME);
    client->uri = db_get(row, 0, FETCH_CLIENT_URI);
    client->logo = db_get(row, 0, FETCH_LOGO_URI);
    client->policy = db_get(row, 0, FETCH_POLICY_URI);
    client->terms = db_get(row, 0, FETCH_TOS_URI);
    client->dpop_bound = db_get_bool(row, 0, FETCH_DPOP_BOUND);
    client->pkce_required = op->az->cfg->pkce_required || db_get_bool(row, 0, FETCH_PKCE_REQUIRED);
    client->jwks = db_get(row, 0, FETCH_JWKS);
    client->jwks_uri = db_get(row, 0, FETCH_JWKS_URI);
    const char **const texts[] = {
        &client->client_id, &client->type,         &client->registration, &client->auth_method,
        &client->scope,     &client->id_token_alg, &client->software_id,  &client->software_version,
        &client->statement, &client->name,         &client->uri,          &client->logo,
        &client->policy,    &client->terms,        &client->jwks,         &client->jwks_uri};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (*texts[i] != NULL && (*texts[i] = talloc_strdup(entry, *texts[i])) == NULL)
            return op_no_memory(op);
    enum az_status st = db_get_words(entry, row, 0, FETCH_REDIRECT_URIS, &client->redirect_uris);
    if (st == AZ_OK)
        st = db_get_words(entry, row, 0, FETCH_GRANT_TYPES, &client->grant_types);
    if (st != AZ_OK)
        return op_fail(op, st, NULL, "the lists of client %s cannot be read", client->client_id);
    client->previous_expires_at = db_get_number(row, 0, FETCH_PREVIOUS_EXPIRES_AT, 0);
    st = read_secret(op, row, FETCH_SECRET_SEALED, client->client_id, &client->has_secret,
                     client->secret_hash);
    if (st == AZ_OK)
        st = read_secret(op, row, FETCH_PREVIOUS_SECRET_SEALED, client->client_id,
                         &client->has_previous, client->previous_hash);
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
